"""Fill a package's root from the `payload` rows of the data files: copies of real tools, links, small texts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError
from sandbox.shell import run

Row = Mapping[str, Any]


def donors(rows: Sequence[Row]) -> list[str]:
    """The distribution packages that the rows take files from."""
    return sorted({row["from"] for row in rows if "from" in row})


def filler(
    rows: Sequence[Row], prefix: str, words: Mapping[str, str], sources: Mapping[str, Path]
) -> Callable[[Path], None]:
    """A function that fills a package root below `prefix`; `words` replace {names} in the rows."""

    def fill(root: Path) -> None:
        base = root / prefix.lstrip("/")
        for row in rows:
            _apply({name: _filled(value, words) for name, value in row.items()}, base, sources)

    return fill


def _filled(value: Any, words: Mapping[str, str]) -> Any:
    return value.format_map(words) if isinstance(value, str) else value


def _apply(row: Row, base: Path, sources: Mapping[str, Path]) -> None:
    if "text" in row:
        target = _parent(base / row["text"])
        target.write_text(row["content"])
    elif "link" in row:
        _parent(base / row["link"]).symlink_to(row["target"])
    elif "copy" in row:
        source = sources[row["from"]] / row["copy"]
        target = _parent(base / row["to"])
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)
        _patch(target, row)
    else:
        raise SandboxError(f"payload row {dict(row)} is none of copy, link, text")


def _parent(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _patch(target: Path, row: Row) -> None:
    for old, new in row.get("replace", {}).items():
        text = target.read_text()
        if old not in text:
            raise SandboxError(f"{row['copy']} of {row['from']} no longer holds {old!r}; expected it for the repack")
        target.write_text(text.replace(old, new))
    if "soname" in row:
        run(["patchelf", "--set-soname", row["soname"], target])
    if "rpath" in row:
        run(["patchelf", "--set-rpath", row["rpath"], target])
