"""Real ansible-playbook runs on hosts whose facts and answers are made up: exit status, output and JSON files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.exit_status import exit_status
from tests.unit.documents import planned, validate
from tests.unit.facts_builder import bare_server, carried_out

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
WISHES = {"rocm_version": "6.0", "rocm_pytorch_version": "2.3.0", "rocm_users": ["ada"]}
# Takes the place of a module: an action plugin runs on the controller and knows which host it is for.
STAND_IN = """
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        if "answers" not in task_vars:
            raise AnsibleConnectionFailure("Connection timed out")
        return task_vars["answers"]["%s"]
"""


@dataclass(frozen=True)
class Run:
    """Exit status, output and the JSON files by name."""

    code: int
    output: str
    files: dict[str, Any]


class Controller:
    """A copy of the collection in which the modules that read a host answer from its variables."""

    def __init__(self, folder: Path, stand_in: str = STAND_IN) -> None:
        self.folder = folder
        self.collection = folder / "collections/ansible_collections/gpufleet/rocm"
        (self.collection / "plugins/action").mkdir(parents=True)
        for name in ("playbooks", "roles", "meta", "galaxy.yml"):
            (self.collection / name).symlink_to(ROOT / name)
        for path in (ROOT / "plugins").iterdir():
            if path.name != "action":
                (self.collection / "plugins" / path.name).symlink_to(path)
        for path in (ROOT / "plugins/action").glob("*.py"):
            (self.collection / "plugins/action" / path.name).symlink_to(path)
        for module in ("rocm_facts", "rocm_probe", "rocm_verify"):
            (self.collection / f"plugins/action/{module}.py").write_text(stand_in % module)

    def play(
        self,
        playbook: str,
        hosts: dict[str, dict[str, Any]],
        *options: str,
        config: bool = True,
        wishes: dict[str, Any] | None = None,
    ) -> Run:
        """Run a playbook, by path or name, against hosts with these variables, with or without our ansible.cfg."""
        inventory = self.folder / "hosts.json"
        inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
        reports = self.folder / "reports"
        wishes = WISHES if wishes is None else wishes
        variables = json.dumps({"rocm_report_dir": str(reports), "ansible_become": False, **wishes})
        path = playbook if "/" in playbook else f"gpufleet.rocm.{playbook}"
        command = [str(PLAYBOOK), "-i", str(inventory), path, "-e", variables, *options]
        other_config = self.folder / "other.cfg"
        other_config.touch()
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg" if config else other_config),
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder / "collections"),
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_NOCOLOR": "1",
        }
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        files = {path.name: json.loads(path.read_text()) for path in reports.glob("*.json")}
        for document in files.values():
            validate(document)
        if config:
            assert not re.findall(r"\[(?:WARNING|DEPRECATION WARNING)\].*", done.stdout), done.stdout
        return Run(done.returncode, done.stdout, files)


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path)


def host(facts: dict[str, Any], **variables: Any) -> dict[str, Any]:
    """Variables of a host with these facts, whose servers give healthy answers, and which passes verification."""
    probe: dict[str, Any] = {"urls": {}, "keys": {}}
    check = {"id": "rocminfo", "status": "passed", "evidence": "", "seconds": 0.1}
    verified = {"passed": True, "user": "ada", "checks": [check]}
    read = {"ansible_facts": {"rocm": facts}}
    return {"answers": {"rocm_facts": read, "rocm_probe": probe, "rocm_verify": verified}, **variables}


def broken(row: dict[str, Any]) -> dict[str, Any]:
    """The same host where a check fails."""
    check = {"id": "rocminfo", "status": "failed", "evidence": "no agents", "seconds": 0.1}
    verified = {"passed": False, "user": "ada", "checks": [check]}
    return {**row, "answers": {**row["answers"], "rocm_verify": verified}}


BARE = host(bare_server())
SETTLED = host(carried_out(bare_server(), planned()))
REFUSED = host(bare_server(users={"ada": None}))
INVALID = host(bare_server(), rocm_driver_mode="fast")
AWAY: dict[str, Any] = {}

PLANS = [
    ("in sync", {"a": SETTLED}, 0),
    ("pending", {"a": SETTLED, "b": BARE}, 2),
    ("all refused", {"a": REFUSED}, 3),
    ("a failure outranks a refusal", {"a": REFUSED, "b": INVALID}, 2),
    ("all unreachable", {"a": AWAY}, 4),
]


@pytest.mark.parametrize(("name", "hosts", "code"), PLANS, ids=[plan[0] for plan in PLANS])
def test_exit_status_of_a_plan(controller: Controller, name: str, hosts: dict[str, Any], code: int) -> None:
    run = controller.play("plan", hosts)
    assert run.code == code, run.output
    assert sorted(run.files) == [f"{host}.plan.json" for host in sorted(hosts)], name
    assert "HOST  PLAN" in run.output


def test_no_host_stops_another_and_each_says_why(controller: Controller) -> None:
    """Host e goes on after its plan and is lost there: nothing listens at its address."""
    hosts = {"a": SETTLED, "b": REFUSED, "c": INVALID, "d": AWAY, "e": {**BARE, "ansible_host": "127.0.0.1"}}
    run = controller.play("site", hosts, "-e", "ansible_port=1 ansible_ssh_retries=0")
    assert run.code == 4, run.output
    assert {name: row["state"] for name, row in run.files.items()} == {
        "a.json": "in sync",
        "b.json": "refused",
        "c.json": "failed",
        "d.json": "unreachable",
        "e.json": "unreachable",
    }
    assert run.files["c.json"]["reason"].startswith("invalid arguments: value of rocm_driver_mode must be one of")
    assert run.files["d.json"]["reason"] == "Connection timed out"
    tables = run.output.split("HOST  ")[1:]
    assert [table.split()[0] for table in tables] == ["PLAN", "RESULT"]
    # The last thing before Ansible's own recap, where an operator sees it.
    assert "TASK [" not in tables[1]


VERIFIED = [
    ("in sync", SETTLED, "in sync", 0),
    ("drifted", host(bare_server()), "drift", 2),
    ("works, and would be refused", REFUSED, "drift", 2),
    ("a check fails", broken(SETTLED), "failed", 2),
    ("invalid", INVALID, "failed", 2),
    ("unreachable", AWAY, "unreachable", 4),
]


@pytest.mark.parametrize(("name", "row", "state", "code"), VERIFIED, ids=[row[0] for row in VERIFIED])
def test_exit_status_of_a_verification(
    controller: Controller, name: str, row: dict[str, Any], state: str, code: int
) -> None:
    """And the report alone says the same of it afterwards."""
    run = controller.play("verify", {"a": row, "b": SETTLED})
    assert (run.code, run.files["a.json"]["state"]) == (code, state), run.output
    if state == "drift":
        assert "site.yml would" in run.output or "Refused:" in run.output, name
    again = controller.play("report", {"a": AWAY, "b": AWAY})
    assert (again.code, again.files) == (code, run.files), again.output
    assert "nothing ran for these hosts now:" in again.output
    assert "unchanged since " in again.output


def test_a_report_without_any_run_says_so(controller: Controller) -> None:
    assert controller.play("verify", {"a": SETTLED}).code == 0
    (controller.folder / "reports/b.json").write_text("{}")
    run = controller.play("report", {"a": AWAY, "b": SETTLED, "c": SETTLED})
    assert run.code == 2, run.output
    assert {name: row["state"] for name, row in run.files.items()} == {
        "a.json": "in sync",
        **dict.fromkeys(["b.json", "c.json"], "failed"),
    }
    assert "neither this run nor an earlier one left a result" in run.files["c.json"]["reason"]
    assert "Next: run playbooks/verify.yml" in run.output


TYPOS: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"rocm_users": {"ada": 1}}, "failed", ["rocm_users", "Next: correct the variable in the inventory"]),
    (
        {"rocm_users": ["no spaces"]},
        "refused",
        ["rocm_users is 'no spaces'; expected a list", "Next: correct rocm_users"],
    ),
    ({"rocm_users": "ada"}, "refused", ["rocm_users is 'ada'; expected a list", "Next: correct rocm_users"]),
    ({"rocm_reboot_ok": "maybe"}, "failed", ["'maybe' is not a valid boolean", "Next: correct the variable"]),
    (
        {"rocm_version": 7.1},
        "refused",
        ["an unquoted 7.1, which YAML makes of 7.1 and 7.10 alike", "Next: write '7.1' or"],
    ),
    (
        {"rocm_version": 6},
        "refused",
        ["6 is not a version number; expected two to four numbers", "Next: give a number"],
    ),
    ({"rocm_pytorch_version": 2.1}, "refused", ["rocm_pytorch_version is 2.1; expected", "in quotes", "Next: correct"]),
    ({"rocm_expect_gpus": "8x"}, "refused", ["rocm_expect_gpus is '8x'; expected a number", "Next: correct"]),
]


def test_a_wish_of_the_wrong_type_is_told_with_what_to_do(controller: Controller) -> None:
    hosts = {f"n{number}": {**BARE, **wish} for number, (wish, _, _) in enumerate(TYPOS)}
    run = controller.play("plan", hosts, wishes={})
    assert run.code == 2, run.output
    for number, (wish, state, told) in enumerate(TYPOS):
        document = run.files[f"n{number}.plan.json"]
        assert document["state"] == state, (wish, document["reason"])
        assert all(part in document["reason"] for part in told), (wish, document["reason"])


def test_another_configuration_still_fails_a_run_with_refusals(controller: Controller) -> None:
    run = controller.play("plan", {"a": BARE, "b": REFUSED}, config=False)
    assert run.code == 2, run.output
    assert sorted(run.files) == ["a.plan.json", "b.plan.json"]


def test_the_table_is_shown_even_when_the_files_cannot_be_written(controller: Controller) -> None:
    (controller.folder / "reports").touch()
    run = controller.play("plan", {"a": BARE})
    assert run.code == 2
    assert "Next: correct rocm_report_dir" in run.output
    assert "a     will change" in run.output


def outcome(**names: list[str]) -> dict[str, list[str]]:
    return {"unreachable": [], "failed": [], "refused": [], "pending": [], **names}


@pytest.mark.parametrize(
    ("told", "failed", "dark", "expected"),
    [
        (outcome(), [], [], None),
        (outcome(pending=["a"]), [], [], 2),
        (outcome(pending=["a"], refused=["b"]), ["b"], [], 3),
        (outcome(refused=["b"], failed=["c"]), ["b", "c"], [], None),
        (outcome(pending=["a"]), ["c"], [], None),
        (outcome(refused=["b"], unreachable=["c"], failed=["d"]), ["b", "c", "d"], [], 4),
        (outcome(refused=["b"], pending=["a"]), ["b"], ["c"], None),
    ],
)
def test_the_worst_outcome_counts(
    told: dict[str, list[str]], failed: list[str], dark: list[str], expected: int | None
) -> None:
    assert exit_status(told, dict.fromkeys(failed, 1), dict.fromkeys(dark, 1)) == expected
