"""What the stages of a plan share: the situation they look at, and the ways to name a difference."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import Gpu
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import renamed_package
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.wishes import Wishes

Stage = dict[str, Any]
Action = dict[str, str]


@dataclass(frozen=True)
class Situation:
    """Everything a stage may look at."""

    facts: Mapping[str, Any]
    wishes: Wishes
    release: Mapping[str, Any]
    torch: Mapping[str, Any] | None
    gpus: Sequence[Gpu]
    probe: Mapping[str, Any]
    today: str

    @property
    def in_container(self) -> bool:
        """Whether the host is a container, which has no kernel of its own."""
        return bool(self.facts["virtualization"]["kind"] == "container")

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The apt sources this host needs: the driver's only where a driver is installed from it."""
        return [
            source for source in self.release["sources"] if source["name"] != "amdgpu" or driver_mode(self) == "dkms"
        ]

    @property
    def keys(self) -> list[Mapping[str, Any]]:
        """The signing keys that those sources need."""
        needed = {source["keyring"] for source in self.sources}
        return [key for key in self.release["keys"] if key["path"] in needed]


def driver_mode(situation: Situation) -> str:
    """The driver mode for this host; ``auto`` follows the hardware."""
    wanted = situation.wishes.driver_mode
    if situation.facts["virtualization"]["kind"] == "wsl":
        return "none"  # Windows has the driver, whatever the inventory says
    asked_for_dkms = any(renamed_package(name) == "amdgpu-dkms" for name in situation.wishes.packages)
    if wanted != "auto":
        return wanted
    if situation.in_container:
        return "none"
    if asked_for_dkms:
        return "dkms"
    if not situation.gpus:
        return "none"
    if situation.facts["os"]["id"] != situation.facts["os"]["base_id"]:
        return "inbox"  # a derivative brings kernels of its own, for which AMD's driver is not made
    return "inbox" if all(gpu.integrated for gpu in situation.gpus) else "dkms"


def action(action: str, target: str, reason: str) -> Action:
    return {"action": action, "target": target, "reason": reason}


def difference(facts: Mapping[str, Any], file: Mapping[str, Any]) -> str:
    """Why the file on the host is not the wanted one; empty when it is."""
    found = facts["files"].get(file["path"])
    if found is None:
        return "missing"
    if found["sha256"] != hashlib.sha256(str(file["content"]).encode()).hexdigest():
        return "content differs"
    if (found["mode"], found["owner"], found["group"]) != (file["mode"], "root", "root"):
        return f"is {found['mode']} {found['owner']}:{found['group']}, not {file['mode']} root:root"
    return ""


def installed(facts: Mapping[str, Any], name: str) -> bool:
    return name in facts["packages"]


def sdk_versions(release: Mapping[str, Any]) -> str:
    """Version pattern of a release's packages: a build field (``.60000-``), or the number itself in the new stream."""
    return build_versions(release["build"]) or f"{release['version']}-*"


def build_versions(build: str | None) -> str | None:
    """Version pattern of packages that carry this build field; None where the field is not known."""
    return f"*.{build}-*" if build else None


def package_difference(facts: Mapping[str, Any], name: str, versions: str | None) -> str:
    """Why a package is not one whose version fits the pattern; empty when it is."""
    if not installed(facts, name):
        return "not installed"
    version = facts["packages"][name]["version"]
    if versions and not fnmatchcase(version, versions):
        return f"is {version}"
    return ""


def pattern(name: str, versions: str | None) -> str:
    """The apt package pattern that only AMD's build of the release matches."""
    return f"{name}={versions}" if versions else name


def replacement_pin(release: Mapping[str, Any], actions: Sequence[Action]) -> dict[str, str] | None:
    """The pin under which installed packages give way to AMD's of the wanted release, also where those sort lower.

    apt never downgrades below priority 1000, and the versions of dependencies cannot be listed one by one.
    """
    if not release["pin"] or not any(row["reason"].startswith("is ") for row in actions):
        return None
    pin = {"origin": release["pin"]["origin"], "priority": 1001}
    return {"path": paths.REPLACE_PIN, "content": render.apt_pin(pin), "mode": "0644"}
