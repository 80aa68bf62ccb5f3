"""A block of lines at the bottom of a terminal, redrawn in place, with everything that is printed above it.

Each write leaves the terminal as a shell expects it: the cursor is shown and stands below the block. So there is
nothing to restore, however the program ends.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, TextIO

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_block import Line, cells

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
CLEAR_LINE, CLEAR_BELOW = "\x1b[K", "\x1b[J"
# Of a terminal that does not tell its size.
USUAL = (80, 24)


def size(stream: TextIO) -> tuple[int, int]:
    """Columns and rows of the terminal as they are now."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except OSError:
        return USUAL
    return columns or USUAL[0], rows or USUAL[1]


def can_redraw(stream: TextIO, term: str) -> bool:
    """Whether this is a terminal that understands cursor movements."""
    return stream.isatty() and term not in ("", "dumb")


class Block:
    """The lines that are drawn at the moment."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lines: Sequence[Line] = ()
        self.painted = ""
        # Text without its newline stands where the block would be.
        self.midline = False

    def draw(self, lines: Sequence[Line], painted: Sequence[str]) -> None:
        """Replace the block; ``painted`` are the lines with their colours."""
        back = self._back()
        self.lines = lines
        self.painted = "".join(f"{line}{CLEAR_LINE}\n" for line in painted)
        if not self.midline:
            self._write(f"{HIDE}{back}{self.painted}{CLEAR_BELOW}{SHOW}")

    def print(self, text: str) -> None:
        """Write text above the block."""
        back = "" if self.midline else self._back()
        self.midline = not text.endswith("\n")
        below = "" if self.midline else self.painted
        self._write(f"{HIDE}{back}{CLEAR_BELOW if back else ''}{text}{below}{SHOW}")

    def erase(self) -> None:
        """Take the block away."""
        if self.lines and not self.midline:
            self._write(f"{self._back()}{CLEAR_BELOW}")
        self.forget()

    def forget(self) -> None:
        """Leave what is drawn where it is, and draw anew below it."""
        self.lines, self.painted = (), ""

    def _back(self) -> str:
        """The way to the first line of the block; a terminal that became narrower has wrapped its lines."""
        columns = size(self.stream)[0]
        rows = sum(max(-(-cells(line.text) // columns), 1) for line in self.lines)
        return f"\r\x1b[{rows}A" if rows else ""

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


class Above:
    """Stands in for stdout or stderr while a block is shown: what is written comes out above the block."""

    def __init__(self, stream: TextIO, block: Block, lock: AbstractContextManager[Any]) -> None:
        self._stream = stream
        self._block = block
        self._lock = lock
        self._process = os.getpid()

    def write(self, text: str) -> int:
        """Write above the block; in a forked worker there is no block."""
        if os.getpid() != self._process:
            return self._stream.write(text)
        if text:
            with self._lock:
                self._block.print(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def in_foreground(stream: TextIO) -> bool:
    """Whether the terminal is ours, and not that of a shell which put us into the background."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:
        return True


def same_terminal(one: TextIO, other: TextIO) -> bool:
    """Whether two streams end in the same terminal."""
    try:
        return other.isatty() and os.path.samestat(os.fstat(one.fileno()), os.fstat(other.fileno()))
    except OSError:
        return False
