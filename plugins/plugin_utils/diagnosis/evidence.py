"""One piece of evidence: what was seen, where, and the id in data/decisions.yml that it speaks for."""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 400


@dataclass(frozen=True)
class Evidence:
    """``remedy`` is what the plan advises for this host; empty where only the table of diagnoses does."""

    id: str
    source: str
    text: str
    remedy: str = ""

    def shown(self) -> str:
        """The text on one line of bounded length."""
        line = " ".join("".join(char if char.isprintable() else " " for char in self.text).split())
        return line if len(line) <= LIMIT else f"{line[: LIMIT - 3]}..."
