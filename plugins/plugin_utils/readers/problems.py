"""Known complaints of a tool: a line of its output, and the id in data/decisions.yml that the line stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table

Problem = dict[str, str]
Found = tuple[str, int]  # id, number of the line


@dataclass(frozen=True)
class Rule:
    """A line that matches ``pattern``, and ``where`` anywhere, but not ``unless``, means ``id``.

    Two patterns look at a long line twice, one with a gap between its parts looks at it once for each first part.
    """

    id: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    where: re.Pattern[str] | None = None

    def matches(self, line: str) -> bool:
        """Whether the line is such a complaint."""
        if self.where and not self.where.search(line):
            return False
        return bool(self.pattern.search(line)) and not (self.unless and self.unless.search(line))


def rule(id: str, pattern: str, unless: str | None = None, where: str | None = None) -> Rule:
    """A rule from texts of patterns, upper and lower case alike."""
    flags = re.IGNORECASE | re.MULTILINE
    others = [re.compile(text, flags) if text else None for text in (unless, where)]
    return Rule(id, re.compile(pattern, flags), *others)


@cache
def phrases(name: str) -> str:
    """A pattern for one entry of data/apt_phrases.yml, where an ellipsis stands for a name."""
    pieces = (piece.split("\u2026") for piece in table("apt_phrases")["phrases"][name])
    return "(?:" + "|".join(".{1,100}".join(map(re.escape, piece)) for piece in pieces) + ")"


def matching(rules: Iterable[Rule], lines: Sequence[str], order: Sequence[int] | None = None) -> Iterator[Found]:
    """The first line for each rule that fits any, in the order of the rules: of two with one id the first says more.

    ``order`` are the numbers of the lines, those to be preferred first.
    """
    numbers = range(len(lines)) if order is None else order
    text = "\n".join(lines)
    for one in rules:
        # Most rules fit nowhere, which one look at the whole text tells.
        if not one.pattern.search(text):
            continue
        number = next((number for number in numbers if one.matches(lines[number])), None)
        if number is not None:
            yield one.id, number


def problems(found: Iterable[Found], lines: Sequence[str]) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the lines, each id once with the line that was found first for it."""
    first: dict[str, int] = {}
    for id, number in found:
        first.setdefault(id, number)
    return [
        {"id": id, "evidence": lines[number].strip()} for id, number in sorted(first.items(), key=lambda item: item[1])
    ]
