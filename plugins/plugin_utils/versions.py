"""Version numbers of ROCm, its driver and PyTorch: parsed strictly, compared as numbers.

A version has two to four parts: 6.4, 6.4.1, 6.4.2.1. Missing parts count as 0, so 6.4 means exactly 6.4.0.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError

_PART = r"(0|[1-9][0-9]{0,4})"
_STRICT = re.compile(rf"{_PART}\.{_PART}(?:\.{_PART}(?:\.{_PART})?)?")
# The widest look for a version inside other text; only used to suggest a spelling.
_HINT = re.compile(r"[0-9]+\.[0-9]+(?:\.[0-9]+){0,2}", re.ASCII)


@dataclass(frozen=True, order=True)
class Version:
    """Two to four numeric parts. Instances compare and hash by number: 6.4 == 6.4.0, 10.0 > 7.2."""

    major: int
    minor: int
    patch: int = 0
    sub: int = 0

    def __str__(self) -> str:
        return self.full

    @property
    def full(self) -> str:
        """At least three parts, as in /opt/rocm-6.0.0 and versioned package names."""
        text = f"{self.major}.{self.minor}.{self.patch}"
        return f"{text}.{self.sub}" if self.sub else text

    @property
    def directory(self) -> str:
        """As AMD names repository directories: a third part of 0 is dropped (6.0, 6.0.2, 6.4.2.1)."""
        return self.full if self.patch or self.sub else self.line

    @property
    def line(self) -> str:
        """The first two parts, which name a release line (6.4)."""
        return f"{self.major}.{self.minor}"

    @property
    def build(self) -> str:
        """The build field in package versions of the legacy stream: 6.0.0 -> 60000, 7.2.4 -> 70204."""
        return str(self.major * 10000 + self.minor * 100 + self.patch)


def parse(
    value: object,
    *,
    what: str = "ROCm version",
    error: str = "release-unknown",
    example: str = "'6.0' or '7.2.4'",
    known: Collection[Version] = (),
) -> Version:
    """Read `value` as a version or raise DecisionError with id `error`, which names it `what` and gives the `example`.

    Text must be the bare number. A float is accepted because YAML makes one of an unquoted 6.0, unless `known`
    has a version that gives the same float through a trailing zero (7.1 and 7.10).
    """
    if isinstance(value, float):
        return _from_float(value, what, error, example, known)
    if isinstance(value, str):
        match = _STRICT.fullmatch(value)
        if match:
            return Version(*(int(part) for part in match.groups() if part is not None))
    raise _refuse(value, what, error, example)


def _from_float(value: float, what: str, error: str, example: str, known: Collection[Version]) -> Version:
    """A version from an unquoted YAML number, if no other spelling gives the same number."""
    match = _STRICT.fullmatch(repr(float(value)))
    if match is None:
        raise _refuse(value, what, error, example)
    version = Version(int(match[1]), int(match[2]))
    longer = Version(version.major, version.minor * 10)
    if version.minor and longer in known:
        raise DecisionError(
            error,
            f"the {what} is an unquoted {version.line}, which YAML makes of {version.line} and {longer.line} alike",
            "text in quotes",
            f"write '{version.line}' or '{longer.line}' with the quotes",
        )
    return version


def _refuse(value: object, what: str, error: str, example: str) -> DecisionError:
    """The error for anything that is not a version, with a suggested spelling where one is visible."""
    shown = _shown(value)
    hint = _HINT.search(value) if isinstance(value, str) else None
    spelling = hint[0] if hint and _STRICT.fullmatch(hint[0]) else None
    remedy = f"write '{spelling}'" if spelling else f"give a number such as {example}, in quotes"
    return DecisionError(
        error, f"the {what} {shown} is not a version number", "two to four numbers joined by dots", remedy
    )


def _shown(value: object) -> str:
    """A short, printable form of whatever was given; control characters never reach a terminal."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
