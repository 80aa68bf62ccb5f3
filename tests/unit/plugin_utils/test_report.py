"""What operators see, for one host and for a thousand."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import fleet_text, rollout
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import Earlier, fleet_plan, fleet_report, untold
from tests.unit.documents import SCHEMA, plan_of, planned, validate
from tests.unit.facts_builder import bare_server, carried_out, gpu

TIMED_OUT = {"kind": "unreachable", "task": "Read the host", "message": "ssh: connect to host a port 22: timed out"}
NO_SPACE = {"kind": "task", "task": "Install", "message": "no space"}
WRONG_TYPE = {"kind": "arguments", "task": "Validating arguments", "message": "argument 'rocm_users' is a str"}


def in_sync() -> dict[str, Any]:
    return plan_of(carried_out(bare_server(), planned()))


def waiting_for_reboot_host() -> dict[str, Any]:
    done = carried_out(bare_server(), planned())
    disk = {"path": "/lib/modules/x/updates/dkms/amdgpu.ko", "version": "6.3.6", "srcversion": "AAA"}
    return {**done, "driver": {**done["driver"], "on_disk": disk}}


def waiting_for_reboot() -> dict[str, Any]:
    return plan_of(waiting_for_reboot_host())


def refused() -> dict[str, Any]:
    return planned(users={"ada": None})


def low_on_space(free_mb: int = 1000, **asked: Any) -> dict[str, Any]:
    disk = {**bare_server()["disk"], "/opt": {"free_mb": free_mb, "total_mb": 100_000}}
    return plan_of(bare_server(disk=disk), **asked)


def check(status: str, name: str = "rocminfo") -> dict[str, Any]:
    return {"id": name, "status": status, "evidence": "because", "seconds": 0.1}


def verified(*checks: dict[str, Any]) -> dict[str, Any]:
    return {"checks": list(checks), "passed": all(row["status"] != "failed" for row in checks), "user": "ada"}


PASSED = verified(check("passed"), check("not run", "hip-run"))
PLANNED = {
    "will change": {"plan": planned()},
    "in sync": {"plan": in_sync()},
    "reboot required": {"plan": waiting_for_reboot()},
    "refused": {"plan": refused()},
    "failed": {"failure": WRONG_TYPE},
    "unreachable": {"failure": TIMED_OUT},
}
REPORTED = [
    ("done", {"plan": planned(), "after": in_sync(), "verification": PASSED}),
    ("in sync", {"plan": in_sync(), "verification": PASSED}),
    ("reboot required", {"plan": planned(), "after": waiting_for_reboot(), "verification": PASSED}),
    ("refused", {"plan": refused()}),
    ("refused", {"plan": plan_of(bare_server(), version="6.0.9")}),
    ("refused", {"plan": plan_of(bare_server(), packages="rocm; reboot")}),
    ("failed", {"plan": planned(), "failure": NO_SPACE}),
    ("failed", {"failure": WRONG_TYPE}),
    ("failed", {"plan": in_sync(), "verification": verified(check("failed"))}),
    ("failed", {"plan": in_sync(), "verification": verified(check("failed")), "failure": NO_SPACE}),
    ("will change", {"plan": planned()}),
    ("will change", {"plan": low_on_space(allow=["disk-space"])}),
    ("not verified", {"plan": in_sync()}),
    ("not verified", {"plan": planned(), "after": in_sync()}),
    ("drift", {"plan": planned(), "verification": PASSED}),
    ("drift", {"plan": refused(), "verification": PASSED}),
    ("unreachable", {"failure": TIMED_OUT}),
    ("failed", {}),
]


@pytest.mark.parametrize("state", PLANNED)
def test_states_and_documents_of_a_plan(state: str) -> None:
    document = fleet_plan({"a": PLANNED[state]})["hosts"]["a"]
    validate(document)
    assert (document["kind"], document["state"]) == ("plan", state)


@pytest.mark.parametrize(("state", "host"), REPORTED)
def test_states_and_documents_of_a_report(state: str, host: dict[str, Any]) -> None:
    document = fleet_report({"a": host})["hosts"]["a"]
    validate(document)
    assert (document["kind"], document["state"]) == ("report", state)


def test_every_state_is_described_and_sorted() -> None:
    described = [row["const"] for row in SCHEMA["properties"]["state"]["oneOf"]]
    assert tuple(described) == fleet_text.STATES
    assert {state for state, _ in REPORTED} == set(described)


@pytest.mark.parametrize(
    "change",
    [
        {"state": "fine"},
        {"state": "refused"},
        {"schema": 2},
        {"surprise": 1},
        {"verification": [{**check("passed"), "status": "skipped"}]},
        {"gpus": [{"address": "0000:2f:00.0"}]},
        {"actions": []},
    ],
    ids=str,
)
def test_the_schema_finds_what_is_wrong(change: dict[str, Any]) -> None:
    document = {**fleet_report({"a": {"plan": planned()}})["hosts"]["a"], **change}
    with pytest.raises(jsonschema.ValidationError):
        validate(document)


def test_reasons() -> None:
    def reason(**host: Any) -> str:
        return str(fleet_report({"a": host})["hosts"]["a"]["reason"])

    assert reason(plan=planned(), failure=NO_SPACE) == "Install: no space"
    assert reason(failure=TIMED_OUT) == TIMED_OUT["message"]
    correct = "Next: correct the variable in the inventory (README, Variables)"
    assert reason(failure=WRONG_TYPE) == f"invalid arguments: argument 'rocm_users' is a str\n{correct}"
    assert reason().startswith("found nothing about this host: ")
    # The check says more than the task that fails because of it.
    assert reason(plan=in_sync(), verification=verified(check("failed")), failure=NO_SPACE) == "rocminfo: because"
    assert reason(plan=refused()).startswith("user-unknown: ")


def test_a_host_that_left_the_run_is_not_said_to_wait_for_changes() -> None:
    fleet = fleet_report({"a": {"plan": planned()}, "b": {"plan": planned()}}, lost=["a"])
    assert [row["state"] for row in fleet["hosts"].values()] == ["unreachable", "will change"]
    assert fleet["outcome"]["unreachable"] == ["a"]


def test_what_is_wanted_of_the_driver_only_counts_where_one_is_installed() -> None:
    assert fleet_plan({"a": {"plan": planned()}})["hosts"]["a"]["wanted"]["driver"] == "6.0"
    inbox = plan_of(bare_server(), driver_mode="inbox")
    assert fleet_plan({"a": {"plan": inbox}})["hosts"]["a"]["wanted"]["driver"] is None


def test_outcome_lists_the_hosts_that_the_exit_status_depends_on() -> None:
    hosts = {**PLANNED, "refused10": {"plan": refused()}, "refused9": {"plan": refused()}}
    assert fleet_plan(hosts)["outcome"] == {
        "unreachable": ["unreachable"],
        "failed": ["failed"],
        "refused": ["refused", "refused9", "refused10"],
        "pending": ["will change"],
    }
    assert fleet_report({"a": {"plan": planned()}})["outcome"]["pending"] == []
    drifted = {"plan": planned(), "verification": PASSED}
    assert fleet_report({"a": drifted, "b": DONE})["outcome"]["pending"] == ["a"]


def test_drift_is_told_with_what_would_be_changed() -> None:
    drifted = {"plan": planned(), "verification": PASSED}
    hosts: dict[str, dict[str, Any]] = {
        "a": drifted,
        "b": drifted,
        "c": {"plan": refused(), "verification": PASSED},
        "d": DONE,
    }
    lines = fleet_report(hosts)["table"].splitlines()
    assert [line.split("  ")[-1] for line in lines[1:5]] == [f"{len(planned()['actions'])} changes, reboot"] * 2 + [
        "user-unknown",
        "1 passed, 1 not run",
    ]
    start = lines.index("Drifted; site.yml would change, in this order:")
    assert lines[start + 1] == "  a, b:"
    assert lines[start + 2].startswith("     1. repo ")
    assert lines[-1].startswith("  Next: run site.yml to bring them back")
    assert "Drifted" not in fleet_report({"a": hosts["c"]})["table"]


def test_hosts_that_nothing_ran_for_are_shown_as_an_earlier_run_left_them() -> None:
    before = fleet_report({"a": DONE, "b": {"plan": refused()}, "c": {}})["hosts"]
    earlier = {name: Earlier(document, "2026-12-07") for name, document in before.items()}
    fleet = fleet_report({"a": {}, "b": {}, "c": {}, "d": {}}, earlier=earlier)
    assert {name: row["state"] for name, row in fleet["hosts"].items()} == {
        "a": "done",
        "b": "refused",
        "c": "failed",
        "d": "failed",
    }
    assert (fleet["outcome"]["refused"], fleet["outcome"]["failed"]) == (["b"], ["c", "d"])
    assert fleet["hosts"]["a"] == before["a"]
    # What a run says for want of anything else is not passed on as its result.
    assert fleet["table"].splitlines()[-2:] == [
        "  unchanged since 2026-12-07  [a, b]",
        "  Next: run playbooks/verify.yml to see how they are now.",
    ]
    assert untold({"a": {}, "b": {}, "c": DONE}, lost=["b"]) == ["a"]


def test_plan_of_a_small_fleet_has_a_row_per_host_and_what_needs_attention_first() -> None:
    hosts = {
        "node10": {"plan": planned()},
        "node2": {"plan": planned()},
        "longer-name": {"plan": in_sync()},
        "no": {"plan": refused()},
        "gone": {"failure": TIMED_OUT},
        "typo": {"failure": WRONG_TYPE},
    }
    lines = fleet_plan(hosts)["table"].splitlines()
    assert [line.split("  ")[0] for line in lines[:7]] == [
        "HOST",
        "gone",
        "typo",
        "no",
        "node2",
        "node10",
        "longer-name",
    ]
    assert lines[2].endswith("invalid arguments")
    assert lines[3].endswith("user-unknown")
    assert lines[4].startswith("node2        will change  2 x MI250")
    assert "  6.0.0  dkms 6.0  2.3.0+rocm6.0  " in lines[4]
    assert lines[4].endswith("changes, reboot")
    starts = {line.index("6.0.0") for line in lines[3:7]} | {lines[0].index("ROCM")}
    assert len(starts) == 1
    assert f"  {TIMED_OUT['message']}  [gone]" in lines
    assert "  invalid arguments: argument 'rocm_users' is a str  [typo]" in lines


@pytest.mark.parametrize("size", [21, 400, 1000])
def test_plan_of_a_large_fleet_is_grouped_by_outcome(size: int) -> None:
    hosts: dict[str, Any] = {f"node{number:04}": {"plan": planned()} for number in range(size)}
    hosts["node0007"] = {"plan": refused()}
    text = fleet_plan(hosts, width=160)["table"]
    lines = text.splitlines()
    assert lines[0].split() == ["HOSTS", "PLAN", "AMD", "GPUS", "ROCM", "DRIVER", "TORCH", "CHANGES", "NAMES"]
    assert lines[1].split()[:2] == ["1", "refused"]
    assert lines[1].endswith("node0007")
    assert len({lines[0].index("NAMES"), lines[1].index("node"), lines[2].index("node")}) == 1
    assert lines[2].split()[:3] == [str(size - 1), "will", "change"]
    assert lines[2].endswith(f"node[0000-0006,0008-{size - 1:04}]")
    assert text.count("user-unknown: ") == 1
    assert len(lines) < 40


def test_changes_are_listed_once_in_full_and_in_order() -> None:
    plan = planned()
    hosts = {f"node{number}": {"plan": plan} for number in range(1, 6)}
    lines = fleet_plan({**hosts, "other": {"plan": in_sync()}})["table"].splitlines()
    start = lines.index("Changes, in this order:")
    assert lines[start + 1] == "  node[1-5]:"
    steps = lines[start + 2 :]
    assert len(steps) == len(plan["actions"]) + 1
    for line, action in zip(steps, plan["actions"], strict=False):
        assert line.split(". ", 1)[1].split()[:3] == [action["stage"], action["action"], action["target"].split()[0]]
        assert line.endswith(f"({action['reason']})")
    assert steps[-1].split(". ", 1)[1] == "reboot       left to you"


def test_an_allowed_reboot_comes_right_after_the_driver() -> None:
    lines = fleet_plan({"a": {"plan": plan_of(bare_server(), reboot_ok=True)}})["table"].splitlines()
    stages = [line.split()[1] for line in lines[lines.index("Changes, in this order:") + 2 :]]
    assert list(dict.fromkeys(stages)) == ["repo", "driver", "reboot", "sdk", "access", "environment", "pytorch"]


def test_an_allowed_reboot_is_announced_where_nothing_else_is_to_do() -> None:
    allowed = {"plan": plan_of(waiting_for_reboot_host(), reboot_ok=True)}
    fleet = fleet_plan({"a": allowed, "b": {"plan": waiting_for_reboot()}})
    assert fleet["table"].splitlines()[-2:] == ["  a:", "     1. reboot  by the run, as rocm_reboot_ok allows"]
    assert fleet["outcome"]["pending"] == ["a"]
    rebooted = {**allowed, "after": in_sync(), "verification": PASSED, "state": "done"}
    assert fleet_report({"a": rebooted})["hosts"]["a"]["state"] == "done"


def test_evidence_that_differs_is_kept_apart_below_one_message() -> None:
    hosts = {f"node{free}": {"plan": low_on_space(free)} for free in (10, 9)}
    lines = fleet_plan({**hosts, "other": {"plan": in_sync()}})["table"].splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("  disk-space: expected 30000 MB"))
    assert lines[start + 1 : start + 3] == [
        "    found 9 MB free for /opt  [node9]",
        "    found 10 MB free for /opt  [node10]",
    ]


def test_an_override_is_told_apart_from_other_warnings() -> None:
    fleet = fleet_plan({"a": {"plan": low_on_space(allow=["disk-space"])}})
    lines = fleet["table"].splitlines()
    assert lines[lines.index("Allowed by rocm_allow:") + 1].startswith("  disk-space: 1000 MB free")
    assert fleet["hosts"]["a"]["allowed"] == ["disk-space"]
    assert "Refused:" not in lines


def test_text_from_a_host_cannot_disturb_the_terminal() -> None:
    failure = {"kind": "task", "task": "Install", "message": "\x1b[31mred\t\r\nsecond\x00 line \u2028"}
    text = fleet_report({"a": {"failure": failure}})["table"]
    assert all(char == "\n" or char.isprintable() for char in text)
    assert "    second  line" in text.splitlines()
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_not_run_is_never_counted_as_passed() -> None:
    table = fleet_report({"same": {"plan": in_sync(), "verification": PASSED}})["table"]
    assert "1 passed, 1 not run" in table
    assert "    not run  hip-run  because" in table.splitlines()


def rolled(**hosts: dict[str, Any]) -> dict[str, Any]:
    return fleet_report(hosts, batches=["1", "25%"], command="ansible-playbook driver.yml")


DONE = {"plan": planned(), "after": in_sync(), "verification": PASSED, "state": "done"}


def test_a_rollout_shows_how_far_each_host_came_and_how_to_go_on() -> None:
    failed = {"plan": planned(), "failure": NO_SPACE, "state": "failed", "drained": True}
    fleet = rolled(a=DONE, b=failed, c={"plan": planned(), "held": "1 of 2 failed"}, d={"plan": refused()})
    for document in fleet["hosts"].values():
        validate(document)
    lines = fleet["table"].splitlines()
    rows = {line.split()[0]: line for line in lines[:5]}
    column = slice(rows["HOST"].index("STATE"), rows["HOST"].index("ROCM"))
    shown = {name: line[column].strip() for name, line in rows.items()}
    assert shown == {"HOST": "STATE", "a": "done", "b": "failed, drained", "c": "waiting", "d": "-"}
    assert lines[lines.index("Left to do:") :] == [
        "Left to do:",
        "  no further batch started: 1 of 2 failed  [c]",
        "  still drained; a run gives them back once their checks pass  [b]",
        "  Next: put right what is said above about b, then run the same command again; "
        "it skips the hosts that are finished:",
        "    ansible-playbook driver.yml",
    ]
    assert fleet["outcome"]["failed"] == ["b"]


def test_states_of_a_rollout_are_shown_where_they_tell_more_than_the_result() -> None:
    assert " STATE " in rolled(a=DONE)["table"]
    assert "Left to do:" not in rolled(a=DONE)["table"]
    at_once = fleet_report({"a": DONE, "b": {"plan": planned()}}, batches=rollout.ONE_BATCH)
    assert " STATE " in at_once["table"]
    assert at_once["hosts"]["b"]["reason"] == "the run ended when it had lost every host of a batch"
    assert " STATE " not in fleet_report({"a": DONE}, batches=rollout.ONE_BATCH)["table"]
    # Neither a check nor a verification is a rollout.
    assert fleet_report({"a": DONE})["hosts"]["a"]["rollout"] is None


def test_every_state_of_a_rollout_is_in_the_schema() -> None:
    assert SCHEMA["properties"]["rollout"]["enum"] == [*rollout.STATES, None]


def test_a_host_that_an_earlier_run_left_drained_is_said_to_be() -> None:
    drained = {**in_sync(), "drained": True}
    fleet = fleet_report({"a": {"plan": drained, "verification": PASSED}})
    assert fleet["hosts"]["a"]["drained"]
    assert fleet["table"].splitlines()[1].split()[:4] == ["a", "in", "sync", "-,"]
    assert not fleet_report({"a": {"plan": drained, "verification": PASSED, "drained": False}})["hosts"]["a"]["drained"]


def test_an_empty_fleet_is_an_empty_table() -> None:
    assert fleet_plan({})["table"].split()[0] == "HOST"
    assert fleet_report({})["hosts"] == {}


def test_gpus_are_counted_by_kind() -> None:
    mixed = planned(gpus=[gpu(), gpu("ffff", "0000:30:00.0"), gpu(address="0000:32:00.0")])
    assert " gfx90a, 1 x 1002:ffff  " in fleet_plan({"a": {"plan": mixed}})["table"]
    assert "  none  " in fleet_plan({"a": {"plan": planned(gpus=[])}})["table"]
