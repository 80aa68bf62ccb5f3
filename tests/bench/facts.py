"""Time and size of the facts of full servers, or of a host or tree: ``python -m tests.bench.facts [ROOT]``.

Exit status 1 when a generated server costs more than 1.5 s or 30 KB. Python's start and Ansible's own work are not in
the time; what commands would answer is taken from memory for the generated trees.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.module_utils import hosts
from tests.unit.module_utils.tree import write_tree

LIMIT_S = 1.5
LIMIT_BYTES = 30_000
# A server with 192 cores runs about that many kernel threads.
PROCESSES = 3000
PACKAGES = 3000


def measure(name: str, root: str) -> bool:
    """Print seconds and bytes; tell whether both are within the limits."""
    started = time.perf_counter()
    facts = gather(root, ["alice", "bob"], [hosts.VENV])
    seconds = time.perf_counter() - started
    sizes = {key: len(json.dumps(value)) for key, value in facts.items()}
    size = len(json.dumps(facts))
    largest = ", ".join(f"{key} {sizes[key]}" for key in sorted(sizes, key=lambda key: -sizes[key])[:4])
    print(f"{name}: {seconds:.3f} s, {size} bytes (largest: {largest})")
    return seconds <= LIMIT_S and size <= LIMIT_BYTES


def generated(partitions: int, stack: list[str], name: str) -> bool:
    """Measure a server with eight cards, each as that many devices, and these packages."""

    def run(_host: Host, argv: list[str], **_options: float) -> tuple[int, str, str] | None:
        return (0, hosts.policy(argv[2:]), "") if argv[0] == "apt-cache" else None

    with tempfile.TemporaryDirectory() as root, mock.patch.object(Host, "run", run):
        write_tree(Path(root), {**hosts.gpu_server(partitions, stack, others=PACKAGES), **hosts.processes(PROCESSES)})
        return measure(f"8 cards as {8 * partitions} devices, {name}", root)


def main() -> int:
    """Measure what the command line names."""
    if len(sys.argv) > 1:
        measure(sys.argv[1], sys.argv[1])
        return 0
    stacks = {"one stack": hosts.STACK, "two stacks": [*hosts.STACK, *hosts.OLDER_STACK]}
    results = [generated(partitions, stack, name) for name, stack in stacks.items() for partitions in (1, 8)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
