"""What ``rocm_verify`` is asked to check on a host: as planned where it is ours, else as found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.paths import ROCM_SOURCE
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import AMD_VENDOR
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import gpu_by_device

# A GPU that is meant for a guest.
FOR_GUESTS = ("vfio-pci", "pci-stub")
LIBRARIES = "/opt/rocm/lib"

Facts = Mapping[str, Any]
Plan = Mapping[str, Any]


def verify_request(plan: Plan, facts: Facts, python: str = "") -> dict[str, Any]:
    """Options of the module, without those that are the operator's own.

    ``python`` is an interpreter whose PyTorch is checked in place of the planned one: then any version will do.
    """
    planned = plan["verify"] if _is_ours(plan, facts) else None
    request = _as_planned(plan, planned) if planned else _as_found(plan, facts)
    if python:
        request.update(python=python, python_required=True, torch_version="", torch_hip="")
    gpus = compute_functions(facts)
    return {
        **request,
        "user": _user(plan, facts),
        "gpus": [row["address"] for row in gpus],
        "no_gpu": (plan["verify"] or {}).get("no_gpu") or _no_gpu(facts, gpus),
    }


def _is_ours(plan: Plan, facts: Facts) -> bool:
    """Whether the wishes are what the host should be: it is as wanted, or this collection set it up."""
    return bool(plan["verify"] and (plan["in_sync"] or facts["files"].get(ROCM_SOURCE)))


def _as_planned(plan: Plan, planned: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": planned["path"],
        # With packages of the operator's own choice there may be no compiler.
        "compiler": not plan["wishes"]["packages"],
        "link_options": planned["link_options"],
        "offload_targets": planned["offload_targets"],
        "python": f"{planned['venv']}/bin/python" if planned["venv"] else "",
        "python_required": True,
        "torch_version": planned["torch_packages"].get("torch", ""),
        "torch_hip": planned["torch_hip"],
    }


def _as_found(plan: Plan, facts: Facts) -> dict[str, Any]:
    known = any(name.startswith("libamdhip64") for name in facts["ldconfig"])
    in_opt = bool(facts["rocm"]["link"] or facts["rocm"]["installs"])
    venv = plan["wishes"].get("pytorch_venv")
    return {
        "path": [],
        "compiler": False,
        "link_options": [f"-Wl,-rpath,{LIBRARIES}"] if in_opt and not known else [],
        "offload_targets": _targets(facts),
        "python": f"{venv}/bin/python" if venv and plan["wishes"].get("pytorch") else "",
        "python_required": False,
        "torch_version": "",
        "torch_hip": "",
    }


def _user(plan: Plan, facts: Facts) -> str:
    """The first user of the wishes that the host has, else root."""
    wishes, known = plan["wishes"], facts["users"]
    users = wishes.get("users") or ()
    names = [wishes.get("verify_user"), *(users if isinstance(users, (list, tuple)) else [users])]
    return next((name for name in names if name and known.get(name)), "root")


def compute_functions(facts: Facts) -> list[Mapping[str, Any]]:
    """AMD's functions that ROCm should see: not those for guests, and integrated ones only where there is no other."""
    amd = [row for row in facts["gpus"] if row["vendor"] == AMD_VENDOR and row["driver"] not in FOR_GUESTS]
    cards = [row for row in amd if not (gpu_by_device(row["device"]) or {}).get("integrated")]
    return cards or amd


def _targets(facts: Facts) -> list[str]:
    """As the kernel names them, else as the matrix does."""
    named: Sequence[str | None] = [node["gfx"] for node in facts["kfd"]["nodes"]]
    if not any(named):
        named = [(gpu_by_device(row["device"]) or {}).get("gfx") for row in compute_functions(facts)]
    return sorted({name for name in named if name})


def _no_gpu(facts: Facts, gpus: Sequence[Mapping[str, Any]]) -> str:
    if not gpus:
        kept = any(row["vendor"] == AMD_VENDOR for row in facts["gpus"])
        return "no GPU for this host: its GPUs are for guests" if kept else "no GPU"
    if facts["virtualization"]["kind"] == "container" and not facts["kfd"]["present"]:
        return "no GPU: /dev/kfd was not passed into this container"
    return ""
