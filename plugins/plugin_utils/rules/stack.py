"""The wanted ROCm against its own kind and against the ROCm that is on the host already."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]

# rocm-hip-sdk7.2.4: the names that stay with one release, up to 7.2.4.
VERSIONED = re.compile(r"[a-z][a-z0-9-]*?\d+\.\d+\.\d+")

# As many packages as one line bears.
SHOWN = 5


def release_kind(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Releases that are not meant for production, or not for a whole host."""
    release = situation.release
    if release["kind"] == "preview":
        findings.add(
            "release-preview",
            found=f"ROCm {release['version']} is a technology preview",
            expected="a production release",
            remedy="choose a production release, or set rocm_allow: [release-preview]",
        )
    if release["kind"] == "delta":
        findings.add(
            "release-delta",
            found=f"ROCm {release['version']} updates only a few packages of an earlier release",
            expected="a release with the whole stack",
            remedy="choose the release before or after it, or set rocm_allow: [release-delta]",
        )


def streams(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """/opt/rocm is a link up to 7.2 and a folder from 7.14 on: one cannot be installed over the other."""
    core = situation.release["stream"] == "core"
    packages = _installed(situation.facts, "rocm-core" if core else "amdrocm")
    other = (_legacy_trees if core else _core_trees)(situation.facts) + _with_versions(situation.facts, packages)
    if other:
        ages = ("up to 7.2", "from 7.14 on")
        findings.add(
            "new-stream-over-legacy" if core else "legacy-over-new-stream",
            found=", ".join(other),
            expected=f"no ROCm {ages[not core]} on a host that gets ROCm {situation.release['version']}",
            remedy=_removal(packages) + "look that /opt/rocm is gone, then run again",
        )


def _removal(packages: list[str]) -> str:
    """How to remove packages and what needs them, but not before somebody has seen the list."""
    if not packages:
        return "no package brought it: move it away, "
    names = " ".join(packages)
    return f"see what goes with it (apt-get --simulate purge {names}), purge it when that is ROCm alone, "


def package_naming(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Versioned and unversioned names bring the same files twice and upgrade each other out of order."""
    if situation.release["stream"] == "core":
        return
    wanted = [name.partition("=")[0] for name in situation.wishes.packages or situation.release["packages"]["default"]]
    there = _installed(situation.facts, "rocm")
    versioned = [name for name in wanted if VERSIONED.fullmatch(name)]
    plain = [name for name in wanted if name not in versioned]
    if versioned and not plain:
        other = [name for name in there if not VERSIONED.fullmatch(name) and name != "rocm-core"]
    elif versioned:
        other = plain
    else:
        other = [name for name in there if VERSIONED.fullmatch(name)]
    if other:
        findings.add(
            "versioned-unversioned-mix",
            found=f"{', '.join(versioned or plain)} is wanted beside {', '.join(other)}",
            expected="either names with a version (side by side) or without (one release), not both",
            remedy=f"take {' '.join(other)} out of rocm_packages"
            if set(other) <= set(wanted)
            else f"see what goes with them (apt-get --simulate remove {' '.join(other)}), then remove them, "
            "or wish for names of the same kind in rocm_packages",
        )


def other_installs(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Trees of other releases stay usable by accident: a PATH or a CMake cache finds them."""
    prefix = situation.release["prefix"]
    changing = bool(stages["sdk"]["actions"])
    for row in situation.facts["rocm"]["installs"]:
        if row["path"] not in (prefix, "/opt/rocm", "/opt/rocm/core") and not changing:
            findings.add(
                "several-rocm-installs",
                found=f"{row['path']} ({row['version'] or 'without a version file'}) beside {prefix}",
                expected="one ROCm, unless several are wanted",
                remedy=f"remove its packages (dpkg -S {row['path']}), or leave it where programs need it",
            )


def _legacy_trees(facts: Mapping[str, Any]) -> list[str]:
    """What is left of the old layout: the link /opt/rocm."""
    link = facts["rocm"]["link"]
    return [f"/opt/rocm leads to {link}"] if link and not link.startswith("/opt/rocm/") else []


def _core_trees(facts: Mapping[str, Any]) -> list[str]:
    """What is left of the new layout: trees below /opt/rocm."""
    return [row["path"] for row in facts["rocm"]["installs"] if row["path"].startswith("/opt/rocm/core-")]


def _installed(facts: Mapping[str, Any], start: str) -> list[str]:
    return [name for name in facts["packages"] if name.startswith(start)]


def _with_versions(facts: Mapping[str, Any], names: list[str]) -> list[str]:
    """Some of them with their versions, for a message."""
    shown = [f"{name} {facts['packages'][name]['version']}" for name in names[:SHOWN]]
    return shown + ([f"{len(names) - SHOWN} more packages"] if len(names) > SHOWN else [])
