"""Where each host stands in each stage, as one word: the matrix of a fleet report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import PLANNERS

Document = Mapping[str, Any]
STAGES = tuple(PLANNERS)
VERIFY = "verify"
COLUMNS = (*STAGES, VERIFY)

# What a word means, for the documentation and the legend of the page. What needs attention comes first.
WORDS = {
    "failed": "a check failed",
    "unfinished": "the host failed or was lost; what differed before may or may not be done",
    "blocked": "differs, and is left untouched because the host is refused",
    "differs": "not as wanted; the run only verified the host",
    "to do": "a run changes it",
    "unknown": "not read, or not part of this run",
    "not run": "no check was run, or none could be",
    "changed": "this run changed it",
    "ok": "was as wanted",
    "passed": "every check that was run passed",
}
# The word for a stage with differences, by the state of its host.
DIFFERENT = {
    "unreachable": "unfinished",
    "failed": "unfinished",
    "refused": "blocked",
    "drift": "differs",
    "will change": "to do",
}


def stage_words(document: Document) -> dict[str, str]:
    """Stage to word, and under ``verify`` what the checks came to."""
    words = {stage: _word(document, stage) for stage in STAGES}
    return {**words, VERIFY: _verified(document)}


def _word(document: Document, stage: str) -> str:
    if stage not in document["stages"]:
        return "unknown"
    if not changes(document, stage):
        return "ok"
    return DIFFERENT.get(document["state"], "changed")


def changes(document: Document, stage: str) -> int:
    """How many things differed in a stage before the run."""
    return sum(action["stage"] == stage for action in document["actions"])


def _verified(document: Document) -> str:
    found = {check["status"] for check in document["verification"]}
    return next((status for status in ("failed", "passed") if status in found), "not run")
