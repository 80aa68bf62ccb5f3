"""Build everything the upstream serves, once; a digest of data and code decides when to build again."""

from __future__ import annotations

import hashlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from sandbox import mirror, paths
from sandbox.progress import note, step
from sandbox.upstream import amdgpu, apt_tree, keys, rocm, wheels

HERE = Path(__file__).resolve().parent
RADEON = "repo.radeon.com"
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
        _radeon(paths.ensure(fresh / RADEON))
        note("wheels for the PyTorch index")
        wheels.write_index(paths.ensure(fresh / PYTORCH))
        (fresh / ".digest").write_text(wanted)
    old = paths.TREE.with_name("tree.old")
    shutil.rmtree(old, ignore_errors=True)
    if paths.TREE.exists():
        paths.TREE.rename(old)
    fresh.rename(paths.TREE)
    shutil.rmtree(old, ignore_errors=True)


def _radeon(root: Path) -> None:
    paths.ensure(root / "rocm")
    shutil.copy(paths.KEYS / "radeon.asc", root / "rocm" / "rocm.gpg.key")
    archives = list(chain(rocm.archives(), amdgpu.archives()))

    def write(archive: rocm.Archive) -> None:
        for suite in archive.suites:
            apt_tree.write_suite(root / archive.path, suite)
            note(f"{RADEON}/{archive.path} {suite.name}: {len(suite.packages)} packages")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, archives))
