"""What the answer of torch_check.py means: is it the wanted PyTorch, and does every GPU compute with it?"""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import dataclass
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import Report, tail

CHECKS = ("torch-hip", "torch-libraries", "torch-gpu", "torch-arch", "torch-devices", "torch-matmul")
# Loading PyTorch, twice, from a slow disk.
_LOADING_S = 400
_AT_ONCE = 8
_WHEEL = re.compile(r"\+rocm(\d+\.\d+)")
_MISSING = (
    ("No module named 'torch'", "torch-not-installed"),
    ("libamdhip64", "rocm-library-missing"),
    ("librocm", "rocm-library-missing"),
    ("executable stack", "library-executable-stack"),
    ("GLIBC", "library-too-old"),
    ("cannot open shared object file", "library-missing"),
)


@dataclass
class Wanted:
    """What is asked of PyTorch. `version` and `hip` are empty where any will do; `required`: it must be there."""

    python: str
    script: str
    required: bool = True
    version: str = ""
    hip: str = ""
    gpu_timeout: int = 120
    bandwidth: bool = False
    host_gbps: float = 0
    device_gbps: float = 0
    all_reduce: bool = False


def check_torch(report: Report, login: Login, wanted: Wanted, no_gpu: str, agents: list[str]) -> None:
    """All checks of PyTorch, in their order; `agents` are the gfx targets that rocminfo lists."""
    name = "torch-import"
    if not wanted.python:
        report.not_run(name, "no PyTorch is wanted", "name an interpreter in rocm_verify_python to check its PyTorch")
        return
    if not wanted.required and not os.path.exists(wanted.python):
        report.not_run(name, "%s does not exist" % wanted.python, "name another interpreter in rocm_verify_python")
        return
    waves = -(-max(len(agents), 1) // _AT_ONCE)
    rounds = waves + len(agents) * wanted.bandwidth + wanted.all_reduce
    words = [wanted.python, wanted.script, "--limit", str(wanted.gpu_timeout)]
    words += ["--bandwidth"] * wanted.bandwidth + ["--all-reduce"] * wanted.all_reduce
    code, output = login.run(" ".join(map(shlex.quote, words)), limit=_LOADING_S + rounds * (wanted.gpu_timeout + 10))
    answer = read_answer(output)
    if answer is None or answer.get("error"):
        _not_imported(report, answer, code, output, wanted)
        return
    right = not wanted.version or answer["version"] == wanted.version
    report.add(
        name,
        "passed" if right else "failed",
        "torch %s%s" % (answer["version"], "" if right else ", expected %s" % wanted.version),
        None,
        "" if right else "run site.yml, which sets the environment up again",
    )
    _hip(report, answer, wanted)
    _libraries(report, answer)
    _gpus(report, answer, no_gpu, agents)
    _computed(report, answer, wanted)


def read_answer(output: str) -> dict[str, Any] | None:
    """The JSON line among whatever else was printed."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            return answer if isinstance(answer, dict) else None
    return None


def _not_imported(report: Report, answer: dict[str, Any] | None, code: int, output: str, wanted: Wanted) -> None:
    text = str(answer["error"]) if answer else "exit %d: %s" % (code, tail(output))
    missing = answer.get("missing", []) if answer else []
    if missing:
        text += "; ldd does not find: %s" % ", ".join(missing)
    finding = next((id for part, id in _MISSING if part in text), None)
    remedy = "install the missing libraries, or PyTorch itself, for %s" % wanted.python
    report.failed("torch-import", text, finding, remedy)
    for name in CHECKS:
        report.not_run(name, "because of torch-import")


def _hip(report: Report, answer: dict[str, Any], wanted: Wanted) -> None:
    """PyTorch is built for ROCm, and for the one that its name says."""
    hip, name = str(answer["hip"] or ""), "torch-hip"
    label = _WHEEL.search(answer["version"])
    series = wanted.hip or (label.group(1) if label else "")
    remedy = "install the wheel of AMD's or PyTorch's index for ROCm: site.yml, or pip with --index-url"
    if not hip:
        kind = "NVIDIA GPUs" if answer["cuda"] else "processors only"
        finding = "torch-cuda-wheel" if answer["cuda"] else "torch-cpu-wheel"
        report.failed(name, "torch.version.hip is empty: built for %s" % kind, finding, remedy)
    elif series and not (hip + ".").startswith(series + "."):
        report.failed(name, "HIP %s in a wheel for ROCm %s" % (hip, series), "torch-rocm-mismatch", remedy)
    else:
        report.passed(name, "HIP %s%s" % (hip, ", wheel for ROCm %s" % series if series else ""))


def _libraries(report: Report, answer: dict[str, Any]) -> None:
    """One HIP runtime is loaded; a second one comes from LD_LIBRARY_PATH or a mixed environment."""
    name = "torch-libraries"
    if report.blocked(name, "torch-hip"):
        return
    loaded = answer["libraries"]
    paths = loaded.get("libamdhip64", [])
    shown = ", ".join(path for row in loaded.values() for path in row)
    if not paths:
        report.not_run(name, "the process has loaded no libamdhip64")
    elif len(paths) > 1:
        remedy = "remove what names a second one: LD_LIBRARY_PATH, LD_PRELOAD, or packages of another wheel"
        report.failed(name, "two HIP runtimes at once: %s" % ", ".join(paths), "torch-rocm-mismatch", remedy)
    else:
        report.passed(name, shown)


def _gpus(report: Report, answer: dict[str, Any], no_gpu: str, agents: list[str]) -> None:
    """PyTorch sees the GPUs that rocminfo lists, has code for them, and knows their names."""
    devices = answer["devices"]
    why = no_gpu or report.cause("rocminfo", "torch-hip")
    for name in CHECKS[2:5] if why else ():
        report.not_run(name, why)
    if why:
        return
    count = "%d GPUs, rocminfo lists %d" % (len(devices), len(agents))
    if not answer["available"]:
        reason = answer["reason"]
        finding = "hip-no-device" if "No HIP GPUs" in reason else "torch-gpu-unavailable"
        evidence = "torch.cuda.is_available() is False%s" % (": " + reason if reason else "")
        report.failed("torch-gpu", evidence, finding, "compare torch-libraries with what hip-run used")
    elif len(devices) < len(agents):
        report.failed("torch-gpu", count, "torch-gpu-unavailable", "compare rocminfo with torch-devices")
    else:
        report.passed("torch-gpu", count)
    _arch(report, answer, [plain(device["arch"]) for device in devices])
    if not report.blocked("torch-devices", "torch-gpu"):
        nameless = any(not device["name"] for device in devices)
        names = [device["name"] or "(no name)" for device in devices]
        shown = ", ".join("%d x %s" % (names.count(name), name) for name in dict.fromkeys(names))
        remedy = "install libdrm's amdgpu.ids (libdrm-amdgpu-common)" if nameless else ""
        report.passed("torch-devices", shown, "gpu-name-empty" if nameless else None, remedy)


def plain(target: str) -> str:
    """A gfx target without its features: 'gfx90a:sramecc+:xnack-' is gfx90a."""
    return target.partition(":")[0]


def _arch(report: Report, answer: dict[str, Any], targets: list[str]) -> None:
    name = "torch-arch"
    if report.blocked(name, "torch-gpu"):
        return
    listed = [plain(target) for target in answer["arch_list"]]
    lacking = sorted({target for target in targets if target and target not in listed})
    if not listed:
        report.not_run(name, "PyTorch names no targets")
    elif lacking and not any(target.endswith("-generic") for target in listed):
        evidence = "no code for %s; it has %s" % (", ".join(lacking), ", ".join(listed))
        remedy = "take a PyTorch whose index has wheels for this GPU"
        report.failed(name, evidence, "torch-arch-missing", remedy)
    else:
        report.passed(name, "%s among %s" % (", ".join(sorted(set(targets))), ", ".join(listed)))


def _computed(report: Report, answer: dict[str, Any], wanted: Wanted) -> None:
    """Every GPU multiplies right; on request it copies fast enough, and all of them sum together."""
    optional = ["torch-bandwidth"] * wanted.bandwidth + ["torch-all-reduce"] * wanted.all_reduce
    if not report.blocked("torch-matmul", "torch-gpu", "torch-arch"):
        rows = answer["matmul"]
        bad = ["GPU %d: %s" % (index, row["error"]) for index, row in enumerate(rows) if not row["ok"]]
        if bad or not rows:
            remedy = "read dmesg for that GPU; try it alone with ROCR_VISIBLE_DEVICES"
            report.failed("torch-matmul", "; ".join(bad) or "no GPU computed", None, remedy)
        else:
            slowest = max(row["seconds"] for row in rows)
            report.passed("torch-matmul", "right on %d GPUs, the slowest in %.2f s" % (len(rows), slowest))
    for name in optional:
        if not report.blocked(name, "torch-matmul"):
            (_bandwidth if name == "torch-bandwidth" else _all_reduce)(report, answer, wanted)


def _bandwidth(report: Report, answer: dict[str, Any], wanted: Wanted) -> None:
    rows = answer["bandwidth"]
    bad = ["GPU %d: %s" % (index, row["error"]) for index, row in enumerate(rows) if not row["ok"]]
    measured = [row for row in rows if row["ok"]]
    shown = []
    limits = (("host", wanted.host_gbps, "from the host"), ("device", wanted.device_gbps, "on the GPU"))
    for field, least, what in limits:
        speeds = [row[field + "_gbps"] for row in measured] or [0]
        shown.append("%.1f to %.1f GB/s %s" % (min(speeds), max(speeds), what))
        if measured and min(speeds) < least:
            bad.append("expected %.1f GB/s %s" % (least, what))
    evidence = "; ".join([", ".join(shown), *bad])
    if bad or not measured:
        remedy = "compare the PCIe link's width and speed (lspci -vv) and the NUMA node with those of a fast host"
        report.failed("torch-bandwidth", evidence, "gpu-bandwidth-low", remedy)
    else:
        report.passed("torch-bandwidth", evidence)


def _all_reduce(report: Report, answer: dict[str, Any], _wanted: Wanted) -> None:
    row = answer["all_reduce"]
    if row["ranks"] < 2:
        report.not_run("torch-all-reduce", "it takes two GPUs")
    elif row["ok"]:
        report.passed("torch-all-reduce", "right sum over %d GPUs" % row["ranks"])
    else:
        remedy = "run again with NCCL_DEBUG=INFO; look at IOMMU settings and at the limit of locked memory"
        report.failed("torch-all-reduce", "%d GPUs: %s" % (row["ranks"], row["error"]), "rccl-failed", remedy)
