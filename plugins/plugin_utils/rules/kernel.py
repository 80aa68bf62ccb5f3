"""Whether the driver of a release can be built for the kernels of a host, decided before anything is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import parse

# 6.8.0-44-generic: series 6.8, ABI 44.
KERNEL = re.compile(r"(?P<series>\d+\.\d+)\.\d+-(?P<abi>\d+)")


def check_kernel(situation: Situation, stages: Mapping[str, Mapping[str, Any]], findings: Findings) -> None:
    """Look at the running kernel and at the one that boots next; a driver that needs no change is left alone."""
    driver = stages["driver"]
    if driver["mode"] != "dkms" or not driver["actions"] or situation.in_container:
        return
    kernel = situation.facts["kernel"]
    for release in dict.fromkeys([kernel["release"], kernel["next_boot"]]):
        if release:
            _check_release(release, situation.release, findings)
    if kernel["mainline"]:
        findings.add(
            "kernel-mainline",
            found=f"kernel {kernel['release']} is a mainline build",
            expected="a kernel of the distribution's own archive",
            remedy="install linux-generic and boot it, or set rocm_driver_mode: inbox",
        )
    key = situation.facts["driver"].get("signing_key")
    if situation.facts["secure_boot"] == "enabled" and not (key and key["enrolled"]):
        findings.add(
            "secure-boot-unsigned",
            found="Secure Boot is on and " + ("the DKMS key is not enrolled" if key else "there is no DKMS key"),
            expected="an enrolled machine owner key (MOK) that signs DKMS modules",
            remedy="enrol one at the console with mokutil, or set rocm_driver_mode: inbox",
        )


def _check_release(kernel: str, release: Mapping[str, Any], findings: Findings) -> None:
    match = KERNEL.match(kernel)
    listed = release["driver"]["kernels"]
    if not match or not listed:
        return
    series, abi = match["series"], int(match["abi"])
    reason = _failure(series, abi, release["driver"]["fails_on"])
    if not reason and parse(series) > parse(listed[-1]):
        reason = f"is newer than {listed[-1]}, the newest that AMD lists"
    names = ", ".join(listed)
    if reason:
        findings.add(
            "kernel-unsupported",
            found=f"kernel {kernel} {reason} for driver {release['driver']['version']}",
            expected=f"a kernel of series {names}",
            remedy="boot a listed kernel, choose a release whose driver supports this one (docs/releases.md), "
            "or set rocm_driver_mode: inbox",
        )
    elif series not in listed:
        findings.add(
            "kernel-unlisted",
            found=f"kernel {kernel}",
            expected=f"a kernel that AMD lists for driver {release['driver']['version']}: series {names}",
            remedy="nothing to do where the driver builds; try it on one host first",
        )


def _failure(series: str, abi: int, rows: list[Mapping[str, Any]]) -> str:
    """Why a kernel is known to break the build; empty where nothing is known."""
    for row in rows:
        if row["series"] == series and (row["abi_from"] is None or abi >= row["abi_from"]):
            since = f" from ABI {row['abi_from']} on" if row["abi_from"] else ""
            return f"is of series {series}, on which the build fails{since},"
    return ""
