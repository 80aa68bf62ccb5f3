"""The tree of lspci -tv: which function sits on which bus is drawn, not written.

A function stands behind a branch character; its bus is the bracket that opened the branch of that column. ::

    -[0000:00]-+-00.0  Intel Corporation Device 590f
               +-01.0-[01]--+-00.0  Advanced Micro Devices, Inc. [AMD/ATI] Device 67df
               |            \\-00.1  Advanced Micro Devices, Inc. [AMD/ATI] Device aaf0
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# A bus bracket "[0000:00]", "[02-03]", or a function "01.0" with what it is called, if anything.
_TOKEN = re.compile(
    r"\[(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<bus>[0-9a-f]{2})(?:-[0-9a-f]{2})?\]"
    r"|(?P<function>[0-9a-f]{2}\.[0-7])(?=-|\s|$)(?:\s+(?P<text>\S.*))?"
)
_DRAWN = re.compile(r"[ \t|+`\\-]*")
# The branch character stands two columns before its function: "+-00.0".
_BRANCH = 2


def leaves(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """``(address, name)`` of every named function, the domain only where it is not 0000."""
    branches: dict[int, tuple[str, str]] = {}
    domain = "0000"
    for line in lines:
        bus: tuple[str, str] | None = None
        position = 0
        while True:
            drawn = _DRAWN.match(line, position)
            token = _TOKEN.match(line, drawn.end() if drawn else position)
            if not token:
                break
            if token["bus"]:
                domain = token["domain"] or domain
                bus = (domain, token["bus"])
            else:
                column = token.start() - _BRANCH
                bus = branches[column] = bus or branches.get(column) or ("", "")
                # Deeper branches end where an outer one goes on.
                branches = {place: value for place, value in branches.items() if place <= column}
                if token["text"] and bus[1]:
                    prefix = "" if bus[0] == "0000" else f"{bus[0]}:"
                    yield f"{prefix}{bus[1]}:{token['function']}", token["text"]
                bus = None
            position = token.end()
