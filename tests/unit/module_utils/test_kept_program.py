"""The kept test program is used only while everything that it was made from is as it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import kept_program
from ansible_collections.gpufleet.rocm.plugins.module_utils.kept_program import KeptProgram, fingerprint

WORDS = ["int main() {}", "ada", "gfx90a"]
CHECKS: list[dict[str, object]] = [
    {"id": "hip-compile-gfx90a", "status": "passed", "evidence": "compiled", "seconds": 1}
]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toolchain with a package list of its own."""
    for name in ("rocm/bin", "rocm/lib", "rocm/llvm/bin"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("rocm/bin/hipcc", "rocm/lib/libamdhip64.so.6", "status"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(kept_program, "PACKAGES", str(tmp_path / "status"))
    return tmp_path / "rocm"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """What the compiler made."""
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF")
    return path


def kept(prefix: Path, words: list[str] | None = None) -> KeptProgram:
    return KeptProgram(fingerprint(str(prefix), words or WORDS), str(prefix.parent / "cache"))


def test_nothing_is_kept_at_first(prefix: Path) -> None:
    assert kept(prefix).since() == ""


def test_kept_while_nothing_changes(prefix: Path, program: Path) -> None:
    before = os.umask(0o077)
    kept(prefix).keep(str(program), os.getuid(), CHECKS)
    os.umask(before)
    again = kept(prefix)
    assert again.since()
    assert again.checks() == [{"id": "hip-compile-gfx90a", "status": "passed", "evidence": "compiled"}]
    assert Path(again.path).read_bytes() == b"\x7fELF"
    assert Path(again.path).stat().st_mode & 0o777 == Path(again.folder).stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    "change",
    [
        lambda prefix: (prefix / "bin/hipcc").write_text("another compiler"),
        lambda prefix: (prefix / "lib/libamdhip64.so.6").unlink(),
        lambda prefix: (prefix / "llvm/bin").rmdir(),
        lambda prefix: (prefix.parent / "status").write_text("a package more"),
        lambda prefix: (prefix.parent / "cache/vector_add").unlink(),
        lambda prefix: (prefix.parent / "cache/vector_add.json").write_text("[]"),
    ],
    ids=["compiler", "library", "tools", "packages", "program gone", "record damaged"],
)
def test_any_change_ends_it(prefix: Path, program: Path, change: object) -> None:
    kept(prefix).keep(str(program), os.getuid(), CHECKS)
    assert callable(change)
    change(prefix)
    assert kept(prefix).since() == ""


def test_another_source_or_user_is_another_program(prefix: Path, program: Path) -> None:
    kept(prefix).keep(str(program), os.getuid(), CHECKS)
    assert kept(prefix, ["int main() {}", "ops", "gfx90a"]).since() == ""


def test_a_file_of_somebody_else_is_not_copied(prefix: Path, program: Path) -> None:
    kept(prefix).keep(str(program), os.getuid() + 1, CHECKS)
    assert kept(prefix).since() == ""
    link = program.with_name("link")
    link.symlink_to(program)
    with pytest.raises(OSError, match="link"):
        kept(prefix).keep(str(link), os.getuid(), CHECKS)
