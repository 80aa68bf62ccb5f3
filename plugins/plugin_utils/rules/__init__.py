"""What there is to say about a host beyond the stages: each rule is one small function that adds its own findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.rules import (
    driver,
    gpus,
    host,
    kernel,
    servers,
    stack,
    wheels,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

RULES = (
    host.architecture,
    host.unread,
    stack.release_kind,
    stack.streams,
    stack.package_naming,
    stack.other_installs,
    host.virtualization,
    gpus.expected,
    gpus.known,
    gpus.supported,
    gpus.listed_here,
    gpus.integrated,
    gpus.served_by_kernel,
    gpus.iommu,
    kernel.check_kernel,
    kernel.secure_boot,
    driver.pairing,
    driver.needed_by_gpu,
    driver.blacklist,
    driver.dkms,
    driver.loaded,
    driver.firmware,
    host.dpkg,
    host.space,
    host.unattended_upgrades,
    host.sessions,
    servers.answers,
    wheels.pages,
    servers.keys,
    servers.expiry,
    servers.common_keyring,
    servers.pins,
)


def check(situation: Situation, stages: Mapping[str, Mapping[str, Any]], findings: Findings) -> None:
    """Run every rule over the situation and the planned stages."""
    for rule in RULES:
        rule(situation, stages, findings)
