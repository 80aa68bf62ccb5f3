"""Stage pytorch: one virtual environment with the exact wheel set from one index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers import wheels
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Action,
    Situation,
    Stage,
    action,
    difference,
)


def plan_pytorch(situation: Situation, findings: Findings) -> Stage:
    """One virtual environment with the exact wheel set from one index."""
    facts, torch = situation.facts, situation.torch
    path = situation.wishes.pytorch_venv
    stage: Stage = {"actions": [], "venv": path, "system_packages": []}
    if torch is None:
        return stage
    venv: Mapping[str, Any] = next(row for row in facts["venvs"] if row["path"] == path)
    if venv["occupied"]:
        findings.add(
            "venv-path-occupied",
            found=f"{path} holds something that is not a virtual environment",
            expected="an empty or absent folder, or a virtual environment",
            remedy="choose another rocm_pytorch_venv, or move the folder away",
        )
    _name_foreign_build(venv["packages"].get("torch"), torch, path, findings)
    constraints = {
        "path": paths.venv_constraints(path),
        "content": render.constraints(torch["packages"]),
        "mode": "0644",
    }
    actions: list[Action] = []
    fault = _fault(venv, torch)
    if not fault:
        _name_parts_of_other_backends({**venv["packages"], **torch["packages"]}, path, findings)
    if fault:
        if not _can_make_venvs(facts, torch["interpreter"]):
            name = _venv_package(facts, torch["interpreter"], torch["interpreter_version"])
            stage["system_packages"] = [name]
            actions.append(action("install", name, "needed to create the virtual environment"))
        if venv["exists"]:
            actions.append(action("set-aside", path, f"{fault}; kept as {path}.previous in place of an older one"))
        actions.append(action("create-venv", path, fault))
    reason = difference(facts, constraints)
    if reason:
        actions.append(action("write", constraints["path"], reason))
    for name, version in torch["packages"].items():
        found = venv["packages"].get(name) if not fault else None
        if found != version:
            actions.append(action("install", f"{name}=={version}", f"found {found}" if found else "missing"))
    return {
        **stage,
        "actions": actions,
        "replace": bool(venv["exists"] and fault),
        "interpreter": torch["interpreter"],
        "constraints": constraints,
        "pip_command": _pip_command(path, torch, constraints["path"]),
    }


def _name_foreign_build(found: str | None, torch: Mapping[str, Any], path: str, findings: Findings) -> None:
    """Say what kind of torch stands in the environment where it is not one of the wanted ROCm."""
    wanted = torch["packages"]["torch"]
    local = (found or wanted).partition("+")[2]
    if found is None or local == wanted.partition("+")[2]:
        return
    kind = "rocm-mismatch" if local.startswith("rocm") else "cpu-wheel" if local == "cpu" else "cuda-wheel"
    findings.add(
        f"torch-{kind}",
        found=f"torch {found} in {path}",
        expected=f"torch {wanted}",
        remedy="nothing to do: it is replaced; install what follows with the environment's constraints.txt",
    )


def _name_parts_of_other_backends(packages: Mapping[str, str], path: str, findings: Findings) -> None:
    """Say which packages for CUDA or for processors alone would stay beside the wheels for ROCm."""
    names = list(packages)
    found = wheels.read([f"{name}=={version}" for name, version in packages.items()])
    mixed = [names[line] for id, line in found if id == "venv-mixed-wheels"]
    if mixed:
        findings.add(
            "venv-mixed-wheels",
            found=f"{', '.join(mixed)} in {path}",
            expected="wheels for ROCm alone; other backends in environments of their own",
            remedy=f"{path}/bin/pip uninstall {' '.join(mixed)}, or remove {path} and run again",
        )


def _fault(venv: Mapping[str, Any], torch: Mapping[str, Any]) -> str:
    """Why the environment has to be made anew; empty where it can stay."""
    if not venv["exists"]:
        return "missing"
    if not venv["usable"]:
        return "has no interpreter or no pip any more"
    if venv["python"] != torch["interpreter_version"]:
        return f"made with Python {venv['python']}"
    return ""


def _can_make_venvs(facts: Mapping[str, Any], interpreter: str) -> bool:
    return any(row["venv"] for row in facts["python"] if row["path"] == interpreter)


def _venv_package(facts: Mapping[str, Any], interpreter: str, version: str) -> str:
    """python3-venv serves the default interpreter, pythonX.Y-venv any other."""
    default = any(row["default"] for row in facts["python"] if row["path"] == interpreter)
    return "python3-venv" if default else f"python{version}-venv"


def _pip_command(venv: str, torch: Mapping[str, Any], constraints: str) -> list[str]:
    """One index only: ``--extra-index-url`` would let a CUDA or CPU wheel of a higher version win."""
    command = [f"{venv}/bin/python", "-m", "pip", "--isolated", "install", "--no-input", "--no-cache-dir"]
    command += ["--index-url", torch["index_url"], "--constraint", constraints]
    if torch["trusted_host"]:
        command += ["--trusted-host", torch["trusted_host"]]
    return command + list(torch["pins"])
