"""Stage environment: PATH for login shells and the dynamic linker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Situation,
    Stage,
    action,
    difference,
)

# Where the newer packages show their libraries, whatever release is the chosen one.
CORE_LIBRARIES = "/opt/rocm/lib"
# A tree of one release, in either layout.
VERSIONED_TREE = re.compile(r"/opt/rocm(?:-|/core-)\d")


def link_options(release: Mapping[str, Any]) -> list[str]:
    """What hipcc must be given so that a program finds ROCm's libraries; nothing where the linker's cache has them."""
    return [] if release["ld_so"] else [f"-Wl,-rpath,{CORE_LIBRARIES}"]


def plan_environment(situation: Situation, findings: Findings) -> Stage:
    """PATH for login shells and the dynamic linker's configuration."""
    facts, release = situation.facts, situation.release
    libraries = release["ld_so"]["directories"] if release["ld_so"] else [CORE_LIBRARIES]
    script = render.profile_script(release["path"], libraries if situation.wishes.ld_library_path else None)
    files = [{"path": paths.PROFILE, "content": script, "mode": "0644"}]
    if release["ld_so"]:
        content = render.ld_so_conf(libraries)
        files.append({"path": release["ld_so"]["file"], "content": content, "mode": "0644"})
    remove = [paths.LD_SO_CONF] if not release["ld_so"] and facts["files"].get(paths.LD_SO_CONF) else []
    changed = [(file, difference(facts, file)) for file in files]
    actions = [action("remove", path, "this release needs none") for path in remove]
    actions += [action("write", str(file["path"]), reason) for file, reason in changed if reason]
    if not release["ld_so"] and not situation.wishes.ld_library_path:
        findings.add(
            "programs-need-rpath",
            found=f"ROCm {release['version']} tells the dynamic linker of no directory",
            expected="programs that know where its libraries are",
            remedy=f"link own programs with {link_options(release)[0]}, or set rocm_ld_library_path: true",
        )
    for setting in facts["environment"]:
        if setting["file"] == paths.PROFILE or not _sets_something(setting):
            continue
        if setting["variable"] == "HSA_OVERRIDE_GFX_VERSION":
            findings.add(
                "hsa-override-set",
                found=f"HSA_OVERRIDE_GFX_VERSION={setting['value']} in {setting['file']}",
                expected="no override on a fleet",
                remedy=f"remove the line from {setting['file']}",
            )
        elif setting["variable"] == "LD_LIBRARY_PATH":
            findings.add(
                "ld-library-path-set",
                found=f"LD_LIBRARY_PATH={setting['value']} in {setting['file']}",
                expected="the linker configuration in /etc/ld.so.conf.d",
                remedy=f"remove the line from {setting['file']}",
            )
        elif setting["variable"] == "PATH" and VERSIONED_TREE.search(setting["value"]):
            findings.add(
                "profile-leftover",
                found=f"PATH={setting['value']} in {setting['file']}",
                expected="/opt/rocm, which follows the installed release",
                remedy=f"remove the line from {setting['file']}",
            )
    return {
        "actions": actions,
        "files": [file for file, reason in changed if reason],
        "remove": remove,
        # What an older ROCm had in the cache must not be found any more.
        "linker_cache": bool(remove),
    }


def _sets_something(setting: Mapping[str, str]) -> bool:
    """An empty value, or one that only repeats the variable itself, is none."""
    own = rf"\$(?:{setting['variable']}\b|{{{setting['variable']}[^}}]*}})"
    return bool(re.sub(own, "", setting["value"]).strip(" :"))


def refresh_linker_cache(situation: Situation, stages: Mapping[str, Stage]) -> None:
    """ldconfig follows new libraries and new directories; alone it runs only where the cache lacks them."""
    if not situation.release["ld_so"]:
        return
    directories = tuple(situation.release["ld_so"]["directories"])
    cached = any(str(path).startswith(directories) for path in situation.facts["ldconfig"].values())
    environment = stages["environment"]
    reason = ""
    if stages["sdk"]["actions"] or environment["actions"]:
        reason = "libraries or their directories change"
    elif not cached:
        reason = "ROCm's libraries are not in the cache"
    if reason:
        environment["linker_cache"] = True
        environment["actions"].append(action("refresh", "linker cache", reason))
