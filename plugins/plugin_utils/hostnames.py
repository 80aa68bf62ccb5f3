"""Host names for people: natural order, and many names in few words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

# Up to this many names are listed as they are.
LISTED = 4
# Characters for the names behind a message.
ROOM = 100
# The number that counts hosts: the last one of the first label, of the whole name in an IPv4 address.
COUNTED = re.compile(r"(?P<start>(?:\d+\.){3}|[^.]*?)(?P<number>[0-9]+)(?P<end>[^0-9.]*(?:\..*)?)", re.ASCII)

# What reads the same as a name and as a host pattern.
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def as_pattern(name: str, groups: Collection[str] = ()) -> str:
    """The host pattern that stands for the host of this name alone, whatever the name is made of.

    Ansible looks for groups too where it does not find a plain name among the hosts. Raises ValueError for such a name
    that is also one of ``groups``.
    """
    if PLAIN.fullmatch(name):
        return name
    if name in groups:
        raise ValueError(
            f"found a host and a group that are both called {name!r}; expected a host name that Ansible can tell from "
            "its groups and patterns. Next: rename the host or group in the inventory; ansible_host keeps the address."
        )
    # No character of a pattern's own is left, so that Ansible cannot split it.
    return "~" + "".join(char if char.isalnum() and char.isascii() else f"\\U{ord(char):08x}" for char in name) + r"\Z"


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key under which node2 comes before node10."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((int(part) if index % 2 else 0, part) for index, part in enumerate(parts))


def shortened(names: Collection[str], fleet: int = 0, room: int = ROOM) -> str:
    """Every name once, in natural order, as short as it stays exact; what exceeds ``room`` characters is counted.

    ``node[001-003,007]`` stands for node001, node002, node003 and node007: a range counts in steps of one and keeps
    the leading zeros that its ends have. ``fleet`` is the number of all hosts; when these are all of them, it says so.
    """
    if fleet > 1 and len(names) == fleet:
        return f"all {fleet} hosts"
    runs = _runs(sorted(names, key=natural))
    shown = 0
    while shown < len(runs) and (not shown or len(_text(runs[: shown + 1])) <= room):
        shown += 1
    left = len(names) - sum(run.count for run in runs[:shown])
    return _text(runs[:shown]) + (f", and {left} more" if left else "")


@dataclass(frozen=True)
class Run:
    """Consecutive numbers ``low`` to ``high`` between the two texts ``around``; a name without number has one text."""

    around: tuple[str, ...]
    low: str = ""
    high: str = ""

    @property
    def count(self) -> int:
        """How many names it stands for."""
        return int(self.high or 0) - int(self.low or 0) + 1

    def __str__(self) -> str:
        return self.low if self.low == self.high else f"{self.low}-{self.high}"


def _runs(ordered: Sequence[str]) -> list[Run]:
    if len(ordered) <= LISTED:
        return [Run((name,)) for name in ordered]
    numbers: dict[tuple[str, ...], list[str]] = {}
    for name in ordered:
        match = None if re.search(r"[\[\],\s]", name) else COUNTED.fullmatch(name)
        around, number = ((match["start"], match["end"]), match["number"]) if match else ((name,), "")
        numbers.setdefault(around, []).append(number)
    return [
        Run(around, low, high)
        for around, found in numbers.items()
        for low, high in (_ranges(found) if len(around) == 2 else [("", "")])
    ]


def _text(runs: Sequence[Run]) -> str:
    parts = []
    for around, alike in itertools.groupby(runs, key=lambda run: run.around):
        inside = ",".join(str(run) for run in alike)
        parts.append((inside if inside.isdigit() or not inside else f"[{inside}]").join(around))
    return ", ".join(parts)


def _ranges(numbers: Sequence[str]) -> list[tuple[str, str]]:
    """Runs of consecutive numbers: 09 and 10 are consecutive, and so are 9 and 10, but 9 and 09 are two numbers."""
    padded = {len(number) for number in numbers if re.match("0.", number)}
    runs: list[tuple[str, str]] = []
    for number in sorted(numbers, key=lambda text: (int(text), len(text))):
        low, last = runs[-1] if runs else ("", "-2")
        alike = len(last) == len(number) or not padded & {len(last), len(number)}
        if alike and int(number) == int(last) + 1:
            runs[-1] = (low, number)
        else:
            runs.append((number, number))
    return runs
