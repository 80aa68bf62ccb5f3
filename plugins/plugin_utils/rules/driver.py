"""The driver on the host: does it fit the wanted ROCm, is it the one that works, will the next boot have it?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.kernels import unsupported
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import driver_serves, drivers, table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.driver import kernels_without_module
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import parse

Stages = Mapping[str, Mapping[str, Any]]

# Ubuntu 24.04's first linux-firmware with the files of these GPUs is ...-0ubuntu2.17 (reported as ROCm/ROCm#4992).
FIRMWARE_TARGETS = ("gfx1150", "gfx1151", "gfx1200", "gfx1201")
FIRMWARE_PACKAGE = "linux-firmware"
FIRMWARE_UPDATE_WITH_FILES = 17
FIRMWARE_UPDATE = re.compile(r"-0ubuntu2(?:\.(\d+))?$")


def pairing(situation: Situation, stages: Stages, findings: Findings) -> None:
    """The driver must be one that AMD pairs with the wanted ROCm.

    The driver in the kernel itself has no version and is not judged; neither is a pair that AMD's table lacks.
    """
    version, candidates = situation.release["version"], _drivers(situation, stages)
    answers = {driver_serves(driver, version) for driver in candidates}
    if True in answers or False not in answers:
        return
    lines = {parse(driver).line for driver in candidates}
    rows, line = table("compatibility")["lines"], parse(version).line
    fitting = [row["driver"] for row in rows if line in row["user_space"]]
    served = list(dict.fromkeys(item for row in rows if row["driver"] in lines for item in row["user_space"]))
    findings.add(
        "driver-userspace-mismatch",
        found=_named(situation, candidates),
        expected=f"one that AMD pairs with ROCm {line}: {', '.join(fitting) or 'unknown'}",
        remedy="have such a driver (rocm_driver_mode, rocm_driver_version, on the machine itself), or choose ROCm "
        f"{served[0]} to {served[-1]}",
    )


def needed_by_gpu(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Some GPUs need a driver of a certain age, whatever the user space."""
    candidates = _drivers(situation, stages)
    for row in table("compatibility")["limits"]:
        gpus = [str(gpu.name) for gpu in situation.gpus if gpu.among(row["gpus"])]
        since = row.get("driver_since")
        if gpus and since and candidates and all(parse(driver) < parse(since) for driver in candidates):
            findings.add(
                "driver-too-old",
                found=f"{_named(situation, candidates)}, for {', '.join(dict.fromkeys(gpus))}",
                expected=f"driver {since} or newer",
                remedy="install such a driver (rocm_driver_mode: dkms on the machine itself)",
            )


def _drivers(situation: Situation, stages: Stages) -> list[str]:
    """The wanted driver, or those with the loaded module where this run installs none; none for the kernel's own."""
    if stages["driver"]["mode"] == "dkms" and not situation.in_container:
        return [situation.release["driver"]["version"]]
    module = situation.facts["driver"]["version"]
    return [row["version"] for row in drivers().values() if module and row["module"] == module]


def _named(situation: Situation, candidates: list[str]) -> str:
    module = situation.facts["driver"]["version"]
    wanted = candidates == [situation.release["driver"]["version"]]
    return f"driver {candidates[0]}" if wanted else f"driver {' or '.join(candidates)} (module {module}) is loaded"


def blacklist(situation: Situation, stages: Stages, findings: Findings) -> None:
    """A blacklisted amdgpu is not loaded at boot, whatever is installed."""
    if stages["driver"]["mode"] == "none" or situation.in_container:
        return
    for row in situation.facts["driver"]["blacklist"]:
        if row["package"] and situation.facts["driver"]["loaded"]:
            continue  # the driver's own package may load it by other means
        findings.add(
            "blacklist-left-behind",
            found=f"{row['file']} line {row['line']} keeps amdgpu from loading"
            + (f" (package {row['package']})" if row["package"] else ""),
            expected="amdgpu to load at boot",
            remedy="take the option out of GRUB_CMDLINE_LINUX and run update-grub"
            if row["file"] == "/proc/cmdline"
            else f"remove the line from {row['file']}, then run update-initramfs -u",
        )


def dkms(situation: Situation, stages: Stages, findings: Findings) -> None:
    """What DKMS has and lacks for the kernels that matter; a driver that is about to change is not looked at."""
    facts = situation.facts
    for row in facts["driver"]["dkms"]:
        if row["state"] == "broken":
            findings.add(
                "dkms-stale-tree",
                found=f"DKMS lists {row['module']}/{row['version']} without its source",
                expected="a source for every entry; this one stops every dkms command",
                remedy=f"remove /var/lib/dkms/{row['module']}/{row['version']}"
                + ("; this run does" if stages["driver"]["stale"] else ""),
            )
    if stages["driver"]["mode"] != "dkms" or stages["driver"]["changes_driver"] or situation.in_container:
        return
    for kernel in kernels_without_module(facts):
        running = kernel == facts["kernel"]["release"]
        reason = unsupported(kernel, situation.release["driver"])
        findings.add(
            "dkms-failed" if running else "next-kernel-without-driver",
            found=f"DKMS has no installed amdgpu for kernel {kernel}, which {'runs' if running else 'boots next'}"
            + (f" and {reason.rstrip(',')}" if reason else ""),
            expected="the driver for the kernel that runs and for the one that boots next",
            remedy="boot another kernel, or choose a release whose driver supports this one (docs/releases.md)"
            if reason
            else f"nothing to do: this run builds it (dkms install -k {kernel})",
        )


def loaded(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Whether the loaded module is the wanted kind and offers compute to the users."""
    driver, kfd = situation.facts["driver"], situation.facts["kfd"]
    settled = not stages["driver"]["changes_driver"] and not situation.in_container
    if settled and stages["driver"]["mode"] == "dkms" and driver["loaded"] and driver["version"] is None:
        findings.add(
            "driver-inbox-loaded",
            found="the kernel's own amdgpu is loaded",
            expected="the DKMS driver",
            remedy="reboot the host; when it comes back the same, read dkms status",
        )
    if settled and driver["loaded"] and situation.gpus and not kfd["present"] and not stages["driver"]["reboot"]:
        findings.add(
            "kfd-missing",
            found="amdgpu is loaded and there is no /dev/kfd",
            expected="the compute device of the driver",
            remedy="look for kfd in the kernel log; a kernel without CONFIG_HSA_AMD has none",
        )


def firmware(situation: Situation, stages: Stages, findings: Findings) -> None:
    """The newest GPUs need firmware that the first images of Ubuntu 24.04 lack; AMD's driver brings its own."""
    facts = situation.facts
    new = [gpu.gfx for gpu in situation.gpus if gpu.gfx in FIRMWARE_TARGETS]
    package = facts["packages"].get(FIRMWARE_PACKAGE)
    if not new or not package or facts["os"]["base_codename"] != "noble" or stages["driver"]["mode"] == "dkms":
        return
    update = FIRMWARE_UPDATE.search(package["version"])
    if update and int(update[1] or 0) < FIRMWARE_UPDATE_WITH_FILES:
        findings.add(
            "firmware-old",
            found=f"{FIRMWARE_PACKAGE} {package['version']} for {', '.join(dict.fromkeys(map(str, new)))}",
            expected=f"...-0ubuntu2.{FIRMWARE_UPDATE_WITH_FILES} or newer",
            remedy=f"apt-get install --only-upgrade {FIRMWARE_PACKAGE}, then reboot",
        )
