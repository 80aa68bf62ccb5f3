"""Findings: what the planner has to say about a host, each with a stable id from ``data/decisions.yml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table

# What a note of the matrix means to an operator: a fact in doubt, or something that is not as AMD's pages have it.
DOUBT = ("a confirmed fact", "try it on one host before the fleet")
DIFFERENCE = ("what AMD's own pages describe", "nothing to do where verification passes")


@dataclass(frozen=True)
class Finding:
    """One refusal or warning: what was found, what was expected, what to do next."""

    id: str
    found: str
    expected: str
    remedy: str

    def message(self) -> str:
        """One line for people: ``id: found; expected this. Next: do that.`` Secrets in it are masked."""
        return masked(f"{self.id}: {self.found}; expected {self.expected}. Next: {self.remedy}")

    def as_dict(self) -> dict[str, str]:
        """The form in plan, report and terminal."""
        return {
            "id": self.id,
            "found": masked(self.found),
            "expected": masked(self.expected),
            "remedy": masked(self.remedy),
            "message": self.message(),
        }


@dataclass
class Findings:
    """Sorts findings into refusals and warnings; ``allowed`` are the ids the operator took upon himself."""

    allow: frozenset[str] = frozenset()
    refusals: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def add(self, id: str, found: str, expected: str, remedy: str) -> None:
        """Record one finding under the kind that the decision table gives to ``id``."""
        decision = decisions()[id]
        finding = Finding(id, found, expected, remedy)
        if decision["kind"] == "warning":
            self.warnings.append(finding)
        elif decision["allow"] and id in self.allow:
            self.warnings.append(finding)
            self.allowed.append(id)
        else:
            self.refusals.append(finding)

    def add_error(self, error: DecisionError) -> None:
        """Record the refusal that a resolver raised."""
        self.add(error.id, error.found, error.expected, error.remedy)

    def refuse(self, error: DecisionError) -> None:
        """Record a refusal that no override lifts: without an answer there is nothing to go on with."""
        self.refusals.append(Finding(error.id, error.found, error.expected, error.remedy))

    def add_notes(self, notes: Iterable[Mapping[str, str]]) -> None:
        """Record the warnings that came with a resolved release or wheel set: ``[{id, message}]``."""
        for note in notes:
            expected, remedy = DOUBT if note["id"].startswith("fact-") else DIFFERENCE
            self.warnings.append(Finding(note["id"], note["message"], expected, remedy))


def decisions() -> Mapping[str, Mapping[str, Any]]:
    """The decision table, id to ``{kind, allow, cause}``."""
    rows: Mapping[str, Mapping[str, Any]] = table("decisions")["decisions"]
    return rows


def overridable() -> list[str]:
    """Ids that ``rocm_allow`` accepts."""
    return sorted(id for id, decision in decisions().items() if decision.get("allow"))
