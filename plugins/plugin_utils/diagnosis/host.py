"""Evidence of a host: its facts, its plan, and the texts that rocm_diagnose read there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.evidence import Evidence
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.texts import read_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import AMD_VENDOR

Facts = Mapping[str, Any]
PREVIOUS_BOOT = "previous_boot"
# What tells of the boot before is history, but for what may have ended it.
OUTLIVES_A_BOOT = {"gpu-hang", "gpu-lost", "gpu-hardware-error", "gpu-page-fault", "iommu-page-fault"}
PROFILE = "/etc/profile.d/"


def evidence_of(facts: Facts, plan: Mapping[str, Any], texts: Sequence[Mapping[str, Any]]) -> list[Evidence]:
    """Everything that speaks for an id of the table of decisions, the plan's own findings first."""
    found = [*_findings(plan), *_actions(plan), *_driver(facts, plan), *_texts(texts)]
    if facts["kfd"]["present"] and not facts["driver"]["loaded"]:
        # The tools ask for a module, which a driver inside the kernel image is not.
        found = [row for row in found if row.id != "module-not-loaded"]
    return found


def _findings(plan: Mapping[str, Any]) -> Iterator[Evidence]:
    for finding in [*plan["refusals"], *plan["warnings"]]:
        yield Evidence(finding["id"], "plan", masked(finding["found"]), finding["remedy"])


def _actions(plan: Mapping[str, Any]) -> Iterator[Evidence]:
    """What the plan would change tells what is missing for users."""
    stages = plan["stages"]
    for row in plan["actions"]:
        text = f"{row['action']} {row['target']}: {row['reason']}"
        if row["stage"] == "sdk" and row["action"] == "install":
            yield Evidence("sdk-missing", "plan", text)
        elif row["action"] == "add-to-groups":
            yield Evidence("kfd-permission", "plan", text)
        elif row["action"] == "create-venv":
            yield Evidence("torch-not-installed", "plan", text)
        elif row["target"].startswith(PROFILE) and row["action"] == "write" and not stages["sdk"]["actions"]:
            yield Evidence("tool-not-on-path", "plan", text)


def _driver(facts: Facts, plan: Mapping[str, Any]) -> Iterator[Evidence]:
    gpus = [gpu["address"] for gpu in facts["gpus"] if gpu["vendor"] == AMD_VENDOR]
    machine = facts["virtualization"]["kind"] in ("none", "vm")
    if not gpus or not machine or plan["driver_mode"] in (None, "none") or facts["driver"]["loaded"]:
        return
    if facts["kfd"]["present"]:
        yield Evidence("module-built-in", "facts", "/dev/kfd is there and no module amdgpu is loaded")
        return
    yield Evidence("module-not-loaded", "facts", f"amdgpu is not loaded; AMD GPUs: {', '.join(gpus)}")
    for row in plan["actions"]:
        if row["stage"] == "driver" and row["action"] in ("install", "build"):
            yield Evidence("module-not-loaded", "plan", f"{row['action']} {row['target']}: {row['reason']}")


def _texts(texts: Sequence[Mapping[str, Any]]) -> Iterator[Evidence]:
    for row in texts:
        if row["name"] == "problem":
            yield Evidence("facts-incomplete", row["source"], row["text"])
            continue
        for found in read_text(row["text"], row["source"]):
            if row["name"] != PREVIOUS_BOOT or found.id in OUTLIVES_A_BOOT:
                yield found
        if row["name"] == "performance":
            yield from _performance(row["text"], row["source"])


def _performance(text: str, source: str) -> Iterator[Evidence]:
    """Lines of rocm_diagnose: what is said of each GPU, then of the machine."""
    for line in text.splitlines():
        words = line.split()
        if words[1:3] == ["link", "width"] and _less(words[3], words[5]):
            yield Evidence("pcie-link-degraded", source, line)
        elif words[1:3] == ["performance", "level"] and words[3:] not in (["auto"], ["high"]):
            yield Evidence("gpu-clock-limited", source, line)
        elif words[:2] == ["numa_balancing", "1"]:
            yield Evidence("numa-balancing-on", source, line)


def _less(width: str, widest: str) -> bool:
    return width.isdigit() and widest.isdigit() and 0 < int(width) < int(widest)
