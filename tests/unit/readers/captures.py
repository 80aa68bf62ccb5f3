"""The captures: real output of tools, as people posted it, in tests/captures/<kind>/."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "captures"
KINDS = ("rocminfo", "lspci", "dkms", "kfd", "apt", "dmesg", "torch", "smi")


def capture(name: str) -> str:
    """The text of one capture, such as 'rocminfo/01-mi300x-vf-gfx942'."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def names(kind: str) -> list[str]:
    """Names of all captures of one kind."""
    return sorted(f"{kind}/{path.stem}" for path in (FOLDER / kind).glob("*.txt"))
