"""What the answer of PyTorch means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import verify_torch
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import Report
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_torch import Wanted
from tests.unit.module_utils.logins import ToldLogin

AGENTS = ["gfx90a", "gfx90a"]
WANTED = Wanted("/venv/bin/python", "/tmp/torch_check.py", True, "2.3.0+rocm6.0", "6.0")
BUNDLED = "/venv/lib/python3/site-packages/torch/lib/libamdhip64.so"
GOOD: dict[str, Any] = {
    "version": "2.3.0+rocm6.0",
    "hip": "6.0.32830-d62f6a171",
    "cuda": None,
    "available": True,
    "reason": "",
    "arch_list": ["gfx900", "gfx90a:xnack-", "gfx1030"],
    "libraries": {"libamdhip64": [BUNDLED]},
    "devices": [{"index": i, "name": "AMD Instinct MI250", "arch": "gfx90a:sramecc+:xnack-"} for i in (0, 1)],
    "matmul": [{"ok": True, "seconds": 0.2, "error": ""}, {"ok": True, "seconds": 1.3, "error": ""}],
    "bandwidth": [{"ok": True, "host_gbps": 25.0, "device_gbps": 1200.0, "error": ""}] * 2,
    "all_reduce": {"ok": True, "ranks": 2, "error": ""},
    "notes": [],
}
NAMES = ["torch-import", *verify_torch.CHECKS]


def checked(answer: dict[str, Any], wanted: Wanted = WANTED, no_gpu: str = "", agents: list[str] = AGENTS) -> Report:
    report = Report()
    (report.not_run if no_gpu else report.passed)("rocminfo", no_gpu)
    output = f"Welcome\n{json.dumps(answer)}\nwarning at exit"
    verify_torch.check_torch(report, ToldLogin({"torch_check": (0, output)}), wanted, no_gpu, agents)
    del report.checks[0]
    return report


def statuses(report: Report) -> dict[str, object]:
    return {str(row["id"]): row["status"] for row in report.checks}


def row_of(report: Report, name: str) -> dict[str, Any]:
    return next(row for row in report.checks if row["id"] == name)


def test_a_good_pytorch_passes_every_check() -> None:
    report = checked(GOOD)
    assert statuses(report) == dict.fromkeys(NAMES, "passed")
    assert row_of(report, "torch-matmul")["evidence"] == "right on 2 GPUs, the slowest in 1.30 s"
    assert row_of(report, "torch-devices")["evidence"] == "2 x AMD Instinct MI250"
    assert row_of(report, "torch-libraries")["evidence"] == BUNDLED


def test_without_a_gpu_the_build_is_checked_alone() -> None:
    none = {"available": False, "reason": "No HIP GPUs are available", "devices": [], "matmul": [], "arch_list": []}
    report = checked({**GOOD, **none}, no_gpu="no GPU", agents=[])
    assert [row["status"] for row in report.checks] == ["passed"] * 3 + ["not run"] * 4
    assert {row["evidence"] for row in report.checks[3:]} == {"no GPU"}


FIRST_FAILURES: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("another version", {"version": "2.2.0+rocm6.0"}, "torch-import", None),
    ("for NVIDIA", {"hip": None, "cuda": "12.1"}, "torch-hip", "torch-cuda-wheel"),
    ("for processors", {"hip": None}, "torch-hip", "torch-cpu-wheel"),
    ("another ROCm", {"hip": "5.7.31921-d1770ee1b"}, "torch-hip", "torch-rocm-mismatch"),
    (
        "two runtimes",
        {"libraries": {"libamdhip64": [BUNDLED, "/opt/rocm/lib/libamdhip64.so.6"]}},
        "torch-libraries",
        "torch-rocm-mismatch",
    ),
    ("no GPU seen", {"available": False, "reason": "No HIP GPUs are available"}, "torch-gpu", "hip-no-device"),
    ("no GPU seen, no word", {"available": False}, "torch-gpu", "torch-gpu-unavailable"),
    ("one GPU too few", {"devices": GOOD["devices"][:1]}, "torch-gpu", "torch-gpu-unavailable"),
    ("no code", {"arch_list": ["gfx900", "gfx1030"]}, "torch-arch", "torch-arch-missing"),
    (
        "one GPU hangs",
        {"matmul": [GOOD["matmul"][0], {"ok": False, "error": "no end within the time limit"}]},
        "torch-matmul",
        None,
    ),
]


@pytest.mark.parametrize(
    ("change", "name", "finding"), [row[1:] for row in FIRST_FAILURES], ids=[row[0] for row in FIRST_FAILURES]
)
def test_the_first_failure_is_the_cause(change: dict[str, Any], name: str, finding: str | None) -> None:
    report = checked({**GOOD, **change})
    failed = [row for row in report.checks if row["status"] == "failed"]
    assert [(row["id"], row["finding"]) for row in failed] == [(name, finding)]
    assert failed[0]["remedy"]
    assert [row["id"] for row in report.checks] == NAMES


def test_generic_code_is_left_to_the_product_to_judge() -> None:
    assert statuses(checked({**GOOD, "arch_list": ["gfx9-4-generic"]}))["torch-arch"] == "passed"


def test_a_gpu_without_a_name_is_noted() -> None:
    nameless = [{**GOOD["devices"][0], "name": ""}, GOOD["devices"][1]]
    row = row_of(checked({**GOOD, "devices": nameless}), "torch-devices")
    assert (row["status"], row["finding"]) == ("passed", "gpu-name-empty")


def test_a_gpu_that_hangs_is_named() -> None:
    matmul = [GOOD["matmul"][0], {"ok": False, "error": "no end within the time limit"}]
    row = row_of(checked({**GOOD, "matmul": matmul}), "torch-matmul")
    assert row["evidence"] == "GPU 1: no end within the time limit"


@pytest.mark.parametrize(
    ("output", "finding"),
    [
        ('{"error": "ModuleNotFoundError: No module named \'torch\'", "missing": []}', "torch-not-installed"),
        (
            '{"error": "ImportError: librocm_sysdeps_numa.so.1: cannot open", "missing": ["libnuma.so"]}',
            "rocm-library-missing",
        ),
        ('{"error": "OSError: libopenblas.so.0: cannot open shared object file", "missing": []}', "library-missing"),
        ("sh: 1: /venv/bin/python: not found", None),
        ("{half an answer", None),
        ("", None),
    ],
)
def test_what_cannot_be_imported_is_not_asked_further(output: str, finding: str | None) -> None:
    report = Report()
    verify_torch.check_torch(report, ToldLogin({"torch_check": (127, output)}), WANTED, "", AGENTS)
    assert [row["status"] for row in report.checks] == ["failed"] + ["not run"] * 6
    assert report.checks[0]["finding"] == finding


def test_an_environment_that_nobody_promised_may_be_missing() -> None:
    for wanted in (Wanted("", ""), Wanted("/no/such/python", "", required=False)):
        report = Report()
        verify_torch.check_torch(report, ToldLogin({}), wanted, "", AGENTS)
        assert [row["status"] for row in report.checks] == ["not run"]
        assert report.checks[0]["remedy"]


def test_any_version_will_do_for_another_interpreter() -> None:
    free = Wanted("/venv/bin/python", "/tmp/torch_check.py")
    assert checked({**GOOD, "version": "2.9.0a0+git123", "hip": "7.2.1"}, free).good
    mismatched = checked({**GOOD, "version": "2.9.0+rocm6.4", "hip": "7.2.1"}, free)
    assert row_of(mismatched, "torch-hip")["finding"] == "torch-rocm-mismatch"


def more(**options: Any) -> Wanted:
    return Wanted("/venv/bin/python", "/tmp/torch_check.py", **options)


def test_bandwidth_is_held_against_a_minimum_when_there_is_one() -> None:
    row = row_of(checked(GOOD, more(bandwidth=True)), "torch-bandwidth")
    assert row["status"] == "passed"
    assert row["evidence"] == "25.0 to 25.0 GB/s from the host, 1200.0 to 1200.0 GB/s on the GPU"
    slow = row_of(checked(GOOD, more(bandwidth=True, host_gbps=30, device_gbps=1000)), "torch-bandwidth")
    assert (slow["status"], slow["finding"]) == ("failed", "gpu-bandwidth-low")
    assert slow["evidence"].endswith("on the GPU; expected 30.0 GB/s from the host")


@pytest.mark.parametrize(
    ("answer", "status", "finding"),
    [
        ({"ok": True, "ranks": 2, "error": ""}, "passed", None),
        ({"ok": True, "ranks": 1, "error": ""}, "not run", None),
        ({"ok": False, "ranks": 2, "error": "unhandled cuda error"}, "failed", "rccl-failed"),
    ],
)
def test_all_reduce(answer: dict[str, Any], status: str, finding: str | None) -> None:
    row = row_of(checked({**GOOD, "all_reduce": answer}, more(all_reduce=True)), "torch-all-reduce")
    assert (row["status"], row["finding"]) == (status, finding)


def test_options_reach_the_script() -> None:
    login = ToldLogin({})
    verify_torch.check_torch(Report(), login, more(bandwidth=True, all_reduce=True, gpu_timeout=7), "", AGENTS)
    assert login.commands == ["/venv/bin/python /tmp/torch_check.py --limit 7 --bandwidth --all-reduce"]
    ((limit, settings),) = login.options
    assert limit > 4 * 7
    assert not settings
