"""What a fleet run costs against the plainest ways to do part of it: ``python -m tests.bench.fleet``.

Six fresh sandbox hosts. The first converge stands against the same shell commands over parallel SSH, the run on
hosts in sync against Ansible's own ``setup`` module, and the plan of 500 hosts (names for the same six) shows what
the controller needs for each. Every comparison happens in this one run; only the ratios mean anything elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sandbox import world
from sandbox.fleet import hosts, ssh
from sandbox.fleet.hosts import Host
from sandbox.upstream import faults

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
FLEET = [Host(f"bench-{number}", f"10.77.0.{50 + number}", "mi300x", "jammy") for number in range(1, 7)]
ALIASES = 500
REPEATS = 3
# By hand, as a careful guide has it. The same key, source, pin, packages, groups and files as the roles write.
BY_HAND = """
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
install -d /etc/apt/keyrings
key=http://10.77.0.1:8600/repo.radeon.com/rocm/rocm.gpg.key
python3 -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' $key \\
  > /etc/apt/keyrings/rocm.asc
cat > /etc/apt/sources.list.d/rocm.sources <<'END'
Types: deb
URIs: http://10.77.0.1:8600/repo.radeon.com/rocm/apt/6.0
Suites: jammy
Components: main
Architectures: amd64
Signed-By: /etc/apt/keyrings/rocm.asc
END
printf 'Package: *\\nPin: release o=repo.radeon.com\\nPin-Priority: 600\\n' > /etc/apt/preferences.d/rocm-pin-600
apt-get update -qq
apt-get install -qq -y rocm-hip-sdk >/dev/null
usermod -aG render,video ops
usermod -aG render,video ada
printf '/opt/rocm/lib\\n/opt/rocm/lib64\\n' > /etc/ld.so.conf.d/rocm.conf
ldconfig
printf 'PATH=/opt/rocm/bin:$PATH\\n' > /etc/profile.d/rocm.sh
"""


def inventory(folder: Path, names: dict[str, str]) -> Path:
    """An inventory folder with these names and addresses, under the sandbox's variables."""
    folder.mkdir()
    (folder / "group_vars").symlink_to(ROOT / "inventories" / "sandbox" / "group_vars")
    rows = {name: {"ansible_host": address} for name, address in names.items()}
    (folder / "hosts.json").write_text(json.dumps({"sandbox": {"hosts": rows}}))
    return folder


def ansible(program: str, where: Path, *arguments: str, forks: int = len(FLEET)) -> float:
    """Seconds of one Ansible command; its output is only shown where it fails."""
    command = [str(BIN / program), "-i", str(where), "--forks", str(forks), *arguments]
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")}
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 2) or (done.returncode == 2 and "plan.yml" not in " ".join(arguments)):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    return seconds


def by_hand(host: Host) -> None:
    """The plain commands on one host."""
    command = ssh.command(host.address, "sudo", "sh", "-s")
    subprocess.run(command, input=BY_HAND, capture_output=True, text=True, check=True)


def fresh() -> None:
    """Six bare hosts."""
    hosts.create_all(FLEET)


def settings(folder: Path, **wishes: Any) -> list[str]:
    """Extra variables for a playbook."""
    common = {"sandbox_cache": str(ROOT / ".cache" / "sandbox"), "rocm_report_dir": str(folder / "reports")}
    return ["-e", json.dumps({**common, "rocm_users": ["ops", "ada"], **wishes})]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="one part; without it all, one after the other")
    wanted = parser.parse_args().only
    world.upstream_up()
    faults.clear()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fleet = inventory(folder / "fleet", {host.name: host.address for host in FLEET})
        try:
            for part, measure in PARTS.items():
                if wanted in (None, part):
                    measure(folder, fleet, settings(folder, rocm_pytorch=False))
        finally:
            for host in FLEET:
                hosts.purge(host.name)


def first_converge(_folder: Path, fleet: Path, wishes: list[str]) -> None:
    """site.yml on bare hosts against the same commands over parallel SSH."""
    fresh()
    by_hand(FLEET[0])  # fills the caches of the stand-in servers for both sides
    fresh()
    started = time.perf_counter()
    with ThreadPoolExecutor(len(FLEET)) as pool:
        list(pool.map(by_hand, FLEET))
    shell = time.perf_counter() - started
    fresh()
    converge = ansible("ansible-playbook", fleet, "site.yml", *wishes)
    print(f"first converge of {len(FLEET)} hosts: site.yml {converge:.1f} s, plain shell {shell:.1f} s, ", end="")
    print(f"ratio {converge / shell:.2f} (limit 2.5)", flush=True)


def in_sync(_folder: Path, fleet: Path, wishes: list[str]) -> None:
    """Runs with nothing to change against Ansible's own reading of the hosts."""
    settle(fleet, wishes)
    setup = min(ansible("ansible", fleet, "all", "-m", "setup", *wishes) for _ in range(REPEATS))
    again = min(ansible("ansible-playbook", fleet, "site.yml", *wishes) for _ in range(REPEATS))
    plan = min(ansible("ansible-playbook", fleet, "playbooks/plan.yml", *wishes) for _ in range(REPEATS))
    print(f"{len(FLEET)} hosts in sync: site.yml {again:.1f} s, ansible -m setup {setup:.1f} s, ", end="")
    print(f"ratio {again / setup:.2f} (limit 2.5); plan.yml {plan:.1f} s, ratio {plan / setup:.2f}", flush=True)


def many(folder: Path, fleet: Path, wishes: list[str]) -> None:
    """The plan of a large inventory: names for the same hosts."""
    settle(fleet, wishes)
    names = {f"node{number:03}": FLEET[number % len(FLEET)].address for number in range(ALIASES)}
    aliases = inventory(folder / "many", names)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ansible("ansible-playbook", aliases, "playbooks/plan.yml", *wishes, forks=20)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"plan.yml for {ALIASES} hosts: {seconds:.0f} s; controller: {cpu / ALIASES * 1000:.0f} ms CPU a host, ", end=""
    )
    print(f"largest process {after.ru_maxrss / 1024:.0f} MB, {after.ru_maxrss / ALIASES:.0f} KB a host", flush=True)


def settle(fleet: Path, wishes: list[str]) -> None:
    """Hosts in sync, from whatever is there."""
    up = {host.name for host, _ in hosts.running()}
    if not {host.name for host in FLEET} <= up:
        fresh()
    ansible("ansible-playbook", fleet, "site.yml", *wishes)


PARTS = {"converge": first_converge, "in-sync": in_sync, "many": many}

if __name__ == "__main__":
    main()
