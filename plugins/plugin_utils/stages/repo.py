"""Stage repo: keyring, apt sources and pin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Action,
    Situation,
    Stage,
    action,
    difference,
)

SOURCE_FILES = (paths.ROCM_SOURCE, paths.AMDGPU_SOURCE, paths.GRAPHICS_SOURCE)


def plan_repo(situation: Situation, findings: Findings) -> Stage:
    """Keyring, apt sources and pin; foreign entries for the same repositories go first."""
    facts, release = situation.facts, situation.release
    files = [
        {"path": source["file"], "content": render.deb822_source(source), "mode": "0644"}
        for source in situation.sources
    ]
    if release["pin"]:
        pin = {"path": release["pin"]["file"], "content": render.apt_pin(release["pin"]), "mode": "0644"}
        files.insert(0, pin)
    keys, key_actions = _keys(situation)
    foreign = _foreign_sources(situation, findings)
    leftovers = [
        path
        for path in (*SOURCE_FILES, paths.ROCM_PIN, paths.REPLACE_PIN)
        if facts["files"].get(path) and path not in {file["path"] for file in files}
    ]
    actions = [action("move-away", path, "names AMD's repositories beside our own file") for path in foreign]
    actions += [action("remove", path, "not part of the wanted release") for path in leftovers]
    actions += key_actions
    changed = [(file, difference(facts, file)) for file in files]
    actions += [action("write", str(file["path"]), reason) for file, reason in changed if reason]
    stale = sorted(source["file"] for source in situation.sources if not _indexed(facts, source))
    if actions or stale:
        actions.append(action("update", "apt package index", "sources changed" if actions else "index missing"))
    return {
        "actions": actions,
        "move_away": foreign,
        "remove": leftovers,
        "keys": keys,
        "files": [{**file, "existed": reason != "missing"} for file, reason in changed if reason],
    }


def _keys(situation: Situation) -> tuple[list[dict[str, Any]], list[Action]]:
    """Keyrings to write. A key is only ever written from an answer whose fingerprint is the pinned one."""
    keyrings = {row["path"]: row for row in situation.facts["apt"]["keyrings"]}
    keys, actions = [], []
    for key in situation.keys:
        answer = situation.probe["keys"].get(key["url"], {})
        trusted = answer.get("fingerprints") == [key["fingerprint"]]
        content = answer.get("content") if trusted else None
        file = {"path": key["path"], "content": content or "", "mode": "0644"}
        found = keyrings.get(key["path"])
        if found is None:
            reason = "missing"
        elif found["fingerprints"] != [key["fingerprint"]]:
            reason = "holds another key"
        else:
            reason = difference(situation.facts, file) if content else ""
        if reason:
            keys.append(file)
            actions.append(action("write", key["path"], reason))
    return keys, actions


def _foreign_sources(situation: Situation, findings: Findings) -> list[str]:
    """Files other than ours that name AMD's repositories: moved to a backup folder, unless they name others too."""
    own = set(SOURCE_FILES)
    foreign: list[str] = []
    for entry in situation.facts["apt"]["sources"]:
        if entry["file"] in own or not entry["enabled"] or entry["file"] in foreign:
            continue
        if entry["other_entries"]:
            findings.add(
                "signed-by-conflict",
                found=f"{entry['file']} names {entry['uri']} among entries of other vendors",
                expected="AMD's repositories in files of their own",
                remedy=f"take the AMD entry out of {entry['file']}",
            )
            continue
        findings.add(
            "stale-source",
            found=f"{entry['file']} names {entry['uri']} {entry['suite']}",
            expected="one file per repository, written by this product",
            remedy="nothing to do: it is moved to /var/backups/gpufleet.rocm",
        )
        foreign.append(entry["file"])
    return foreign


def _indexed(facts: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    """Whether apt has an index for the source; AMD prints one of its addresses with a slash at the end."""
    uri = source["uri"].rstrip("/")
    return any(
        entry["file"] == source["file"] and entry["uri"].rstrip("/") == uri and entry["indexed"]
        for entry in facts["apt"]["sources"]
    )
