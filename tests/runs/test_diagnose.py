"""Real runs of diagnose.yml: on a text without hosts, on hosts whose facts are made up, and with remedy=apply."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.runs.test_exit_status import PLAYBOOK, ROOT, STAND_IN, WISHES, Controller, Run, host
from tests.unit.documents import planned
from tests.unit.facts_builder import bare_server, booted, carried_out

CAPTURE = ROOT / "tests/captures/dmesg/01-atomics-rejected.txt"
# In place of a role: what ran, in which order.
ROLE = "- name: Note that this role ran\n  ansible.builtin.debug:\n    msg: ran %s\n"


def text_run(folder: Path, *options: str) -> Run:
    """diagnose.yml from the checkout, with the inventory of its ansible.cfg, which is the example."""
    command = [str(PLAYBOOK), "playbooks/diagnose.yml", "-e", f"rocm_report_dir={folder}", *options]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)
    files = {path.name: json.loads(path.read_text()) for path in folder.glob("*.json")}
    return Run(done.returncode, done.stdout + done.stderr, files)


def test_a_text_is_diagnosed_without_any_host(tmp_path: Path) -> None:
    run = text_run(tmp_path, "-e", f"diagnose_log={CAPTURE}", "--check")
    assert run.code == 3, run.output
    assert "1. pcie-atomics (often)" in run.output
    assert "example.com" not in run.output
    (document,) = run.files.values()
    assert list(run.files) == [f"{CAPTURE.name}.diagnose.json"]
    assert [row["id"] for row in document["diagnoses"]] == ["pcie-atomics"]


def test_a_healthy_text_ends_with_0(tmp_path: Path) -> None:
    run = text_run(tmp_path, "-e", f"diagnose_log={CAPTURE.with_name('09-dkms-driver-banner.txt')}")
    assert run.code == 0, run.output
    assert "nothing found" in run.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-e", "diagnose_log=/nowhere/log"], "/nowhere/log is not there; expected a text file"),
        (
            ["-e", f"diagnose_log={CAPTURE}", "-e", "diagnose_symptom=fast"],
            "diagnose_symptom is 'fast'; expected one of",
        ),
    ],
)
def test_what_cannot_be_read_is_said_once(tmp_path: Path, options: list[str], message: str) -> None:
    run = text_run(tmp_path, *options)
    assert run.code == 2
    assert message in " ".join(run.output.split())
    assert run.files == {}


class Diagnoser(Controller):
    """The collection with made-up hosts, where roles that change a host only say that they ran."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.collection / "plugins/action/rocm_diagnose.py").write_text(STAND_IN % "rocm_diagnose")
        (self.collection / "roles").unlink()
        for path in (ROOT / "roles").iterdir():
            tasks = self.collection / "roles" / path.name / "tasks"
            if path.name in ("rocm_plan", "rocm_verify"):
                tasks.parent.parent.mkdir(exist_ok=True)
                tasks.parent.symlink_to(path)
            else:
                tasks.mkdir(parents=True)
                (tasks / "main.yml").write_text(ROLE % path.name)

    def diagnose(self, hosts: dict[str, dict[str, Any]], *options: str) -> Run:
        inventory = self.folder / "hosts.json"
        inventory.write_text(json.dumps({"all": {"hosts": hosts}}))
        reports = self.folder / "reports"
        variables = json.dumps({"rocm_report_dir": str(reports), "ansible_become": False, **WISHES})
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(self.folder / "collections"),
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_NOCOLOR": "1",
        }
        command = [str(PLAYBOOK), "-i", str(inventory), "gpufleet.rocm.diagnose", "-e", variables, *options]
        done = subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True, check=False)
        files = {path.name: json.loads(path.read_text()) for path in reports.glob("*.json")}
        assert "[WARNING]" not in done.stdout + done.stderr, done.stdout + done.stderr
        return Run(done.returncode, done.stdout + done.stderr, files)


@pytest.fixture
def diagnoser(tmp_path: Path) -> Diagnoser:
    return Diagnoser(tmp_path)


def said(facts: dict[str, Any], *texts: tuple[str, str]) -> dict[str, Any]:
    """A host with these facts, on which rocm_diagnose reads these texts."""
    variables = host(facts)
    rows = [{"name": name, "source": name, "text": text} for name, text in texts]
    variables["answers"]["rocm_diagnose"] = {"texts": rows}
    return variables


def settled() -> dict[str, Any]:
    facts = bare_server()
    plan = planned()
    return booted(carried_out(facts, plan), plan)


def test_hosts_are_diagnosed_and_nothing_is_changed(diagnoser: Diagnoser) -> None:
    log = "[ 9.0] amdgpu 0000:2f:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2"
    run = diagnoser.diagnose(
        {"a": said(settled()), "b": said(settled(), ("kernel_log", log)), "c": said(bare_server())}
    )
    assert run.code == 3, run.output
    assert {name: row["state"] for name, row in run.files.items()} == {
        "a.diagnose.json": "clear",
        "b.diagnose.json": "found",
        "c.diagnose.json": "found",
    }
    assert [row["id"] for row in run.files["b.diagnose.json"]["diagnoses"] if row["role"] == "cause"] == ["gpu-hang"]
    assert "ran rocm_" not in run.output
    assert "changed=0" in run.output


def test_lost_hosts_do_not_stop_the_others(diagnoser: Diagnoser) -> None:
    run = diagnoser.diagnose({"a": said(settled()), "away": {}})
    assert run.code == 4, run.output
    assert run.files["away.diagnose.json"]["state"] == "unreachable"
    assert run.files["a.diagnose.json"]["state"] == "clear"


def test_a_remedy_says_what_it_runs_and_never_touches_the_driver(diagnoser: Diagnoser) -> None:
    run = diagnoser.diagnose({"a": said(bare_server())}, "-e", "remedy=apply")
    assert "access: add-to-groups ada" in run.output
    assert "ran rocm_sdk" in run.output
    assert "ran rocm_access" in run.output
    assert "ran rocm_driver" not in run.output
    assert run.output.index("access: add-to-groups ada") < run.output.index("ran rocm_sdk")


def test_a_remedy_leaves_a_refused_host_alone(diagnoser: Diagnoser) -> None:
    run = diagnoser.diagnose({"a": said(bare_server(users={"ada": None}))}, "-e", "remedy=apply")
    assert run.code == 3, run.output
    assert "Left alone: the host is refused: user-unknown" in run.output
    assert "ran rocm_" not in run.output


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("remedy=reboot", "Found remedy=reboot; expected apply, or nothing."),
        ("diagnose_symptom=fast", "diagnose_symptom is 'fast'; expected one of rocm-smi-silent,"),
    ],
)
def test_what_is_asked_for_is_checked_before_a_host_is_read(diagnoser: Diagnoser, option: str, message: str) -> None:
    run = diagnoser.diagnose({"a": said(bare_server())}, "-e", option)
    assert run.code == 2
    assert message in " ".join(run.output.split())
    assert "Read the host" not in run.output
    assert "ran rocm_" not in run.output
