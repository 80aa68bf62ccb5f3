"""Stage sdk: user-space packages of exactly the wanted release."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import doubts
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import rename_answer, renamed_package
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Action,
    Situation,
    Stage,
    action,
    installed,
    package_difference,
    pattern,
    replacement_pin,
    sdk_versions,
)


def plan_sdk(situation: Situation, findings: Findings) -> Stage:
    """User-space packages of exactly the wanted release, replacing the distribution's where they collide."""
    facts, release = situation.facts, situation.release
    wanted = _wanted_packages(situation, findings)
    versions = sdk_versions(release)
    actions: list[Action] = []
    shadowing = [
        name
        for name in release["packages"]["shadowed"]
        if installed(facts, name) and not facts["packages"][name]["amd"]
    ]
    for name in shadowing:
        version = facts["packages"][name]["version"]
        findings.add(
            "distro-package-shadows",
            found=f"{name} {version} of the distribution is installed",
            expected=f"{name} of ROCm {release['version']}",
            remedy="nothing to do: it is replaced together with the SDK",
        )
    _name_doubled_libraries(situation, findings)
    names = list(dict.fromkeys([*wanted, *shadowing]))
    for name in names:
        reason = package_difference(facts, name, versions)
        if reason:
            actions.append(action("install", name, reason))
    prerequisites = [name for name in release["packages"]["prerequisites"] if not installed(facts, name)]
    actions += [action("install", name, "not installed") for name in prerequisites]
    return {
        "actions": actions,
        "packages": [pattern(name, versions) for name in names] + prerequisites if actions else [],
        "pin": replacement_pin(release, actions),
    }


def _name_doubled_libraries(situation: Situation, findings: Findings) -> None:
    """The distribution's packages with a library of ROCm under another name; other programs may need them."""
    facts, names = situation.facts, situation.release["packages"]["conflicting"]
    for name in names:
        if installed(facts, name) and not facts["packages"][name]["amd"]:
            findings.add(
                "distro-package-shadows",
                found=f"{name} {facts['packages'][name]['version']} of the distribution is installed",
                expected=f"one library of that kind, that of ROCm {situation.release['version']}",
                remedy=f"look at what needs it (apt-get --simulate remove {name}), then remove it or let it be",
            )


def _wanted_packages(situation: Situation, findings: Findings) -> list[str]:
    """The operator's package names, old ones answered by what replaced them."""
    release = situation.release
    wanted: list[str] = []
    default = _default_packages(situation, findings)
    for name in situation.wishes.packages or default:
        replacement = renamed_package(name)
        if replacement is None:
            wanted.append(name)
            continue
        findings.add(
            "package-renamed",
            found=f"rocm_packages names {name}",
            expected=f"{replacement}: {rename_answer(name)}",
            remedy=f"write {replacement} there",
        )
        findings.add_notes(doubts.warnings(doubts.of_renamed(name)))
        if replacement not in release["packages"]["driver"]:
            wanted.append(replacement)
    return list(dict.fromkeys(wanted)) or default


def _default_packages(situation: Situation, findings: Findings) -> list[str]:
    """The SDK; where it is split by GPU target, only the parts for the GPUs of this host.

    A host without a known GPU, and one that holds the SDK for all targets already, goes with that one.
    """
    packages = situation.release["packages"]
    default: list[str] = packages["default"]
    targets = list(dict.fromkeys(gpu.gfx for gpu in situation.gpus if gpu.supported))
    if not packages["per_gfx"] or all(installed(situation.facts, name) for name in default):
        return default
    if targets and all(target in packages["per_gfx"] for target in targets):
        return [name for target in targets for name in packages["per_gfx"][target]]
    if packages["per_gfx_only"] and not situation.wishes.packages:
        findings.add(
            "packages-per-gpu",
            found="GPU targets " + (", ".join(map(str, targets)) or "unknown"),
            expected=f"targets that ROCm {situation.release['version']} has packages for: "
            + ", ".join(packages["per_gfx"]),
            remedy="name the packages in rocm_packages, or choose a release with packages for all targets",
        )
    return default
