"""JUnit, Prometheus and HTML from the same document, whatever is in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_report
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_details import details, printable
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_fleet import fleet_document
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_html import page
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_junit import junit
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_prometheus import METRICS, prometheus
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_stages import WORDS
from tests.unit import fleets
from tests.unit.documents import SCHEMA, validate_fleet

FLEET = fleets.fleet(60)
# One line of the exposition format: name, labels, value.
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\d+)')
ANYTHING = st.text(st.characters(), min_size=1, max_size=20)


def failing(text: str) -> dict[str, Any]:
    """A fleet of one host whose name and reason are this text."""
    failure = {"kind": "unreachable", "task": "x", "message": text}
    return fleet_document(fleet_report({text: {"failure": failure}}), fleets.TODAY)


def suites(fleet: dict[str, Any]) -> dict[str, ElementTree.Element]:
    return {suite.attrib["name"]: suite for suite in ElementTree.fromstring(junit(fleet).encode())}


def test_junit_has_a_suite_for_each_host_and_counts_its_cases() -> None:
    found = suites(FLEET)
    assert set(found) == set(FLEET["hosts"])
    for name, suite in found.items():
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases) == 7 + len(FLEET["hosts"][name]["verification"])
        for attribute, tag in {"errors": "error", "failures": "failure", "skipped": "skipped"}.items():
            assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))


# State to the result of the case "outcome", and of the case of the driver.
RESULTS = {
    "unreachable": ("error", "skipped"),
    "failed": ("failure", None),
    "refused": ("failure", "failure"),
    "reboot required": ("skipped", "passed"),
    "drift": ("failure", None),
    "will change": ("skipped", "skipped"),
    "done": ("passed", "passed"),
    "in sync": ("passed", "passed"),
}


@pytest.mark.parametrize("state", RESULTS)
def test_junit_tells_what_is_wrong_from_what_only_waits(state: str) -> None:
    name = next(name for name, document in FLEET["hosts"].items() if document["state"] == state)
    cases = {case.attrib["name"]: case for case in suites(FLEET)[name]}
    outcome, driver = RESULTS[state]
    found = {key: next((part.tag for part in case), "passed") for key, case in cases.items()}
    assert found["outcome"] == outcome
    assert driver is None or found["stage driver"] == driver
    if outcome in ("error", "failure"):
        assert cases["outcome"][0].text == f"{state}: {FLEET['hosts'][name]['reason']}"
        assert "\n" not in cases["outcome"][0].attrib["message"]


def samples(fleet: dict[str, Any]) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for line in prometheus(fleet).removesuffix("\n").split("\n"):
        if not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            # Prometheus takes no series twice.
            assert (match[1], match[2] or "") not in found
            found[match[1], match[2] or ""] = int(match[3])
    return found


def test_prometheus_counts_what_the_document_counts() -> None:
    found = samples(FLEET)
    assert found["rocm_fleet_report_timestamp_seconds", ""] == 1772438400
    states = [row["const"] for row in SCHEMA["properties"]["state"]["oneOf"]]
    assert {state: found["rocm_fleet_hosts", f'state="{state}"'] for state in states} == FLEET["counts"]
    gpus = sum(len(document["gpus"]) for document in FLEET["hosts"].values())
    assert sum(value for (metric, _), value in found.items() if metric == "rocm_fleet_gpus") == gpus
    assert found["rocm_fleet_host_state", 'host="gpu0003",state="refused"'] == 1
    refused = sum(any(row["id"] == "user-unknown" for row in host["refusals"]) for host in FLEET["hosts"].values())
    assert found["rocm_fleet_findings", 'id="user-unknown",kind="refusal"'] == refused > 0


def test_every_metric_is_explained_and_has_the_labels_that_are_documented() -> None:
    text = prometheus(FLEET)
    for metric, (labels, help_text) in METRICS.items():
        assert f"# HELP {metric} {help_text}\n# TYPE {metric} gauge\n{metric}" in text
        names = {tuple(re.findall('([a-z]+)="', row)) for name, row in samples(FLEET) if name == metric}
        assert names == {labels}


class Reader(HTMLParser):
    """Elements and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_asks_for_nothing_and_lets_nothing_run_but_its_own_script() -> None:
    read = Reader(page(FLEET))
    assert [
        value for name, value in read.attributes if name in ("src", "href") and not str(value).startswith("#")
    ] == []
    assert not [name for name, _ in read.attributes if name.startswith("on") or name == "style"]
    policy = next(str(value) for _, value in read.attributes if str(value).startswith("default-src"))
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; base-uri 'none'; form-action 'none'",
        policy,
    )
    assert "url(" not in page(FLEET)
    assert "@import" not in page(FLEET)


def test_what_has_a_colour_has_a_word_too() -> None:
    cells = re.findall(r'<td class="(bad|warn|todo|good|none)">([a-z ]+)(?: \d+)?</td>', page(FLEET))
    assert len(cells) == 7 * len(FLEET["hosts"])
    assert {word for _, word in cells} <= set(WORDS)
    # No word has two colours.
    assert len(set(cells)) == len({word for _, word in cells}) > 5


def test_equal_details_are_kept_once() -> None:
    few, many = (details(fleets.fleet(size)["hosts"].values()) for size in (80, 160))
    assert len(many["hosts"]) == 160
    evidence = len([text for text in many["texts"] if "as expected" in text])
    assert len(many["texts"]) - evidence < len(few["texts"])


@settings(max_examples=60, deadline=None)
@given(ANYTHING)
def test_no_text_breaks_a_format(text: str) -> None:
    fleet = failing(text)
    validate_fleet(fleet)
    junit(fleet).encode()
    assert len(suites(fleet)) == 1
    prometheus(fleet).encode()
    assert samples(fleet)["rocm_fleet_hosts", 'state="unreachable"'] == 1
    written = page(fleet)
    written.encode()
    plain = Reader(page(failing("a")))
    assert Reader(written).tags == plain.tags


def test_markup_is_text_in_every_format() -> None:
    fleet = fleets.hostile()
    validate_fleet(fleet)
    tags = Reader(page(fleet)).tags
    assert tags.count("script") == 2
    assert "img" not in tags
    assert len(suites(fleet)) == 4
    assert samples(fleet)["rocm_fleet_hosts", 'state="unreachable"'] == 2


def test_only_what_can_be_seen_is_shown() -> None:
    assert printable("plain \u00e9\nnext") == "plain \u00e9\nnext"
    assert printable("a\tb\u2028c\u00a0d") == "a b c d"
    assert printable("a\x00\x1b\u202e\ud800") == "a" + "\ufffd" * 4
