"""Placeholder: the wheel builder writes the real values of each wheel."""

from __future__ import annotations

__version__ = "0"
debug = False
cuda = None
git_version = ""
hip: str | None = None
_arch_list: list[str] = []
