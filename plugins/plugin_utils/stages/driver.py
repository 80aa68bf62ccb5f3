"""Stage driver: what is installed, built, held and taken away so that the wanted amdgpu is loaded at every boot.

Beside ``actions`` the stage holds what the role rocm_driver acts on::

    mode           dkms | inbox | none; note: text where there is something to say about it
    remove         packages to purge first: former and foreign drivers
    stale          DKMS trees to delete: [{path, module, version, broken}]
    packages, pin  what is installed in one transaction, and the pin meanwhile (None where none is needed)
    changes_driver whether driver packages come or go, after which another module is on disk
    build          kernels that lack the module of the installed driver
    kernels        kernels that must have the module in the end: the running and the next, but for one that is known to
                   break the build of a driver that is installed already
    unhold, hold   packages whose hold of ours goes before the change; those that we hold after it
    reboot         whether the loaded module is, or will be, another than the one on disk; reboot_reason: why
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.kernels import unsupported
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.kernels import boot_kernels, kernel_packages
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

DKMS_TREE = "/var/lib/dkms"
# Packages that bring the next kernel: linux-generic, linux-image-amd64, and not linux-image-6.8.0-44-generic.
KERNEL_METAPACKAGE = re.compile(r"linux-(?!firmware|(?:image|headers|modules-extra)-\d)[a-z].*")


def plan_driver(situation: Situation, findings: Findings) -> Stage:
    """What the driver of this host lacks; see the module for the shape."""
    mode = driver_mode(situation)
    stage: Stage = {
        "actions": [],
        "mode": mode,
        "note": "",
        "pin": None,
        "packages": [],
        "changes_driver": False,
        "remove": [],
        "stale": [],
        "build": [],
        "kernels": [],
        "hold": [],
        "unhold": [],
        "reboot": False,
        "reboot_reason": "",
    }
    if situation.in_container:
        _name_container(situation, stage, findings)
    elif mode == "dkms":
        stage["kernels"] = boot_kernels(situation.facts)
    _plan_removal(situation, stage, findings)
    if mode == "dkms":
        _plan_packages(situation, stage, findings)
    if not situation.in_container:
        _plan_holds(situation, stage)
        _plan_reboot(situation, stage, findings)
    return stage


def kernels_without_module(facts: Mapping[str, Any]) -> list[str]:
    """Which of these two lack an installed amdgpu of DKMS whose source is there."""
    stale = {row["version"] for row in stale_trees(facts) if row["module"] == "amdgpu"}
    served = {
        row["kernel"]
        for row in facts["driver"]["dkms"]
        if row["module"] == "amdgpu" and row["version"] not in stale and str(row["state"]).startswith("installed")
    }
    return [kernel for kernel in boot_kernels(facts) if kernel not in served]


def stale_trees(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Entries of DKMS without a source, of any module, and trees of amdgpu that no installed package brought."""
    sources = facts["driver"]["sources"]
    # A driver that is installed and ships no source is packaged in a way that is not known here: nothing is judged.
    unknown = not sources and any(installed(facts, name) for name in ("amdgpu-dkms", "rock-dkms"))
    trees: dict[str, dict[str, Any]] = {}
    for row in facts["driver"]["dkms"]:
        broken = row["state"] == "broken"
        foreign = row["module"] == "amdgpu" and row["version"] not in sources and not unknown
        if broken or foreign:
            path = f"{DKMS_TREE}/{row['module']}/{row['version']}"
            trees[path] = {"path": path, "module": row["module"], "version": row["version"], "broken": broken}
    return list(trees.values())


def _name_container(situation: Situation, stage: Stage, findings: Findings) -> None:
    stage["note"] = "a container has no kernel of its own: nothing is built or loaded here"
    findings.add(
        "driver-container",
        found=f"the host is a container ({situation.facts['virtualization']['name'] or 'unknown runtime'})",
        expected="a machine with its own kernel for driver work",
        remedy="install the driver on the machine below and pass /dev/kfd and /dev/dri in",
    )


def _plan_removal(situation: Situation, stage: Stage, findings: Findings) -> None:
    """Drivers that give way, and what DKMS keeps of drivers that are gone."""
    facts, names = situation.facts, situation.release["packages"]
    if stage["mode"] == "dkms":
        unwanted = dict.fromkeys(names["former_drivers"], "the driver under its former name")
    elif situation.wishes.driver_mode == "inbox":
        # Where nobody asked and auto came to this mode, a driver that somebody installed is left to him.
        unwanted = dict.fromkeys([*names["former_drivers"], *names["driver"]], "the kernel's own driver is wanted")
    else:
        return
    gone = {name: reason for name, reason in unwanted.items() if installed(facts, name)}
    stage["remove"] = list(gone)
    stage["changes_driver"] = bool(gone)
    _refuse_foreign_holds(situation, list(gone), findings)
    stage["actions"] += [action("remove", name, reason) for name, reason in gone.items()]
    if not situation.in_container:
        stage["stale"] = stale_trees(facts)
        for tree in stage["stale"]:
            reason = "its source is gone" if tree["broken"] else "no package brought it"
            stage["actions"].append(action("clean", tree["path"], reason))


def _plan_packages(situation: Situation, stage: Stage, findings: Findings) -> None:
    """Driver and firmware of the release, what their build needs, and the builds that a former run left out."""
    facts, release = situation.facts, situation.release
    versions = build_versions(release["driver"]["build"])
    names = release["packages"]["driver"]
    differences = {name: package_difference(facts, name, versions) for name in names}
    changes = [action("install", name, reason) for name, reason in differences.items() if reason]
    if not differences[names[0]] and not situation.in_container:
        lacking = kernels_without_module(facts)
        hopeless = [kernel for kernel in lacking if unsupported(kernel, release["driver"])]
        stage["kernels"] = [kernel for kernel in stage["kernels"] if kernel not in hopeless]
        stage["build"] = [kernel for kernel in lacking if kernel not in hopeless]
    if not changes and not stage["build"]:
        return
    needed = kernel_packages(situation, stage["kernels"], findings)
    stage["actions"] += [action("install", name, reason) for name, reason in needed.items()] + changes
    stage["actions"] += [action("build", kernel, "amdgpu is not installed for it") for kernel in stage["build"]]
    stage["packages"] = list(needed)
    if changes:
        stage["changes_driver"] = True
        stage["packages"] += [pattern(name, versions) for name in names]
        stage["pin"] = replacement_pin(release, changes)
        _refuse_foreign_holds(situation, [row["target"] for row in changes], findings)


def _refuse_foreign_holds(situation: Situation, names: list[str], findings: Findings) -> None:
    """apt does not change what is on hold, and a hold that somebody else set is not ours to lift."""
    facts = situation.facts
    held = [name for name in names if _held(facts, name) and name not in facts["holds"]]
    if held:
        findings.add(
            "driver-held",
            found=f"{', '.join(held)} is on hold and would change",
            expected="driver packages that may change",
            remedy=f"apt-mark unhold {' '.join(held)}, or choose the release whose driver is installed",
        )


def _held(facts: Mapping[str, Any], name: str) -> bool:
    return bool(facts["packages"].get(name, {}).get("held"))


def _plan_holds(situation: Situation, stage: Stage) -> None:
    """Holds on kernel and driver; ours are recorded, so that exactly these are lifted when nobody wants them."""
    facts = situation.facts
    ours = facts["holds"]
    wanted = _to_hold(situation, stage) if situation.wishes.hold else []
    stage["hold"] = [name for name in wanted if name in ours or not _held(facts, name)]
    released = [name for name in ours if name not in stage["hold"]]
    changing = [row["target"] for row in stage["actions"] if row["action"] in ("install", "remove")]
    stage["unhold"] = [
        name for name in ours if name in [*released, *changing] and installed(facts, name) and _held(facts, name)
    ]
    stage["actions"] += [action("unhold", name, "held by us and no longer to be") for name in released]
    stage["actions"] += [
        action("hold", name, "may change by itself") for name in stage["hold"] if not _held(facts, name)
    ]


def _to_hold(situation: Situation, stage: Stage) -> list[str]:
    """Packages that bring another kernel, and the driver."""
    if stage["mode"] == "none":
        return []
    facts = situation.facts
    kernels = [name for name in facts["packages"] if KERNEL_METAPACKAGE.fullmatch(name) and installed(facts, name)]
    return kernels + (situation.release["packages"]["driver"] if stage["mode"] == "dkms" else [])


def _plan_reboot(situation: Situation, stage: Stage, findings: Findings) -> None:
    """The loaded module compared with the one on disk decides, or the one that this run brings there."""
    facts = situation.facts
    if stage["mode"] == "none":
        return
    running = facts["kernel"]["release"]
    lacking = kernels_without_module(facts) if stage["mode"] == "dkms" else []
    if stage["changes_driver"] or running in stage["build"]:
        stage["reboot_reason"] = "this run changes the driver"
    else:
        stage["reboot_reason"] = _module_differs(situation, stage, findings)
    stage["reboot"] = bool(stage["reboot_reason"])
    next_boot = facts["kernel"]["next_boot"]
    if stage["reboot"] and not stage["changes_driver"] and next_boot in lacking and next_boot not in stage["build"]:
        stage["reboot"] = False
        stage["note"] = f"no reboot: kernel {next_boot}, which boots next, would have no driver"


def _module_differs(situation: Situation, stage: Stage, findings: Findings) -> str:
    """How the loaded amdgpu differs from the one that modprobe would load now; empty where it does not."""
    driver, boot = situation.facts["driver"], situation.facts["boot"]
    on_disk = driver["on_disk"]
    if not on_disk or not (driver["loaded"] or (situation.gpus and stage["mode"] == "dkms")):
        return ""
    if driver["loaded"] and driver["srcversion"] == on_disk["srcversion"]:
        return ""
    loaded = f"amdgpu {driver['version'] or 'of the kernel'}" if driver["loaded"] else "no amdgpu"
    found = f"{loaded} is loaded, {on_disk['path']} is on disk"
    last = boot["last"]
    if last and last["id"] != boot["id"] and last["module"] == (on_disk["srcversion"] or ""):
        findings.add(
            "reboot-loop",
            found=f"{found}, after a reboot that was to load it",
            expected="the module on disk to be the loaded one after one reboot",
            remedy="look for amdgpu in the kernel log (dmesg) and for a stale copy in the initramfs (lsinitramfs)",
        )
        return ""
    findings.add(
        "reboot-required",
        found=found,
        expected="the module on disk to be the loaded one",
        remedy="reboot the host",
    )
    return found
