"""Public bug reports as decisions: each row of bug_reports.yml is one input and what the product has to make of it.

A row is either a host to plan for or the output of a tool to read::

    entry, title
    host      codename of the system; bare_server with that system
    os_release, kernel, gpus, packages, sources, partitions, venv, facts    what differs on it, in this order
    has       wishes that were carried out before, on top of the row's own; then the host is not bare
    wishes    rocm_* variables without the prefix; ROCm 6.0 for ada without PyTorch where the row says no more
    servers   {part of a URL: HTTP status}
    index     {project: what its page of the wheel index has: tags of the wanted version, versions}; nothing by default
    key       what differs in the answer about each signing key
    refuses   exactly these refusals
    warns     these warnings among others
    silent    ids that must not be found
    says      texts that the messages of those findings hold
    stages    exactly these stages have something to do
    actions   '<stage> <action> <target>' among others, in this order
    gives     {path in the plan: value}; holds and lacks: {path in the plan: [parts]}

    reader    name of a filter that reads the output of a tool
    capture   file in tests/captures, or output: the text itself
    finds     exactly these ids; gives, holds and lacks as above
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.gpufleet.rocm.plugins.module_utils import os_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from tests.unit import facts_builder as builder
from tests.unit.readers.captures import capture

Row = dict[str, Any]
TODAY = "2026-12-01"
LISTS, ROWS = yaml.safe_load_all((Path(__file__).parent / "bug_reports.yml").read_text(encoding="utf-8"))
PLANS = [row for row in ROWS if "reader" not in row]
READINGS = [row for row in ROWS if "reader" in row]
REFUSED = [(row, id) for row in PLANS for id in row.get("refuses", []) if id != "wish-invalid"]
IDS = ("refuses", "warns", "silent", "finds")
COMMON = {"entry", "title", "gives", "holds", "lacks"}
OF_A_HOST = {"host", "os_release", "kernel", "gpus", "packages", "sources", "partitions", "venv", "facts", "has"}
OF_A_HOST |= {"wishes", "servers", "index", "key", "refuses", "warns", "silent", "says", "stages", "actions"}


def name(row: Row) -> str:
    return f"{row['entry']} {row['title']}"


def start(row: Row) -> dict[str, Any]:
    """The host of a row before anything was installed."""
    facts = builder.server(row.get("host", "jammy"))
    if "os_release" in row:
        facts["os"] = os_release.identity(os_release.parse(row["os_release"]))
    if "kernel" in row:
        facts["kernel"] = builder.kernel(**row["kernel"])
    if "gpus" in row:
        rows = [gpu if isinstance(gpu, dict) else {"device": gpu} for gpu in row["gpus"]]
        facts["gpus"] = [builder.gpu(**{"address": f"0000:{n:02x}:00.0", **gpu}) for n, gpu in enumerate(rows, 5)]
    return facts


def changed(facts: dict[str, Any], row: Row) -> dict[str, Any]:
    """The host after what differs on it by the row."""
    packages = {name: builder.package(name, version) for name, version in row.get("packages", {}).items()}
    facts = builder.merged(facts, {"packages": packages})
    facts["apt"]["sources"] += [builder.source(**source) for source in row.get("sources", [])]
    if "partitions" in row:
        facts["kfd"] = builder.kfd(facts["gpus"], row["partitions"])
    if "venv" in row:
        facts["venvs"] = [builder.merged(facts["venvs"][0], row["venv"])]
    return builder.merged(facts, row.get("facts", {}))


def asked(row: Row, **changes: Any) -> dict[str, Any]:
    return {"version": "6.0", "users": ["ada"], "pytorch": False, **row.get("wishes", {}), **changes}


def answered(facts: dict[str, Any], wishes: dict[str, Any], row: Row) -> dict[str, Any]:
    """The plan after the servers were asked."""
    first = make_plan(facts, wishes, today=TODAY)
    if not first["release"]:
        return first
    probe = builder.answers(first, **row.get("key", {}))
    for part, status in row.get("servers", {}).items():
        found = [answer for kind in ("urls", "wheels") for url, answer in probe[kind].items() if part in url]
        assert found, f"no server is asked for {part}"
        for answer in found:
            answer.update({"status": status, "error": ""})
    for project, changes in row.get("index", {}).items():
        (page,) = [answer for url, answer in probe["wheels"].items() if url.endswith(f"/{project}/")]
        page.update({"tags": [], "versions": [], **changes})
    return make_plan(facts, wishes, probe, TODAY)


def planned(row: Row, **wishes: Any) -> dict[str, Any]:
    facts = start(row)
    if "has" in row:
        before = answered(facts, asked(row, **row["has"]), {})
        assert before["refusals"] == [], "what the host has could not be installed"
        facts = builder.booted(builder.carried_out(facts, before), before)
    return answered(changed(facts, row), asked(row, **wishes), row)


def ids(findings: list[dict[str, str]]) -> list[str]:
    return [finding["id"] for finding in findings]


def at(value: Any, path: str) -> Any:
    """What lies at a path such as release.sources.*.uri; the star stands for every item of a list."""
    head, _, rest = path.partition(".")
    if head == "*":
        return [at(item, rest) if rest else item for item in value]
    inner = value[int(head)] if isinstance(value, list) else value[head]
    return at(inner, rest) if rest else inner


def check_parts(row: Row, result: Any) -> None:
    for path, value in row.get("gives", {}).items():
        assert at(result, path) == value, path
    for path, parts in row.get("holds", {}).items():
        for part in parts:
            assert part in at(result, path), path
    for path, parts in row.get("lacks", {}).items():
        for part in parts:
            assert part not in at(result, path), path


@pytest.mark.parametrize("row", PLANS, ids=name)
def test_plan(row: Row) -> None:
    plan = planned(row)
    refused, warned = ids(plan["refusals"]), ids(plan["warnings"])
    assert sorted(set(refused)) == sorted(row.get("refuses", []))
    assert set(row.get("warns", [])) - set(warned) == set()
    assert set(row.get("silent", [])) & {*refused, *warned} == set()
    meant = {*row.get("refuses", []), *row.get("warns", [])}
    messages = " ".join(one["message"] for one in [*plan["refusals"], *plan["warnings"]] if one["id"] in meant)
    for text in row.get("says", []):
        assert text in messages
    if "stages" in row:
        assert list(dict.fromkeys(action["stage"] for action in plan["actions"])) == row["stages"]
    # `in` on an iterator goes on from the last match, so this also checks the order.
    done = iter([f"{action['stage']} {action['action']} {action['target']}" for action in plan["actions"]])
    for action in row.get("actions", []):
        assert action in done
    check_parts(row, plan)


@pytest.mark.parametrize("row", READINGS, ids=name)
def test_reading(row: Row) -> None:
    reader = importlib.import_module(f"ansible_collections.gpufleet.rocm.plugins.filter.{row['reader']}")
    result = getattr(reader, row["reader"])(row["output"] if "output" in row else capture(row["capture"]))
    if "finds" in row:
        found = [result["problem"]] if isinstance(result, dict) else ids(result)
        assert [id for id in found if id] == row["finds"]
    check_parts(row, result)


@pytest.mark.parametrize(("row", "id"), REFUSED, ids=lambda value: name(value) if isinstance(value, dict) else value)
def test_override(row: Row, id: str) -> None:
    allowed = asked(row).get("allow", [])
    plan = planned(row, allow=[*allowed, id])
    if decisions()[id]["allow"]:
        assert id not in ids(plan["refusals"])
        assert id in ids(plan["warnings"])
        assert id in plan["allowed"]
    else:
        assert ids(plan["refusals"]) == ["wish-invalid"]
        assert id in plan["refusals"][0]["message"]


def test_dangerous_refusals_have_no_override() -> None:
    assert [id for id in LISTS["never_allowed"] if decisions()[id]["allow"]] == []


def test_every_entry_is_a_row_or_has_a_reason() -> None:
    rows = {row["entry"] for row in ROWS}
    assert sorted([*rows, *LISTS["not_decided"]]) == sorted(LISTS["entries"])


@pytest.mark.parametrize("id", LISTS["decisions"])
def test_every_decision_of_the_design_is_found_in_a_row(id: str) -> None:
    assert any(id in row.get(kind, []) for row in ROWS for kind in ("refuses", "warns", "finds"))


@cache
def named() -> dict[str, str]:
    """Every id that a row names, with the first such row."""
    return {id: name(row) for row in reversed(ROWS) for kind in IDS for id in row.get(kind, [])}


@pytest.mark.parametrize("id", sorted(named()))
def test_every_id_is_a_decision(id: str) -> None:
    assert id in decisions(), named()[id]


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_row_is_well_formed(row: Row) -> None:
    if "reader" in row:
        assert set(row) <= COMMON | {"reader", "capture", "output", "finds"}
        assert ("capture" in row) != ("output" in row)
        assert {"finds", "gives", "holds", "lacks"} & set(row)
    else:
        assert set(row) <= COMMON | OF_A_HOST


def test_names_of_rows_are_unique() -> None:
    assert len({name(row) for row in ROWS}) == len(ROWS)
