"""Stage access: the groups that own the device nodes, and the users in them."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Situation,
    Stage,
    action,
    difference,
)

GROUPS = ("render", "video")


def plan_access(situation: Situation, findings: Findings) -> Stage:
    """Groups that own the device nodes, and the users who may open them."""
    facts = situation.facts
    missing = [group for group in GROUPS if facts["groups"].get(group) is None]
    actions = [action("create-group", group, "missing") for group in missing]
    users = []
    for name in situation.wishes.users:
        account = facts["users"].get(name)
        if account is None:
            _unknown("rocm_users", name, findings)
            continue
        lacking = [group for group in GROUPS if group not in account["groups"]]
        if lacking:
            users.append({"name": name, "groups": lacking})
            actions.append(action("add-to-groups", name, "not in " + " and ".join(lacking)))
    rule = _udev_rule(situation, findings)
    if rule:
        actions.append(action("write", paths.UDEV_RULE, rule))
    verifier = situation.wishes.verify_user
    if verifier and facts["users"].get(verifier) is None:
        _unknown("rocm_verify_user", verifier, findings)
    return {"actions": actions, "groups": missing, "users": users, "files": [_rule_file()] if rule else []}


def _udev_rule(situation: Situation, findings: Findings) -> str:
    """Why the rule for the device nodes is to be written: AMD's driver package brings one, other drivers may not."""
    kfd, rule = situation.facts["kfd"], _rule_file()
    mode = int(kfd["mode"] or "0", 8)
    usable = mode & 0o006 == 0o006 or (kfd["group"] in GROUPS and mode & 0o060 == 0o060)
    closed = kfd["present"] and not usable
    if closed:
        findings.add(
            "kfd-permission",
            found=f"/dev/kfd is {kfd['mode']} {kfd['owner']}:{kfd['group']}",
            expected="0660 root:render",
            remedy="give the container the number of its own group render (--group-add)"
            if situation.in_container
            else "nothing to do: a udev rule is written",
        )
    if situation.in_container:
        return ""
    if closed:
        return difference(situation.facts, rule) or "not applied to /dev/kfd"
    return difference(situation.facts, rule) if situation.facts["files"].get(paths.UDEV_RULE) else ""


def _rule_file() -> dict[str, str]:
    return {"path": paths.UDEV_RULE, "content": render.UDEV_RULE, "mode": "0644"}


def _unknown(variable: str, name: str, findings: Findings) -> None:
    findings.add(
        "user-unknown",
        found=f"{variable} names {name!r}, which the host does not know",
        expected="users that exist on the host (local or from a directory service)",
        remedy=f"create {name} first, or correct {variable}",
    )
