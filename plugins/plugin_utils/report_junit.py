"""A fleet report for continuous integration: JUnit XML with a suite per host and a case per stage and check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_stages import STAGES, WORDS, changes

Document = Mapping[str, Any]
# Hosts in these states need somebody; what waits for a run or a reboot is skipped, as it is neither good nor bad.
ERRORS = ("unreachable",)
FAILURES = ("failed", "refused", "drift")
WAITING = ("will change", "reboot required", "not verified")
BAD_STAGES = ("differs", "blocked")
GOOD_STAGES = ("ok", "changed")
# What XML cannot hold, not even escaped.
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """One test case: ``result`` is error, failure, skipped or nothing where it passed."""

    name: str
    result: str = ""
    message: str = ""
    seconds: float = 0


def junit(fleet: Document) -> str:
    """The XML file for a fleet document of `report_fleet`."""
    root = ElementTree.Element("testsuites", name=f"gpufleet.rocm {fleet['kind']}")
    for name, document in fleet["hosts"].items():
        cases = list(_cases(document, fleet["stages"][name]))
        suite = ElementTree.SubElement(root, "testsuite", _counts(cases), name=_legal(name), timestamp=fleet["time"])
        for case in cases:
            _add(suite, name, case)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cases(document: Document, stages: Mapping[str, str]) -> Iterator[Case]:
    state, reason = document["state"], document["reason"]
    result = "error" if state in ERRORS else "failure" if state in FAILURES else "skipped" if state in WAITING else ""
    yield Case("outcome", result, f"{state}: {reason}" if reason else state)
    for stage in STAGES:
        word = stages[stage]
        result = "failure" if word in BAD_STAGES else "" if word in GOOD_STAGES else "skipped"
        count = changes(document, stage)
        yield Case(f"stage {stage}", result, f"{word}: {WORDS[word]}" + (f" ({count} changes)" if count else ""))
    for check in document["verification"]:
        result = {"failed": "failure", "passed": ""}.get(check["status"], "skipped")
        yield Case(f"check {check['id']}", result, f"{check['status']}: {check['evidence']}", check["seconds"])


def _counts(cases: list[Case]) -> dict[str, str]:
    count = {
        kind: sum(case.result == result for case in cases)
        for kind, result in {"errors": "error", "failures": "failure", "skipped": "skipped"}.items()
    }
    numbers = {"tests": len(cases), **count, "time": round(sum(case.seconds for case in cases), 3)}
    return {kind: str(number) for kind, number in numbers.items()}


def _add(suite: ElementTree.Element, host: str, case: Case) -> None:
    row = ElementTree.SubElement(
        suite, "testcase", classname=_legal(host), name=_legal(case.name), time=str(round(case.seconds, 3))
    )
    if case.result:
        message = _legal(case.message)
        ElementTree.SubElement(row, case.result, message=message.partition("\n")[0]).text = message


def _legal(text: str) -> str:
    return ILLEGAL.sub("\ufffd", text)
