"""Lines of a tool's output, freed of what terminals and web forms add."""

from __future__ import annotations

import re

# Colours and cursor movements; rocminfo writes them even into a file.
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_SPACES = {ord(character): " " for character in "\u00a0\u2007\u202f"}


def plain_lines(text: str) -> list[str]:
    """The lines of `text` without escape sequences, odd blanks and trailing blanks; indentation stays."""
    plain = _ESCAPES.sub("", text).translate(_SPACES).replace("\r\n", "\n").replace("\r", "\n")
    return [line.rstrip() for line in plain.split("\n")]
