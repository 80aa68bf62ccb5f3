"""What a run looks like to an operator, from the events of made-up runs at three hosts and at three hundred."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress import Fleet, duration, job_text, stage_of
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_text import (
    Messages,
    cleaned,
    event_lines,
    failure_text,
    recap,
    sign_of_life,
)

PLAY = "Change the others, batch by batch"
SDK = ["gpufleet.rocm.rocm_sdk", "gpufleet.rocm.rocm_repo"]
VERIFY = ["gpufleet.rocm.rocm_verify"]


def fleet_of(*names: str) -> Fleet:
    fleet = Fleet(0.0)
    fleet.begin_play(PLAY, names)
    return fleet


def texts(fleet: Fleet, now: float) -> list[str]:
    return [line.text for line in event_lines(fleet.take_events(), fleet, now)]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (7.9, "7s"), (60, "1m00s"), (130, "2m10s"), (3599, "59m59s"), (3900, "1h05m")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_stage_is_the_outermost_role_and_ends_with_the_next_task_elsewhere() -> None:
    fleet = fleet_of("n1")
    fleet.begin("n1", "Install", SDK, 1)
    assert fleet.hosts["n1"].stage == "sdk"
    fleet.end("n1", 9)
    # Waits for other hosts until 20; that is not part of the stage.
    fleet.begin("n1", "Access", [], 20)
    fleet.end("n1", 20)
    assert texts(fleet, 20) == ["[20s] n1: sdk started", "[20s] n1: sdk done after 8s"]


@pytest.mark.parametrize(
    ("role", "stage"), [("gpufleet.rocm.rocm_sdk", "sdk"), ("common", "common"), ("acme.web.nginx", "nginx")]
)
def test_stages_are_named_after_roles(role: str, stage: str) -> None:
    assert stage_of(role) == stage


def test_a_rollout_names_stages_that_several_roles_share() -> None:
    fleet = fleet_of("n1")
    fleet.note("n1", {"rocm_state": "rebooting"})
    fleet.begin("n1", "Reboot", ["gpufleet.rocm.rocm_driver"], 1)
    fleet.end("n1", 60)
    fleet.note("n1", {"rocm_state": "installing"})
    fleet.begin("n1", "Install", SDK, 61)
    fleet.end("n1", 62)
    fleet.note("n1", {"rocm_state": "done"})
    fleet.end_run()
    assert [event.stage for event in fleet.events] == ["reboot", "reboot", "sdk", "sdk"]
    assert fleet.state(fleet.hosts["n1"]) == "done"


def test_a_failure_that_is_rescued_is_forgotten_in_the_next_stage() -> None:
    fleet = fleet_of("n1")
    fleet.begin("n1", "Install", SDK, 1)
    fleet.end("n1", 2, "failed")
    assert fleet.state(fleet.hosts["n1"]) == "failed"
    fleet.begin("n1", "Go back", SDK, 3)
    assert fleet.state(fleet.hosts["n1"]) == "rescue"
    fleet.end("n1", 4, "failed")
    assert fleet.hosts["n1"].trouble_step == "Install"
    fleet.begin("n1", "Check", VERIFY, 5)
    assert fleet.state(fleet.hosts["n1"]) == "running"
    assert [event.outcome for event in fleet.events] == ["started", "failed", "started"]


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"rocm_failure": {"kind": "unreachable"}}, "unreachable"),
        ({"rocm_failure": {"kind": "task"}}, "failed"),
        ({"rocm_state": "failed"}, "failed"),
        ({"rocm_plan_result": {"refusals": [{"id": "gpu-none"}]}}, "refused"),
        ({"rocm_plan_result": {"refusals": []}}, "waiting"),
        ({"something": 1}, "waiting"),
    ],
)
def test_what_the_playbooks_note_stays(facts: dict[str, Any], state: str) -> None:
    fleet = fleet_of("n1")
    fleet.begin("n1", "Keep the reason", [], 1)
    fleet.end("n1", 2)
    fleet.note("n1", facts)
    fleet.begin("n1", "Check", VERIFY, 3)
    fleet.end("n1", 4)
    assert fleet.state(fleet.hosts["n1"]) == state


def test_a_host_that_a_play_leaves_alone_is_idle_and_its_clock_stands() -> None:
    fleet = fleet_of("n1", "n2")
    fleet.begin("n1", "Check", VERIFY, 10)
    fleet.end("n1", 15)
    fleet.begin_play("Another", ["n2"])
    assert fleet.state(fleet.hosts["n1"]) == "idle"
    assert fleet.elapsed(fleet.hosts["n1"], 100) == 5
    assert fleet.elapsed(fleet.hosts["n2"], 100) == 0
    assert texts(fleet, 100)[-1] == "[1m40s] n1: verify done after 5s"


@pytest.mark.parametrize(
    ("action", "arguments", "text"),
    [
        ("ansible.builtin.apt", {"name": ["rocm-hip-sdk=6.0.0.60000-91"]}, "installing rocm-hip-sdk"),
        ("apt", {"name": ["a", "b", "c", "d"], "state": "present"}, "installing a, b and 2 more"),
        ("ansible.builtin.apt", {"name": ["amdgpu-dkms"], "state": "absent"}, "removing amdgpu-dkms"),
        ("ansible.builtin.command", {"argv": ["dkms", "install", 5]}, "dkms install 5"),
        ("command", {"_raw_params": "sleep 9"}, "sleep 9"),
        ("ansible.builtin.apt", {"update_cache": True}, ""),
        ("ansible.builtin.get_url", {"url": "x"}, ""),
    ],
)
def test_a_job_says_what_it_does(action: str, arguments: dict[str, Any], text: str) -> None:
    assert job_text(action, arguments) == text


def test_waiting_for_a_job_is_shown_as_the_job_since_its_start() -> None:
    fleet = fleet_of("n1")
    fleet.begin("n1", "Begin to install", SDK, 1)
    fleet.end("n1", 2)
    fleet.begin_job("n1", "installing rocm-hip-sdk", 2)
    fleet.begin("n1", "Wait", SDK, 3, waits=True)
    assert [line.text for line in sign_of_life(fleet, 132, quiet=False)] == [
        "[2m12s] n1: sdk: installing rocm-hip-sdk, 2m10s so far"
    ]
    fleet.end("n1", 140)
    fleet.begin("n1", "Take back", SDK, 141)
    assert fleet.hosts["n1"].step == "Take back"


def test_a_sign_of_life_names_long_steps_once() -> None:
    fleet = fleet_of(*(f"node{number:03}" for number in range(1, 301)))
    for number in range(1, 301):
        fleet.begin(f"node{number:03}", f"Step {1 + number % 8}", SDK, number % 8)
    lines = [line.text for line in sign_of_life(fleet, 60, quiet=False)]
    assert len(lines) == 6
    assert lines[0].endswith(": sdk: Step 1, 1m00s so far")
    assert lines[-1].startswith("[1m00s] and other steps on node[")
    short = fleet_of("n1")
    short.begin("n1", "Look", [], 0)
    assert sign_of_life(short, 2, quiet=False) == []
    assert [line.text for line in sign_of_life(short, 2, quiet=True)] == ["[2s] n1: Look, 2s so far"]
    short.end("n1", 2)
    assert sign_of_life(short, 60, quiet=True) == []


def test_events_of_a_large_fleet_share_lines() -> None:
    names = [f"node{number:03}" for number in range(1, 301)]
    fleet = fleet_of(*names)
    for index, name in enumerate(names):
        fleet.begin(name, "Install", SDK, 0)
        fleet.end(name, 100 + index, "failed" if index == 7 else "")
    fleet.end_run()
    assert texts(fleet, 400) == [
        "[6m40s] node[001-300]: sdk started",
        "[6m40s] node[001-007,009-300]: sdk done after 1m40s to 6m39s",
        "[6m40s] node008: sdk failed after 1m47s",
    ]


def test_equal_messages_are_shown_once_and_none_waits_for_long() -> None:
    messages = Messages()
    for second in range(10):
        messages.add(second, "failed: Check", "found a\nNext: b", "failed", f"n{second + 1}")
        assert messages.take(second + 0.5) == []
    assert [line.text for line in messages.take(10)] == ["\nn[1-10]: failed: Check\nfound a\nNext: b"]
    messages.add(20, "Table", "HOST  PLAN")
    assert [line.text for line in messages.take()] == ["\nTable\nHOST  PLAN"]
    assert messages.take() == []


def test_a_failure_is_told_in_full_without_what_moves_the_cursor() -> None:
    result = {"msg": "non-zero return code", "rc": 2, "stderr": "\x1b[31mno\x1b[0m space", "stdout": "one\rtwo"}
    assert cleaned(failure_text(result)) == (
        "non-zero return code (exit status 2)\nstderr:\n  no space\nstdout:\n  one\n  two"
    )
    assert failure_text({"censored": "hidden"}) == "hidden"
    assert failure_text({}) == "no message"
    long = "x" * 10_000
    assert failure_text({"msg": long}) == long


def counted(**numbers: int) -> dict[str, int]:
    return {"ok": 5, "changed": 0, **numbers}


def test_the_recap_has_a_row_per_host_or_per_outcome() -> None:
    small = recap({"n10": counted(), "n2": counted(failures=1)}, 70)
    assert [line.text for line in small] == [
        "\nRECAP after 1m10s",
        "n2   ok=5  changed=0  failures=1",
        "n10  ok=5  changed=0",
    ]
    assert [line.state for line in small[1:]] == ["failed", "done"]
    large = recap({f"n{number}": counted(unreachable=int(number == 5)) for number in range(1, 301)}, 1)
    assert [line.text for line in large[1:]] == [
        "n[1-4,6-300]  ok=5  changed=0",
        "n5            ok=5  changed=0  unreachable=1",
    ]
    assert recap({}, 0)[1].text == "no hosts"
