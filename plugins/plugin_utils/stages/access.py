"""Stage access: the groups that own the device nodes, and the users in them."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import (
    Situation,
    Stage,
    action,
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
    verifier = situation.wishes.verify_user
    if verifier and facts["users"].get(verifier) is None:
        _unknown("rocm_verify_user", verifier, findings)
    return {"actions": actions, "groups": missing, "users": users}


def _unknown(variable: str, name: str, findings: Findings) -> None:
    findings.add(
        "user-unknown",
        found=f"{variable} names {name!r}, which the host does not know",
        expected="users that exist on the host (local or from a directory service)",
        remedy=f"create {name} first, or correct {variable}",
    )
