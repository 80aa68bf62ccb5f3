"""The two ways to show a run: a block that is redrawn in a terminal, or plain lines anywhere else."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, TextIO, cast

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import terminal
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress import Fleet
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_block import Line, block
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_text import event_lines, sign_of_life

# Rows that are left for the cursor and for a line above the block.
SPARE_ROWS = 2

Paint = Callable[[Line], str]
Show = Callable[[Iterable[Line]], None]


class LiveView:
    """A block below everything that is printed, drawn anew at each tick."""

    def __init__(self, stdout: TextIO, stderr: TextIO, paint: Paint, lock: AbstractContextManager[Any]) -> None:
        self._streams = (stdout, stderr)
        self._paint = paint
        self._block = terminal.Block(stdout)
        # A prompt may be open.
        self.hidden = False
        sys.stdout = cast(TextIO, terminal.Above(stdout, self._block, lock))
        if terminal.same_terminal(stdout, stderr):
            sys.stderr = cast(TextIO, terminal.Above(stderr, self._block, lock))
        if threading.current_thread() is threading.main_thread():
            # After a stop the cursor is wherever the shell left it.
            signal.signal(signal.SIGCONT, lambda *_: self._block.forget())

    def play(self, _title: str) -> None:
        """The block names the play."""
        self.hidden = False

    def tick(self, fleet: Fleet, now: float) -> None:
        """Draw the block."""
        fleet.take_events()
        stream = self._streams[0]
        if self.hidden or not terminal.in_foreground(stream):
            return
        columns, rows = terminal.size(stream)
        # The last column stays free: some terminals wrap a line that fills it.
        lines = block(fleet, now, columns - 1, rows - SPARE_ROWS)
        self._block.draw(lines, [self._paint(line) for line in lines])

    def hide(self) -> None:
        """Take the block away while somebody is asked something."""
        self._block.erase()
        self.hidden = True

    def close(self, keep: bool) -> None:
        """Draw no more; ``keep`` leaves the last block as it is, for a run that was interrupted."""
        if keep:
            self._block.forget()
        else:
            self._block.erase()
        sys.stdout, sys.stderr = self._streams
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGCONT, signal.SIG_DFL)


class PlainView:
    """Lines that stay: each start and end of a stage, and a sign of life every ``heartbeat`` seconds."""

    def __init__(self, show: Show, heartbeat: float, began: float) -> None:
        self._show = show
        self._heartbeat = heartbeat
        self._last = began
        # Whether nothing was shown since then.
        self._quiet = True
        self.hidden = False

    def play(self, title: str) -> None:
        """A play begins."""
        self._show([Line(f"\nPLAY {title}")])

    def tick(self, fleet: Fleet, now: float) -> None:
        """Show what happened since the last tick."""
        lines = event_lines(fleet.take_events(), fleet, now)
        if now - self._last >= self._heartbeat:
            lines += sign_of_life(fleet, now, self._quiet and not lines)
            self._last, self._quiet = now, True
        elif lines:
            self._quiet = False
        self._show(lines)

    def hide(self) -> None:
        """Nothing stands in the way of a prompt."""

    def close(self, keep: bool) -> None:
        """Nothing is left to clean up."""


def choose_view(
    live: bool, heartbeat: float, began: float, paint: Paint, show: Show, lock: AbstractContextManager[Any]
) -> LiveView | PlainView:
    """The live view where it is wanted and stdout is a terminal that can show it."""
    if live and terminal.can_redraw(sys.stdout, os.environ.get("TERM", "")):
        return LiveView(sys.stdout, sys.stderr, paint, lock)
    return PlainView(show, heartbeat, began)
