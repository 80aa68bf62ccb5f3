"""What a run costs the controller, without any host: ``python -m tests.bench.controller [--profile] [SIZE ...]``.

Real ansible-playbook runs on fleets of made-up servers with eight cards. What reads or checks a host is answered on the
controller from a file, so that connections and the hosts' own work are left out and all that is measured is Ansible and
this collection. Per playbook and size: CPU of all processes, per host, and the largest process.
"""

from __future__ import annotations

import argparse
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.runs.test_exit_status import PLAYBOOK, ROOT, Controller
from tests.unit.documents import plan_of
from tests.unit.facts_builder import booted, carried_out
from tests.unit.module_utils import hosts
from tests.unit.module_utils.tree import write_tree

SIZES = (50, 200, 500)
# Each host as one of the kinds of ``kinds()``, in turn; a run that changes hosts needs hosts.
FLEETS = {"plan": ("settled", "bare", "refused", "away"), "verify": ("settled",), "site": ("settled",)}
WISHES = {"rocm_version": "7.2", "rocm_pytorch": False, "rocm_users": ["alice", "bob"], "ansible_become": False}
STAND_IN = """
import json
from pathlib import Path

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        path = Path(task_vars["answers_folder"], task_vars["kind"] + ".json")
        if not path.exists():
            raise AnsibleConnectionFailure(task_vars["inventory_hostname"] + ": connection timed out")
        return json.loads(path.read_text())["%s"]
"""


@dataclass(frozen=True)
class Cost:
    """One run: seconds, CPU seconds of all its processes, and MiB of the largest."""

    seconds: float
    cpu: float
    peak: float


def kinds() -> dict[str, dict[str, Any]]:
    """What the stand-ins answer for each kind of host."""

    def run(_host: Host, argv: list[str], **_options: float) -> tuple[int, str, str] | None:
        return (0, hosts.policy(argv[2:]), "") if argv[0] == "apt-cache" else None

    wishes = {name.removeprefix("rocm_"): value for name, value in WISHES.items() if name.startswith("rocm_")}
    with tempfile.TemporaryDirectory() as root, mock.patch.object(Host, "run", run):
        write_tree(Path(root), hosts.gpu_server(1, others=3000))
        bare = gather(root, ["alice", "bob"], [hosts.VENV])
    plan = plan_of(bare, **wishes)
    settled = booted(carried_out(bare, plan), plan)
    refused = {**bare, "users": {**bare["users"], "bob": None}}
    return {"bare": answers(bare), "settled": answers(settled), "refused": answers(refused)}


def answers(facts: dict[str, Any]) -> dict[str, Any]:
    """What the three modules say of a host with these facts, whose servers answer and whose checks pass."""
    checks = [{"id": name, "status": "passed", "evidence": "", "seconds": 0.1} for name in ("rocminfo", "hip-run")]
    return {
        "rocm_facts": {"ansible_facts": {"rocm": facts}},
        "rocm_probe": {"urls": {}, "keys": {}},
        "rocm_verify": {"passed": True, "user": "alice", "checks": checks},
    }


def measure(world: Controller, playbook: str, size: int, profile: Path | None = None) -> Cost:
    """Run a playbook on so many hosts; end the program where it did not do what it is measured for."""
    fleet = FLEETS[playbook]
    names = {f"node{number:04}": {"kind": fleet[number % len(fleet)]} for number in range(size)}
    inventory = world.folder / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": names}}))
    reports = world.folder / f"reports-{playbook}-{size}"
    variables = {**WISHES, "answers_folder": str(world.folder / "answers"), "rocm_report_dir": str(reports)}
    start = [sys.executable, "-m", "cProfile", "-o", str(profile)] if profile else [sys.executable]
    command = [*start, str(PLAYBOOK), "-i", str(inventory), f"gpufleet.rocm.{playbook}", "-e", json.dumps(variables)]
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(world.folder / "collections"),
        "ANSIBLE_HOME": str(world.folder / "home"),
    }
    with (world.folder / "output").open("w+") as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=world.folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, _, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        output.seek(0)
        if len(list(reports.glob("*.json"))) != size:
            sys.exit(f"{' '.join(command)} wrote too few reports:\n{output.read()[-4000:]}")
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--playbook", choices=FLEETS, help="one playbook; without it all")
    parser.add_argument("--profile", action="store_true", help="print where the main process spends its time")
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        world = Controller(Path(name), STAND_IN)
        (world.folder / "answers").mkdir()
        for kind, told in kinds().items():
            (world.folder / "answers" / f"{kind}.json").write_text(json.dumps(told))
        for playbook in [options.playbook] if options.playbook else FLEETS:
            for size in options.sizes:
                profile = world.folder / "profile" if options.profile else None
                cost = measure(world, playbook, size, profile)
                each = cost.cpu / size * 1000
                print(f"{playbook}.yml, {size:4} hosts: {cost.seconds:6.1f} s, ", end="")
                print(f"{each:4.0f} ms CPU a host, largest process {cost.peak:.0f} MiB", flush=True)
                if profile:
                    pstats.Stats(str(profile)).sort_stats("cumulative").print_stats(60)


if __name__ == "__main__":
    main()
