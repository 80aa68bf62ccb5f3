"""Hosts of the sandbox for the tests, and a way to run a playbook against one of them as an operator would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox import world
from sandbox.fleet import hosts, ssh
from sandbox.fleet.hosts import Host
from sandbox.upstream import faults

ROOT = Path(__file__).resolve().parents[2]
CALLBACKS = Path(__file__).resolve().parent / "callbacks"
ANSIBLE_PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
# Everything that a run could change. Logs, caches of the runtime and the kernel's own files are not configuration.
SNAPSHOT = r"""
find /etc /opt /usr/local /var/lib/apt/lists /var/lib/dpkg/info /var/backups /home -xdev -type f \
  ! -name '*-' ! -path '/home/*/.ansible/*' -printf '%p %m %u %g ' -exec sha256sum {} \; | sort
dpkg-query -W; getent group render video; ls /tmp
"""


@dataclass(frozen=True)
class Run:
    """What one ansible-playbook run left: exit status, output, and the host's report."""

    code: int
    output: str
    report: dict[str, Any]
    tasks: list[dict[str, Any]]

    def executed(self, host: str) -> list[dict[str, Any]]:
        """The task results of a host that were not skipped, as Ansible's callbacks had them."""
        return [row for row in self.tasks if row["host"] == host and row["status"] != "skipped"]

    @property
    def changing_roles(self) -> set[str]:
        """The roles in which a task reported a change."""
        return {row["role"].rpartition(".")[2] for row in self.tasks if row["changed"]}

    @property
    def refusals(self) -> list[str]:
        """Ids of the refusals in the report."""
        return [finding["id"] for finding in self.report.get("refusals", [])]


class Target:
    """One sandbox host."""

    def __init__(self, host: Host, folder: Path) -> None:
        self.host = host
        self.folder = folder

    def shell(self, script: str) -> str:
        """Output of a shell script run as root on the host."""
        command = ssh.command(self.host.address, "sudo", "sh", "-s")
        done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def snapshot(self) -> str:
        """Everything on the host that a run could change, as text."""
        return self.shell(SNAPSHOT)

    def play(self, playbook: str = "site.yml", *options: str, **variables: Any) -> Run:
        """Run a playbook against this host alone, with these wishes."""
        group = {"mi250": "mi250", "mi300x": "mi300x"}.get(self.host.profile, "cpu_only")
        inventory = self.folder / "inventory"
        inventory.mkdir(exist_ok=True)
        if not (inventory / "group_vars").exists():
            (inventory / "group_vars").symlink_to(ROOT / "inventories" / "sandbox" / "group_vars")
        entry = {"ansible_host": self.host.address}
        tree = {"sandbox": {"children": {group: {"hosts": {self.host.name: entry}}}}}
        (inventory / "hosts.json").write_text(json.dumps(tree))
        reports = self.folder / "reports"
        name = f"{self.host.name}.check" if "--check" in options else self.host.name
        report = reports / f"{name}.json"
        report.unlink(missing_ok=True)
        settings = {"sandbox_cache": str(ROOT / ".cache" / "sandbox"), "rocm_report_dir": str(reports), **variables}
        command = [str(ANSIBLE_PLAYBOOK), "-i", str(inventory), playbook, "-e", json.dumps(settings), *options]
        log = self.folder / "tasks.jsonl"
        log.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_CALLBACK_PLUGINS": str(CALLBACKS),
            "ANSIBLE_CALLBACKS_ENABLED": "task_log,gpufleet.rocm.exit_status",
            "TASK_LOG": str(log),
        }
        done = subprocess.run(
            command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        tasks = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return Run(done.returncode, done.stdout, json.loads(report.read_text()) if report.exists() else {}, tasks)


@pytest.fixture(scope="session", autouse=True)
def _upstream() -> None:
    """The stand-in servers, up and well-behaved."""
    world.upstream_up()
    faults.clear()


@pytest.fixture(autouse=True)
def _no_faults() -> Iterator[None]:
    """Each test sets the faults it needs; none outlives it."""
    yield
    faults.clear()


def make_target(name: str, address: str, profile: str, folder: Path) -> Iterator[Target]:
    """A fresh host that lives as long as the fixture."""
    host = Host(name, address, profile)
    hosts.create_all([host])
    yield Target(host, folder)
    hosts.purge(name)


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A host without GPU that every test must leave as it found it."""
    yield from make_target("test-bare", "10.77.0.31", "cpu", tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A host with two MI250 functions, brought to ROCm without PyTorch once; tests may drift it and put it right."""
    for target in make_target("test-settled", "10.77.0.32", "mi250", tmp_path_factory.mktemp("settled")):
        first = target.play(rocm_pytorch=False)
        assert first.code == 0, first.output[-4000:]
        yield target
