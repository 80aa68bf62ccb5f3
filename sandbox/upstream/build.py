"""Lay out what the upstream serves; a digest of data and code decides when to begin anew.

Keys and wheels are written here. Apt archives are empty folders that the server fills on demand (`shelf.py`).
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from sandbox import mirror, paths
from sandbox.progress import note, step
from sandbox.upstream import amdrocm, keys, shelf, wheels

HERE = Path(__file__).resolve().parent
PYTORCH = "download.pytorch.org"


def digest() -> str:
    """Changes whenever the data, the code of this package, the key or the Debian release changes."""
    total = hashlib.sha256((keys.ensure_keys() + mirror.SUITE).encode())
    for path in sorted(HERE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            total.update(str(path.relative_to(HERE)).encode() + path.read_bytes())
    return total.hexdigest()


def ensure_tree() -> None:
    """Build the tree when it is missing or out of date; the old one stays in place until the new one is whole."""
    wanted = digest()
    stamp = paths.TREE / ".digest"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    fresh = paths.TREE.with_name("tree.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with step("build the stand-in servers' content (once, and when its data changes)"):
        _keys_and_folders(paths.ensure(fresh))
        note("wheels for the PyTorch index")
        wheels.write_index(paths.ensure(fresh / PYTORCH))
        (fresh / ".digest").write_text(wanted)
    old = paths.TREE.with_name("tree.old")
    shutil.rmtree(old, ignore_errors=True)
    if paths.TREE.exists():
        paths.TREE.rename(old)
    fresh.rename(paths.TREE)
    shutil.rmtree(old, ignore_errors=True)


def _keys_and_folders(root: Path) -> None:
    for place in ("repo.radeon.com/rocm/rocm.gpg.key", *amdrocm.key_paths()):
        target = root / place
        paths.ensure(target.parent)
        shutil.copy(paths.KEYS / ("radeon.asc" if place.startswith("repo.radeon.com/") else "amd.asc"), target)
    # Fetches the distribution's packages that are repacked, which no request could wait for.
    for path in shelf.archives():
        paths.ensure(root / path)
