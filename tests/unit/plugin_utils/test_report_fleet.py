"""The document of a whole fleet: counts, GPUs, versions, stages, findings, and what changed since the last one."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import Earlier, fleet_plan, fleet_report
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_fleet import fleet_document
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_stages import COLUMNS, STAGES, WORDS
from tests.unit import fleets
from tests.unit.documents import FLEET_SCHEMA, plan_of, validate_fleet
from tests.unit.facts_builder import answers, bare_server, booted, carried_out, gpu, wishes

PLAN = plan_of(bare_server())
SETTLED = plan_of(booted(carried_out(bare_server(), PLAN), PLAN))
REFUSED = plan_of(bare_server(users={}))
AWAY: dict[str, Any] = {"failure": {"kind": "unreachable", "task": "Read", "message": "timed out"}}
TIME = "2026-03-02T08:00:00Z"


def passed(status: str = "passed") -> dict[str, Any]:
    check = {"id": "rocminfo", "status": status, "evidence": "because", "seconds": 0.1}
    return {"checks": [check], "passed": status != "failed", "user": "ada"}


IN_SYNC = {"plan": SETTLED, "verification": passed()}
DONE = {"plan": PLAN, "after": SETTLED, "verification": passed(), "state": "done"}


def document(previous: dict[str, Any] | None = None, inventory: tuple[str, ...] = (), **hosts: Any) -> dict[str, Any]:
    result = fleet_document(fleet_report(hosts), TIME, inventory=inventory, previous=previous)
    validate_fleet(result)
    return result


@pytest.mark.parametrize("kind", ["report", "plan"])
def test_a_mixed_fleet_is_what_its_schema_says(kind: str) -> None:
    validate_fleet(fleets.fleet(60, kind))


def test_the_schema_looks_into_every_host() -> None:
    fleet = document(a=IN_SYNC)
    fleet["hosts"]["a"]["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError):
        validate_fleet(fleet)


def test_every_word_of_a_stage_is_in_the_schema() -> None:
    stages = FLEET_SCHEMA["properties"]["stages"]["additionalProperties"]
    words = {word for row in stages["patternProperties"].values() for word in row["enum"]}
    assert words == set(WORDS)
    assert tuple(stages["required"]) == COLUMNS


WORD_OF_THE_DRIVER = [
    ("ok", "passed", IN_SYNC),
    ("changed", "passed", DONE),
    ("to do", "not run", {"plan": PLAN}),
    ("blocked", "not run", {"plan": REFUSED}),
    ("differs", "passed", {"plan": PLAN, "verification": passed()}),
    ("unfinished", "not run", {"plan": PLAN, "failure": {"kind": "task", "task": "Install", "message": "no space"}}),
    ("ok", "failed", {"plan": SETTLED, "verification": passed("failed")}),
    ("ok", "not run", {"plan": SETTLED, "verification": passed("not run")}),
    ("unknown", "not run", AWAY),
]


@pytest.mark.parametrize(("driver", "verify", "host"), WORD_OF_THE_DRIVER)
def test_where_a_host_stands_in_a_stage(driver: str, verify: str, host: dict[str, Any]) -> None:
    words = document(a=host)["stages"]["a"]
    assert (words["driver"], words["verify"]) == (driver, verify)


def test_a_stage_that_the_run_is_not_for_is_unknown_and_not_ok() -> None:
    first = make_plan(bare_server(), wishes(), only=("repo", "driver"))
    plan = make_plan(bare_server(), wishes(), answers(first), only=("repo", "driver"))
    words = document(a={"plan": plan})["stages"]["a"]
    assert [words[stage] for stage in STAGES] == ["to do", "to do", *["unknown"] * 4]


def test_gpus_are_added_up_by_kind() -> None:
    mixed = plan_of(bare_server(gpus=[gpu("74a1"), gpu("ffff", "0000:30:00.0"), gpu("74a1", "0000:31:00.0")]))
    rows = document(a=IN_SYNC, b={"plan": mixed}, c=IN_SYNC)["gpus"]
    assert [(row["gfx"], row["count"], row["hosts"]) for row in rows] == [
        ("gfx90a", 4, ["a", "c"]),
        ("gfx942", 2, ["b"]),
        (None, 1, ["b"]),
    ]


def test_versions_are_compared_by_the_plan_and_not_by_their_text() -> None:
    fleet = document(a=IN_SYNC, b={"plan": PLAN}, c=AWAY)
    rows = {(row["what"], row["match"]): row for row in fleet["versions"]}
    assert rows["driver", "as wanted"]["wanted"] == "dkms 6.0"
    assert rows["driver", "as wanted"]["actual"] == "6.3.6"
    assert rows["rocm", "differs"]["hosts"] == ["b"]
    assert not any("c" in row["hosts"] for row in fleet["versions"])


def test_findings_are_said_once_the_worst_first_with_a_remedy() -> None:
    failed = {"plan": SETTLED, "verification": passed("failed")}
    fleet = document(a={"plan": REFUSED}, b=AWAY, c=failed, d={"plan": REFUSED}, e=IN_SYNC)
    kinds = [row["kind"] for row in fleet["findings"]]
    assert kinds == sorted(kinds, key=["unreachable", "failed", "refusal", "warning"].index)
    rows = {row["id"]: row for row in fleet["findings"]}
    assert rows["user-unknown"]["evidence"][0]["hosts"] == ["a", "d"]
    assert rows["rocminfo"]["evidence"] == [{"found": "because", "hosts": ["c"]}]
    assert all(row["remedy"] for row in fleet["findings"])


def test_a_check_speaks_with_its_finding_and_remedy() -> None:
    told = {"finding": "kfd-permission", "remedy": "log in again"}
    failed, noted = passed("failed"), passed()
    for verification in (failed, noted):
        verification["checks"][0].update(told)
    fleet = document(a={"plan": SETTLED, "verification": failed}, b={"plan": SETTLED, "verification": noted})
    rows = {row["kind"]: row for row in fleet["findings"] if row["id"] == "kfd-permission"}
    assert rows["failed"]["evidence"] == [{"found": "rocminfo: because", "hosts": ["a"]}]
    assert rows["warning"]["evidence"] == [{"found": "rocminfo: because", "hosts": ["b"]}]
    assert rows["failed"]["remedy"] == "log in again"


def test_hosts_that_a_run_left_out_keep_their_state_and_its_time() -> None:
    before = {**document(a=IN_SYNC, b={"plan": PLAN}, gone=IN_SYNC), "time": "2026-03-01T08:00:00Z"}
    fleet = document(before, ("a", "b", "never"), a=DONE)
    assert list(fleet["hosts"]) == ["a", "b"]
    assert fleet["earlier"] == {"b": "2026-03-01T08:00:00Z"}
    assert fleet["counts"]["will change"] == 1
    assert fleet["drift"]["disappeared"] == ["gone"]
    # And on: the time stays that of the run which reported the host.
    assert document(fleet, ("a", "b"), a=DONE)["earlier"] == {"b": "2026-03-01T08:00:00Z"}


def test_a_report_alone_says_when_the_hosts_were_asked() -> None:
    asked = fleet_report({"a": IN_SYNC, "b": IN_SYNC})
    left = {name: Earlier(document, "2026-02-27") for name, document in asked["hosts"].items()}
    alone = fleet_report({"a": {}, "b": {}}, earlier=left)
    before = fleet_document(asked, "2026-03-01T08:00:00Z")
    del before["hosts"]["b"]
    fleet = fleet_document(alone, TIME, inventory=("a", "b"), previous=before)
    validate_fleet(fleet)
    assert fleet["earlier"] == {"a": "2026-03-01T08:00:00Z", "b": "2026-02-27T00:00:00Z"}
    assert fleet["counts"]["in sync"] == 2


def test_without_an_earlier_report_there_is_no_drift() -> None:
    assert document(a=IN_SYNC)["drift"] is None


def test_nothing_changed() -> None:
    drift = document(document(a=IN_SYNC, b=AWAY), a=IN_SYNC, b=AWAY)["drift"]
    assert drift.pop("since") == TIME
    assert not any(drift.values())


def test_hosts_that_changed_in_the_same_way_share_a_row() -> None:
    fewer = booted(carried_out(bare_server(), PLAN), PLAN)
    fewer["gpus"] = fewer["gpus"][:1]
    before = document(a={"plan": PLAN}, b={"plan": PLAN}, c=IN_SYNC, old=IN_SYNC)
    drift = document(before, a=DONE, b=DONE, c={**IN_SYNC, "plan": plan_of(fewer)}, new10=IN_SYNC, new9=IN_SYNC)[
        "drift"
    ]
    assert (drift["appeared"], drift["disappeared"]) == (["new9", "new10"], ["old"])
    changes = {row["what"]: (row["before"], row["after"], row["hosts"]) for row in drift["changes"]}
    assert changes["state"] == ("will change", "done", ["a", "b"])
    assert changes["rocm"] == (None, "6.0.0", ["a", "b"])
    assert changes["gpus"] == ("2 x gfx90a", "1 x gfx90a", ["c"])


def test_a_host_that_cannot_be_read_did_not_lose_its_versions() -> None:
    drift = document(document(a=IN_SYNC), a=AWAY)["drift"]
    assert [row["what"] for row in drift["changes"]] == ["state"]
    assert drift["findings_gone"] == []


def test_findings_come_and_go() -> None:
    refused = document(document(a=IN_SYNC), a={"plan": REFUSED})["drift"]
    assert {"id": "user-unknown", "hosts": ["a"]} in refused["findings_new"]
    back = document(document(a={"plan": REFUSED}), a=IN_SYNC)["drift"]
    assert {"id": "user-unknown", "hosts": ["a"]} in back["findings_gone"]


def test_a_plan_and_a_check_say_what_they_are() -> None:
    plan = fleet_document(fleet_plan({"a": {"plan": PLAN}}), TIME)
    check = fleet_document(fleet_report({"a": {"plan": PLAN}}), TIME, check_mode=True)
    assert (plan["kind"], plan["check_mode"]) == ("plan", False)
    assert (check["kind"], check["check_mode"]) == ("report", True)


def test_a_document_is_the_same_after_a_round_trip() -> None:
    fleet = fleets.fleet(30)
    assert json.loads(json.dumps(fleet)) == fleet
