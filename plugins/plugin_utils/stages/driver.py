"""Stage driver: headers, driver and firmware packages, and whether the loaded module is the installed one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Situation,
    Stage,
    action,
    build_versions,
    driver_mode,
    installed,
    package_difference,
    pattern,
    replacement_pin,
)


def plan_driver(situation: Situation, findings: Findings) -> Stage:
    """Kernel headers, driver and firmware packages, and whether the running module is the installed one."""
    facts, release = situation.facts, situation.release
    mode = driver_mode(situation)
    stage: Stage = {"actions": [], "mode": mode, "packages": [], "remove": [], "pin": None, "reboot": False, "note": ""}
    if situation.in_container:
        stage["note"] = "a container has no kernel of its own: nothing is built or loaded here"
        findings.add(
            "driver-container",
            found=f"the host is a container ({facts['virtualization']['name'] or 'unknown runtime'})",
            expected="a machine with its own kernel for driver work",
            remedy="install the driver on the machine below and pass /dev/kfd and /dev/dri in",
        )
    if mode != "dkms":
        return stage
    packages = [] if situation.in_container else _kernel_packages(situation, findings)
    versions = build_versions(release["driver"]["build"])
    stage["remove"] = [name for name in release["packages"]["former_drivers"] if installed(facts, name)]
    stage["actions"] += [action("remove", name, "the driver under its former name") for name in stage["remove"]]
    for name in release["packages"]["driver"]:
        reason = package_difference(facts, name, versions)
        if reason:
            stage["actions"].append(action("install", name, reason))
        packages.append(pattern(name, versions))
    if stage["actions"]:
        stage["packages"] = packages
        stage["pin"] = replacement_pin(release, stage["actions"])
    if not situation.in_container:
        stage["reboot"] = bool(stage["actions"]) or _module_differs(situation, findings)
        if _would_boot_without_driver(facts, stage):
            stage["reboot"] = False
            stage["note"] = "no reboot: the kernel that boots next would have no driver at all"
    return stage


def kernels_without_module(facts: Mapping[str, Any]) -> list[str]:
    """Which of the running and the next kernel lack an installed amdgpu of DKMS; none where DKMS has no amdgpu."""
    rows = [row for row in facts["driver"]["dkms"] if row["module"] == "amdgpu" and row["state"] != "broken"]
    served = {row["kernel"] for row in rows if str(row["state"]).startswith("installed")}
    kernels = dict.fromkeys([facts["kernel"]["release"], facts["kernel"]["next_boot"]])
    return [kernel for kernel in kernels if rows and kernel and kernel not in served]


def _would_boot_without_driver(facts: Mapping[str, Any], stage: Stage) -> bool:
    """A screen stays black, and a GPU unused, where DKMS built nothing and the kernel's own module is blacklisted."""
    next_boot = facts["kernel"]["next_boot"]
    blacklisted = bool(facts["driver"]["blacklist"])
    return blacklisted and not stage["actions"] and next_boot in kernels_without_module(facts)


def _kernel_packages(situation: Situation, findings: Findings) -> list[str]:
    """Headers and extra modules of the running kernel where its flavour has them."""
    kernel = situation.facts["kernel"]
    headers, extra = kernel["headers"], kernel["modules_extra"]
    packages = []
    if not headers["installed"]:
        if headers["candidate"]:
            packages.append(headers["package"])
        else:
            findings.add(
                "headers-missing",
                found=f"kernel {kernel['release']} runs and {headers['package']} has no candidate",
                expected="headers of the running kernel",
                remedy="reboot into the newest installed kernel, or install headers for this one",
            )
    if not extra["installed"] and extra["candidate"]:
        packages.append(extra["package"])
    return packages


def _module_differs(situation: Situation, findings: Findings) -> bool:
    """Whether the loaded amdgpu is another build than the one that modprobe would load now."""
    driver = situation.facts["driver"]
    on_disk = driver["on_disk"]
    if not on_disk or not situation.gpus:
        return False
    if driver["loaded"] and driver["srcversion"] == on_disk["srcversion"]:
        return False
    loaded = f"amdgpu {driver['version'] or 'of the kernel'}" if driver["loaded"] else "no amdgpu"
    findings.add(
        "reboot-required",
        found=f"{loaded} is loaded, {on_disk['path']} is on disk",
        expected="the module on disk to be the loaded one",
        remedy="reboot the host",
    )
    return True
