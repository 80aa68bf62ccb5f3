"""Whether the driver of a release can be built for the kernels of a host, decided before anything is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.kernel import parse_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.kernels import unlisted, unsupported
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.kernels import role
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]


def check_kernel(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Look at the running kernel and at the one that boots next; a driver that needs no change is left alone."""
    driver = stages["driver"]
    if driver["mode"] != "dkms" or not driver["changes_driver"] or situation.in_container:
        return
    for release in driver["kernels"]:
        _check_release(release, situation.release["driver"], findings)
    mainline = [release for release in driver["kernels"] if parse_release(release)["mainline"]]
    if mainline:
        found = " and ".join(f"kernel {release}, which {role(situation.facts, release)}," for release in mainline)
        findings.add(
            "kernel-mainline",
            found=f"{found} {'is a mainline build' if len(mainline) == 1 else 'are mainline builds'}",
            expected="kernels of the distribution's own archive",
            remedy="install linux-generic, make it the one that boots (GRUB_DEFAULT) and reboot, "
            "or set rocm_driver_mode: inbox",
        )


def secure_boot(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Under Secure Boot the kernel loads what an enrolled key signed; only somebody at the console can enrol one."""
    driver, facts = stages["driver"], situation.facts
    if facts["secure_boot"] != "enabled" or not (driver["build"] or driver["changes_driver"]):
        return
    key = facts["driver"]["signing_key"]
    if driver["mode"] != "dkms" or (key and key["enrolled"]):
        return
    enrol = f"mokutil --import {key['path']}" if key else "update-secureboot-policy --new-key and --enroll-key"
    findings.add(
        "secure-boot-unsigned",
        found="Secure Boot is on and " + ("the DKMS key is not enrolled" if key else "there is no DKMS key"),
        expected="an enrolled machine owner key (MOK) that signs DKMS modules",
        remedy=f"enrol one ({enrol}, confirmed at the console during the next boot), or set rocm_driver_mode: inbox",
    )


def _check_release(kernel: str, driver: Mapping[str, Any], findings: Findings) -> None:
    reason = unsupported(kernel, driver)
    series = ", ".join(driver["kernels"] or [])
    if reason:
        findings.add(
            "kernel-unsupported",
            found=f"kernel {kernel} {reason} for driver {driver['version']}",
            expected=f"a kernel of series {series}",
            remedy="boot a listed kernel, choose a release whose driver supports this one (docs/releases.md), "
            "or set rocm_driver_mode: inbox",
        )
    elif unlisted(kernel, driver):
        findings.add(
            "kernel-unlisted",
            found=f"kernel {kernel}",
            expected=f"a kernel that AMD lists for driver {driver['version']}: series {series}",
            remedy="nothing to do where the driver builds; try it on one host first",
        )
