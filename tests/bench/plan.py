"""What deciding costs on the controller, without any host: ``python -m tests.bench.plan``."""

from __future__ import annotations

import json
import time
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_plan, fleet_report
from tests.unit import facts_builder

FLEETS = (1, 100, 1000)
LIMIT_MS = 5.0


def fleet(size: int) -> list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Recorded facts, wishes and server answers of hosts: one in sync, one bare, one that is refused, in turn."""
    wishes = facts_builder.wishes()
    bare = facts_builder.bare_server()
    answers = facts_builder.answers(make_plan(bare, wishes))
    kinds = [
        facts_builder.carried_out(bare, make_plan(bare, wishes, answers)),
        bare,
        facts_builder.bare_server(dpkg_broken=[{"package": "linux-image", "status": "half-configured"}]),
    ]
    return [(json.loads(json.dumps(kinds[number % 3])), wishes, answers) for number in range(size)]


def main() -> None:
    """Print milliseconds a host, for planning and for the tables of the fleet."""
    make_plan(*fleet(1)[0])  # reads the data files
    for size in FLEETS:
        hosts = fleet(size)
        started = time.perf_counter()
        plans = [make_plan(*host) for host in hosts]
        planned = time.perf_counter()
        shown = {f"node{number:04}": {"plan": plan} for number, plan in enumerate(plans)}
        fleet_plan(shown)
        fleet_report(shown)
        reported = time.perf_counter()
        each, tables = (planned - started) / size * 1000, (reported - planned) / size * 1000
        print(f"{size:5} hosts: plan {each:.2f} ms a host (limit {LIMIT_MS:.0f}), tables and reports {tables:.2f} ms")


if __name__ == "__main__":
    main()
