"""Faults that the server shows on request. They live in a JSON file, so any process can switch them while it runs.

A rule is `{prefix, kind, times, seconds}`: `prefix` is the start of the URL path, `times` limits how often it
strikes (null: until cleared), `seconds` is the delay of `slow`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox import paths
from sandbox.errors import SandboxError

KINDS = {
    "404": "answer 404 Not Found",
    "500": "answer 500 Internal Server Error",
    "slow": "wait before the answer (--seconds, default 5)",
    "cut": "promise the whole file, send half of it, close the connection",
    "wrong-size": "serve the file with bytes appended, as a stale proxy would",
    "tampered": "serve the file with bytes changed in the middle, same size",
    "foreign-key": "serve somebody else's key instead of the signing key",
    "expired-key": "serve the right key as an old copy that has expired",
    "foreign-signature": "serve InRelease and Release.gpg signed by somebody else",
    "no-inrelease": "answer 404 for InRelease alone, so that apt falls back to Release and Release.gpg",
}


@dataclass(frozen=True)
class Fault:
    """One rule; see the module's text."""

    prefix: str
    kind: str
    times: int | None = None
    seconds: float = 5.0


def normalise(prefix: str) -> str:
    """A URL path prefix that starts with a slash; a whole URL is accepted too."""
    if "://" in prefix:
        prefix = "/" + prefix.split("://", 1)[1].split("/", 1)[-1]
    return "/" + prefix.lstrip("/")


def read(path: Path = paths.FAULTS) -> list[Fault]:
    """All rules; none when the file does not exist."""
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text() or "[]")
    return [Fault(**row) for row in rows]


def write(faults: list[Fault], path: Path = paths.FAULTS) -> None:
    """Replace all rules at once."""
    paths.ensure(path.parent)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps([asdict(fault) for fault in faults], indent=2) + "\n")
    partial.replace(path)


def add(prefix: str, kind: str, times: int | None = None, seconds: float = 5.0) -> Fault:
    """Add a rule; one with the same prefix and kind is replaced. Raises SandboxError for an unknown kind."""
    if kind not in KINDS:
        raise SandboxError(f"unknown fault {kind!r}; expected one of {', '.join(KINDS)}")
    fault = Fault(normalise(prefix), kind, times, seconds)
    write([*(old for old in read() if (old.prefix, old.kind) != (fault.prefix, fault.kind)), fault])
    return fault


def clear(prefix: str | None = None) -> None:
    """Drop all rules, or those of one prefix."""
    write([] if prefix is None else [fault for fault in read() if fault.prefix != normalise(prefix)])
