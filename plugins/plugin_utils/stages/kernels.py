"""The kernels that the driver must serve, and what a build for them needs of the distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation


def boot_kernels(facts: Mapping[str, Any]) -> list[str]:
    """The kernel that runs and the one that boots next."""
    return [name for name in dict.fromkeys([facts["kernel"]["release"], facts["kernel"]["next_boot"]]) if name]


def role(facts: Mapping[str, Any], kernel: str) -> str:
    """What a boot kernel is to the host."""
    running, following = kernel == facts["kernel"]["release"], kernel == facts["kernel"]["next_boot"]
    return "runs and boots next" if running and following else "runs" if running else "boots next"


def kernel_packages(situation: Situation, kernels: Sequence[str], findings: Findings) -> dict[str, str]:
    """Headers and extra modules that the kernels lack, where their flavour has them: name to reason."""
    kernel = situation.facts["kernel"]
    needed: dict[str, str] = {}
    missing: dict[str, str] = {}
    parts = {kernel["release"]: kernel, kernel["next_boot"]: kernel["next"] or kernel}
    for release in kernels:
        reason = f"kernel {release} {'runs' if release == kernel['release'] else 'boots next'}"
        headers, extra = parts[release]["headers"], parts[release]["modules_extra"]
        if not headers["installed"] and headers["candidate"]:
            needed[headers["package"]] = reason
        elif not headers["installed"]:
            missing[release] = headers["package"]
        if not extra["installed"] and extra["candidate"]:
            needed[extra["package"]] = reason
    _name_missing_headers(situation.facts, missing, findings)
    return needed


def _name_missing_headers(facts: Mapping[str, Any], missing: Mapping[str, str], findings: Findings) -> None:
    """One refusal for all kernels that no module can be built for: release to the package that apt does not have."""
    if not missing:
        return
    others = [name for name in facts["kernel"]["installed"] if name not in missing]
    following = facts["kernel"]["next_boot"]
    if following and following not in missing:
        elsewhere = f"reboot into kernel {following}"
    elif others:
        elsewhere = f"make another kernel the default ({', '.join(others)} installed) and reboot into it"
    else:
        elsewhere = "install a kernel that has headers and reboot into it"
    findings.add(
        "headers-missing",
        found="; ".join(
            f"kernel {release} {role(facts, release)} and {package} has no candidate"
            for release, package in missing.items()
        ),
        expected="headers of the kernel that runs and of the one that boots next",
        remedy=f"{elsewhere}, or install {' and '.join(missing.values())} from where the kernel came from",
    )
