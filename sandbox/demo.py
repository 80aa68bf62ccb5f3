"""`./run demo`: the whole way from bare hosts to a verified fleet, and proof that a second run changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sandbox import paths, world
from sandbox.progress import note

INVENTORY = "inventories/sandbox"
RECAP = paths.PACKAGE / "recap"


def play(label: str, *words: str) -> tuple[int, dict[str, dict[str, int]], float]:
    """Run site.yml with its output on the terminal.

    Returns the exit status, the play recap by host (ok, changed, failures, unreachable ...) and the seconds it took.
    """
    begin = time.monotonic()
    note(f"{label}: ansible-playbook -i {INVENTORY} site.yml {' '.join(words)}".rstrip())
    with tempfile.TemporaryDirectory() as folder:
        recap = Path(folder) / "recap.json"
        environment = {
            **os.environ,
            # Each task shows its name when it starts, not when its first host has finished.
            "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "1",
            "ANSIBLE_CALLBACK_PLUGINS": str(RECAP),
            "ANSIBLE_CALLBACKS_ENABLED": "sandbox_recap,gpufleet.rocm.exit_status",
            "SANDBOX_RECAP": str(recap),
        }
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", INVENTORY, "site.yml", *words]
        status = subprocess.run(command, cwd=paths.ROOT, env=environment, check=False).returncode
        stats: dict[str, Any] = json.loads(recap.read_text()) if recap.exists() else {}
    return status, stats, time.monotonic() - begin


def run() -> int:
    """Exit status 0 when both runs succeed and the second changes nothing on any host."""
    begin = time.monotonic()
    world.up(fresh=True)
    start_s = time.monotonic() - begin
    status, _, first_s = play("first run, on bare hosts")
    if status != 0:
        note(f"the first run failed with status {status}; the fleet stays up: ./run ssh mi250-01")
        return status
    status, stats, second_s = play("second run, nothing left to do")
    changed = {host: counts["changed"] for host, counts in stats.items() if counts["changed"]}
    print()
    note(f"start of servers and fleet: {start_s:6.1f} s")
    note(f"first run:                  {first_s:6.1f} s")
    note(f"second run:                 {second_s:6.1f} s")
    if status != 0:
        note(f"the second run failed with status {status}")
        return status
    if not stats or changed:
        note(f"the second run was expected to change nothing, but did: {changed or 'it named no host'}")
        return 1
    note(f"the second run changed nothing on {', '.join(sorted(stats))}")
    print("\nEnter a host:      ./run ssh mi250-01\nTear it all down:  ./run down")
    return 0
