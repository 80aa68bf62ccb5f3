"""Rollouts by real ansible-playbook runs: hosts whose roles, facts and checks are made up and remembered in files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import rollout
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import command_line
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from tests.runs.test_exit_status import AWAY, REFUSED, ROOT, Controller, Run
from tests.runs.test_exit_status import host as host_with
from tests.unit.documents import plan_of, planned
from tests.unit.facts_builder import answers, bare_server, booted, carried_out, wishes

# Every stand-in of these tests is this action. A host breaks or is lost at the event that its variables name.
STAND_IN = """
from pathlib import Path

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        host, folder = task_vars["inventory_hostname"], Path(task_vars["world"])
        event = self._task.args.get("event", self._task.action.rpartition("_")[2])
        if "answers" not in task_vars or task_vars.get("lost_at") == event:
            raise AnsibleConnectionFailure("Connection timed out")
        installed = folder / "installed" / host
        if event == "facts":
            facts = task_vars["answers"]["rocm_facts"]["ansible_facts"]["rocm"]
            facts = task_vars["after"] if installed.exists() else facts
            return {"ansible_facts": {"rocm": {**facts, "drained": (folder / host / "drained").exists()}}}
        if event == "probe":
            return task_vars["answers"]["rocm_probe"]
        with open(folder / "events", "a") as log:
            log.write(host + " " + event + "\\n")
        if event == "verify":
            status = "failed" if task_vars.get("breaks_at") == "verify" else "passed"
            check = {"id": "rocminfo", "status": status, "evidence": "no agents", "seconds": 0.1}
            return {"passed": status == "passed", "user": "ada", "checks": [check]}
        if task_vars.get("breaks_at") == event:
            return {"failed": True, "msg": event + " does not work"}
        if event in ("install", "rocm_access"):
            installed.parent.mkdir(exist_ok=True)
            installed.touch()
        return {}
"""
RECORD = "- name: {name}\n  gpufleet.rocm.record:\n    event: {event}\n"
AFTER = booted(carried_out(bare_server(), planned()), planned())


class World(Controller):
    """Hosts that remember what was done to them, so that a second run finds it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ("record", "rocm_facts", "rocm_probe", "rocm_verify"):
            (self.collection / f"plugins/action/{name}.py").write_text(STAND_IN)
        roles = self.collection / "roles"
        roles.unlink()
        roles.mkdir()
        for path in (ROOT / "roles").iterdir():
            if path.name in ("rocm_plan", "rocm_verify"):
                (roles / path.name).symlink_to(path)
            else:
                self.write_role(path.name, "main", "install" if path.name == "rocm_driver" else path.name)
        self.write_role("rocm_driver", "reboot", "reboot")
        (folder / "hook.yml").write_text(RECORD.format(name="Do as told", event='"{{ rocm_verb }}"'))

    def write_role(self, role: str, entry: str, event: str) -> None:
        """A role that only leaves a note."""
        tasks = self.collection / "roles" / role / "tasks"
        tasks.mkdir(parents=True, exist_ok=True)
        (tasks / f"{entry}.yml").write_text("---\n" + RECORD.format(name="Stand in", event=event))

    def roll(self, hosts: dict[str, dict[str, Any]], playbook: str = "driver", *options: str, **wishes: Any) -> Run:
        """Run a rollout."""
        (self.folder / "events").unlink(missing_ok=True)
        variables = {
            "world": str(self.folder),
            "rocm_drained_note": f"{self.folder}/{{{{ inventory_hostname }}}}/drained",
            "ansible_connection": "local",
            **wishes,
        }
        return self.play(playbook, hosts, "-e", json.dumps(variables), *options)

    @property
    def hooks(self) -> dict[str, str]:
        """Wishes under which a host is drained and restored."""
        hook = str(self.folder / "hook.yml")
        return {"rocm_drain_tasks": hook, "rocm_restore_tasks": hook}

    def events(self, host: str = "") -> list[str]:
        """What was done, in order, to all hosts (``host event``) or to one (``event``)."""
        path = self.folder / "events"
        rows = path.read_text().splitlines() if path.exists() else []
        return [row.removeprefix(f"{host} ") for row in rows if row.startswith(f"{host} ")] if host else rows

    def worked_on(self) -> list[str]:
        """The hosts on which the driver was installed, in order."""
        return [row.split()[0] for row in self.events() if row.endswith(" install")]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def bare(**variables: Any) -> dict[str, Any]:
    return host_with(bare_server(), after=AFTER, **variables)


def settled(**variables: Any) -> dict[str, Any]:
    return host_with(AFTER, after=AFTER, **variables)


def states(run: Run) -> dict[str, str | None]:
    return {name.split(".")[0]: document["rollout"] for name, document in run.files.items()}


def fleet(size: int = 10, **special: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"n{number}": special.get(f"n{number}", bare()) for number in range(1, size + 1)}


def names(first: int, last: int) -> list[str]:
    return [f"n{number}" for number in range(first, last + 1)]


def test_a_failed_canary_leaves_the_others_waiting_and_a_second_run_goes_on(world: World) -> None:
    run = world.roll(fleet(n1=bare(breaks_at="verify")), **world.hooks)
    assert run.code == 2, run.output
    assert world.events() == ["n1 drain", "n1 rocm_repo", "n1 install", "n1 verify"]
    assert states(run) == {"n1": "failed", **dict.fromkeys(names(2, 10), "waiting")}
    assert [name for name, row in run.files.items() if row["drained"]] == ["n1.json"]
    stopped = "1 of 1 hosts failed so far (n1), more than the 0 % of rocm_max_fail_percentage"
    assert run.files["n2.json"]["reason"] == stopped
    end = run.output[run.output.index("Left to do:") : run.output.index("PLAY RECAP")].splitlines()
    assert [line.strip() for line in end[1:4]] == [
        f"no further batch started: {stopped}  [n[2-10]]",
        "still drained; a run gives them back once their checks pass  [n1]",
        "Next: put right what is said above about n1, then run the same command again; "
        "it skips the hosts that are finished:",
    ]
    assert end[4].strip().startswith("ansible-playbook -i ")
    assert " gpufleet.rocm.driver -e " in end[4]

    again = world.roll(fleet(3), **world.hooks)
    assert again.code == 0, again.output
    # It is as wanted now: only checked, and given back.
    assert world.events()[:2] == ["n1 verify", "n1 restore"]
    assert world.events("n1") == ["verify", "restore"]
    assert world.events("n2") == ["drain", "rocm_repo", "install", "verify", "restore"]
    assert [again.files[f"n{number}.json"]["rollout"] for number in (1, 2, 3)] == ["done", "done", "done"]
    assert not any(again.files[f"n{number}.json"]["drained"] for number in (1, 2, 3))
    assert "Left to do:" not in again.output

    last = world.roll(fleet(4), **world.hooks)
    assert last.code == 0, last.output
    assert [last.files[f"n{number}.json"]["rollout"] for number in range(1, 5)] == ["skipped"] * 3 + ["done"]
    assert [world.events(f"n{number}") for number in (1, 2, 3)] == [["verify"]] * 3


@pytest.mark.parametrize(("percentage", "finished"), [(0, 5), (30, 10)])
def test_a_failure_in_a_batch_stops_the_next_one_where_it_is_too_many(
    world: World, percentage: int, finished: int
) -> None:
    """The second batch is n2 to n5: one of five hosts so far is a fifth. Sizes are the inventory's."""
    hosts = fleet(10, n3=bare(breaks_at="install"))
    for row in hosts.values():
        row["rocm_serial"] = [1, "4", "100%"]
    run = world.roll(hosts, rocm_max_fail_percentage=percentage)
    assert run.code == 2, run.output
    waiting = names(finished + 1, 10)
    expected = {**dict.fromkeys(names(1, 10), "done"), **dict.fromkeys(waiting, "waiting"), "n3": "failed"}
    assert states(run) == expected
    assert sorted(world.worked_on()) == sorted(set(names(1, 10)) - set(waiting))
    assert ("1 of 5 hosts failed so far (n3)" in run.output) is bool(waiting)


def test_refused_hosts_and_those_without_a_plan_do_not_stop_a_rollout(world: World) -> None:
    run = world.roll(fleet(5, n1=REFUSED, n3=REFUSED, n4=AWAY), rocm_serial=1)
    assert run.code == 4, run.output
    assert states(run) == {"n1": None, "n2": "done", "n3": None, "n4": None, "n5": "done"}
    assert [run.files[f"{name}.json"]["state"] for name in names(1, 4)] == ["refused", "done", "refused", "unreachable"]


def test_names_that_would_be_patterns_are_names(world: World) -> None:
    """Only the first canary is worked on, and afterwards every host exactly once."""
    strange = ["a,b", "a:b", "~n.*", "!n2", "&n2", "n*", "n?", "x y", "fe80::1"]
    hosts = {name: bare() for name in [*strange, "n2", "n3"]}
    run = world.roll(hosts, rocm_serial=["1", "100%"])
    assert run.code == 0, run.output
    assert world.worked_on()[:1] == ["a,b"]
    assert sorted(row for row in world.events() if row.endswith(" install")) == sorted(
        f"{name} install" for name in hosts
    )
    assert {document["rollout"] for document in run.files.values()} == {"done"}
    assert sorted(document["host"] for document in run.files.values()) == sorted(hosts)


def test_a_host_in_sync_that_fails_its_checks_stops_a_rollout_before_the_first_batch(world: World) -> None:
    run = world.roll(fleet(3, n2=settled(breaks_at="verify")))
    assert run.code == 2, run.output
    assert states(run) == {"n1": "waiting", "n2": "failed", "n3": "waiting"}
    assert world.worked_on() == []


WHOLE = ["drain", "rocm_repo", "install", "reboot", "verify", "restore"]


def test_each_step_follows_the_one_before_and_none_follows_a_failure(world: World) -> None:
    driver_alone = booted(carried_out(bare_server(), only_driver()), only_driver())
    hosts = {
        "good": bare(),
        "lost": bare(lost_at="install"),
        "new": host_with(bare_server(), after=driver_alone),
        "blind": host_with(bare_server(), after={**driver_alone, "kfd": bare_server()["kfd"]}),
        **{f"{event}s": bare(breaks_at=event) for event in WHOLE if event != "rocm_repo"},
    }
    run = world.roll(hosts, rocm_serial=["100%"], rocm_reboot_ok=True, **world.hooks)
    assert run.code == 4, run.output
    assert world.events("good") == WHOLE
    for event in WHOLE:
        if event != "rocm_repo":
            assert world.events(f"{event}s") == WHOLE[: WHOLE.index(event) + 1]
            assert run.files[f"{event}s.json"]["drained"]
    assert run.files["reboots.json"]["reason"].endswith("reboot does not work")
    assert world.events("lost") == ["drain", "rocm_repo"]
    # Nothing can be run on a GPU there yet: the kernel is asked.
    assert world.events("new") == ["drain", "rocm_repo", "install", "reboot", "restore"]
    assert world.events("blind") == ["drain", "rocm_repo", "install", "reboot"]
    assert run.files["blind.json"]["reason"] == "compute-device: kfd-missing: /dev/kfd does not exist"
    assert states(run) == {
        **{f"{event}s": "failed" for event in WHOLE if event != "rocm_repo"},
        **{"good": "done", "new": "done", "blind": "failed", "lost": "installing"},
    }
    assert run.files["lost.json"]["state"] == "unreachable"


def only_driver() -> dict[str, Any]:
    """The plan for a bare server of a run for the driver."""
    first = make_plan(bare_server(), wishes(), only=("repo", "driver"))
    return make_plan(bare_server(), wishes(), answers(first), only=("repo", "driver"))


def test_the_report_comes_even_when_every_host_of_a_batch_is_lost(world: World) -> None:
    run = world.roll(fleet(3, n1=bare(lost_at="reboot")), rocm_reboot_ok=True, **world.hooks)
    assert run.code == 4, run.output
    assert states(run) == {"n1": "rebooting", "n2": "waiting", "n3": "waiting"}
    end = run.output[run.output.index("HOST  RESULT") :]
    assert "n1    unreachable  rebooting, drained" in end
    assert "no further batch started: the run ended when it had lost every host of a batch  [n2, n3]" in end


def test_only_hosts_whose_gpus_are_taken_away_are_drained(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And a host in sync costs at most six tasks, of which the report at the end is none."""
    log = tmp_path / "tasks.jsonl"
    monkeypatch.setenv("ANSIBLE_CALLBACK_PLUGINS", str(ROOT / "tests/integration/callbacks"))
    monkeypatch.setenv("ANSIBLE_CALLBACKS_ENABLED", "task_log,gpufleet.rocm.exit_status")
    monkeypatch.setenv("TASK_LOG", str(log))
    users = {"ada": {**AFTER["users"]["ada"], "groups": ["ada"]}}
    hosts = {"settled": settled(), "group": host_with({**AFTER, "users": users}, after=AFTER)}
    run = world.roll(hosts, "site", **world.hooks)
    assert run.code == 0, run.output
    assert states(run) == {"settled": "skipped", "group": "done"}
    assert world.events("settled") == ["verify"]
    assert world.events("group") == ["rocm_access", "verify"]
    assert "STATE" not in run.output
    rows = [row for row in map(json.loads, log.read_text().splitlines()) if row["host"] == "settled"]
    executed = [row["task"] for row in rows if row["status"] != "skipped" and not row["once"]]
    assert len(executed) == 5, executed
    assert len(rows) - len(executed) <= 10, rows


def test_check_mode_neither_drains_nor_waits(world: World) -> None:
    run = world.roll(fleet(3), "driver", "--check", rocm_serial=1, **world.hooks)
    assert run.code == 0, run.output
    assert {(row["state"], row["rollout"]) for row in run.files.values()} == {("will change", None)}
    assert not [row for row in world.events() if row.split()[1] in ("drain", "verify", "restore")]


# What stands in for the programs that the examples call: it writes down its words, and answers for a node at rest.
PROGRAM = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a") as log:
    log.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
print("drained" if "sinfo" in sys.argv[0] else "node/x cordoned")
"""
NODE = "n1; touch /tmp/never $(id) 'x"
SINFO = ["sinfo", "--noheader", "--nodes", NODE, "--format", "%T"]
KUBECTL_DRAIN = ["kubectl", "drain", NODE, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=60m"]
CALLED = [
    ["scontrol", "update", f"nodename={NODE}", "state=drain", "reason=gpufleet.rocm"],
    SINFO,
    ["kubectl", "cordon", NODE],
    KUBECTL_DRAIN,
    ["program", "drain", "script"],
    SINFO,
    ["scontrol", "update", f"nodename={NODE}", "state=resume"],
    ["kubectl", "uncordon", NODE],
    ["program", "restore", "script"],
]


def test_the_examples_of_hooks_call_their_programs_with_each_word_whole(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs, calls = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    for program in ("scontrol", "sinfo", "kubectl", "program"):
        (programs / program).write_text(PROGRAM.format(python=sys.executable))
        (programs / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(calls))
    hosts = {}
    for name in ("slurm", "kubernetes", "script"):
        hook = str(ROOT / f"playbooks/hooks/{name}.yml")
        hosts[name] = bare(rocm_drain_tasks=hook, rocm_restore_tasks=hook)
    nodes = {"rocm_slurm_node": NODE, "rocm_kubernetes_node": NODE, "rocm_hook_program": str(programs / "program")}
    run = world.roll(hosts, rocm_serial="1", **nodes)
    assert run.code == 0, run.output
    told = [json.loads(line) for line in calls.read_text().splitlines()]
    for program in ("scontrol", "sinfo", "kubectl", "program"):
        assert [words for words in told if words[0] == program] == [words for words in CALLED if words[0] == program]
    assert sorted(map(str, told)) == sorted(map(str, CALLED))


def test_progress_of_hosts_that_were_lost_or_never_part_of_it() -> None:
    change, in_sync = planned(), plan_of(AFTER)
    assert rollout.progress({"plan": change}) == "waiting"
    assert rollout.progress({"plan": in_sync}) == "verifying"
    assert rollout.progress({"plan": in_sync, "verification": {"checks": []}}) == "skipped"
    assert rollout.progress({"plan": {**in_sync, "drained": True}}) == "waiting"
    assert rollout.progress({"failure": {"kind": "task"}}) is None


def test_a_run_for_the_driver_has_no_other_actions_and_no_refusal_of_what_it_does_not_do() -> None:
    plan = only_driver()
    assert {row["stage"] for row in plan["actions"]} == {"repo", "driver"}
    assert plan["disruptive"]
    assert not plan["verify"]["user_space"]
    no_wheel = bare_server(python=[{"path": "/usr/bin/python3.4", "version": "3.4", "default": True, "venv": True}])
    assert make_plan(no_wheel, wishes())["state"] == "refused"
    assert make_plan(no_wheel, wishes(), only=("repo", "driver"))["state"] == "change"
    settled_plan = make_plan(AFTER, wishes(), only=("repo", "driver"))
    assert settled_plan["in_sync"]
    assert settled_plan["verify"]["user_space"]
    assert not settled_plan["disruptive"]


def test_the_share_of_failures_must_be_exceeded() -> None:
    hosts = {f"n{number}": {"plan": planned(), "state": "done"} for number in range(1, 4)}
    hosts["n4"] = {"plan": planned(), "state": "rebooting"}
    hosts["n5"] = {"plan": planned()}
    assert rollout.stop_reason(hosts, 24).startswith("1 of 4 hosts failed so far (n4), more than the 24 %")
    assert rollout.stop_reason(hosts, 25) == ""
    assert rollout.stop_reason({"n5": hosts["n5"]}, 0) == ""


def test_the_command_is_told_without_secrets() -> None:
    words = [
        "/usr/bin/ansible-playbook",
        "-i",
        "my hosts",
        "-e",
        "db_password=x",
        "-e@vars.yml",
        "--extra-vars=TOKEN=1",
    ]
    told = "ansible-playbook -i 'my hosts' -e ... -e@vars.yml --extra-vars=..."
    assert command_line(words) == told
