"""Real runs of verify.yml with rocm_performance_check: findings are noted in the report and fail no host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runs.test_exit_status import SETTLED, STAND_IN, Controller
from tests.runs.test_verify import failing
from tests.unit.facts_builder import bare_server
from tests.unit.performance_hosts import MI250, untuned


def play(folder: Path, row: dict[str, Any], *options: str) -> tuple[int, str, dict[str, Any]]:
    controller = Controller(folder)
    (controller.collection / "plugins/action/rocm_performance.py").write_text(STAND_IN % "rocm_performance")
    answers = {**row["answers"], "rocm_performance": {"readings": untuned(MI250)}}
    run = controller.play("verify", {"a": {**row, "answers": answers}}, *options)
    assert "a.json" in run.files, run.output
    return run.code, run.output, run.files["a.json"]


def findings(document: dict[str, Any]) -> list[str]:
    return [check["finding"] for check in document["verification"] if check["finding"]]


@pytest.mark.parametrize("asked", [True, False])
def test_findings_are_noted_where_they_are_asked_for(tmp_path: Path, asked: bool) -> None:
    code, output, document = play(tmp_path, SETTLED, "-e", f"rocm_performance_check={str(asked).lower()}")
    assert (code, document["state"]) == (0, "in sync")
    expected = ["numa-balancing-on", "iommu-passthrough-off", "cpu-governor-slow"]
    assert findings(document) == (expected if asked else [])
    noted = "noted   performance-numa-balancing     numa-balancing-on: kernel.numa_balancing is 1"
    assert (" ".join(noted.split()) in " ".join(output.split())) is asked


def test_a_host_that_fails_its_checks_is_judged_too(tmp_path: Path) -> None:
    code, output, document = play(tmp_path, failing(bare_server()), "-e", "rocm_performance_check=true")
    assert (code, document["state"]) == (2, "failed")
    assert "numa-balancing-on" in findings(document), output
    assert document["reason"].startswith("device-access: kfd-permission")
