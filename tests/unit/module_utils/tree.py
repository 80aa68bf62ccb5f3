"""Host trees for the readers, written from a dictionary of paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

Tree = Mapping[str, "str | bytes | None"]
MakeHost = Callable[[Tree], Host]


def write_tree(root: Path, tree: Tree) -> None:
    """Write files (str or bytes), links ("-> target") and directories (None) under `root`."""
    for path, content in tree.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or place.is_file():
            place.unlink()
        if content is None:
            place.mkdir(exist_ok=True)
        elif isinstance(content, bytes):
            place.write_bytes(content)
        elif content.startswith("-> "):
            place.symlink_to(content[3:])
        else:
            place.write_text(content)
