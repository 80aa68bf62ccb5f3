"""What a look at a setting has to say, and many GPUs in few words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Said(NamedTuple):
    """The parts of a finding, before it is known for which profile."""

    id: str
    found: str
    expected: str
    remedy: str


def by_value(pairs: Iterable[tuple[str, str]]) -> str:
    """'SPX on 0000:05:00.0 and 6 more, CPX on 0000:e5:00.0': each value with the first that has it."""
    groups: dict[str, list[str]] = {}
    for value, address in pairs:
        groups.setdefault(value, []).append(address)
    return ", ".join(
        f"{value} on {first}" + (f" and {len(more)} more" if more else "") for value, (first, *more) in groups.items()
    )
