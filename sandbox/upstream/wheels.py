"""Placeholder."""
from pathlib import Path
def write_index(root: Path) -> None:
    """Nothing yet."""
