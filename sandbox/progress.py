"""Progress lines for people: what is running, and how many seconds it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_START = time.monotonic()


def note(text: str) -> None:
    """Print one line, stamped with the seconds since the program started."""
    print(f"[{time.monotonic() - _START:6.1f}s] {text}", flush=True)


@contextmanager
def step(text: str) -> Iterator[None]:
    """Announce a step, then say how long it took (or that it failed)."""
    begin = time.monotonic()
    note(f"{text} ...")
    try:
        yield
    except BaseException:
        note(f"{text}: FAILED after {time.monotonic() - begin:.1f} s")
        raise
    note(f"{text}: done in {time.monotonic() - begin:.1f} s")
    sys.stdout.flush()
