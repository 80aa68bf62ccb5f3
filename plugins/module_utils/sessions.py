"""Login sessions that are older than a change of the user's groups."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import DEVICE_GROUPS, Accounts
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

# What the kernel shows for a process outside any login.
_UNSET = "4294967295"


def _status(host: Host, process: str) -> dict[str, list[str]]:
    """Words of each field of /proc/PID/status."""
    lines = (line.partition(":") for line in (host.read(process + "/status", 65536) or "").splitlines())
    return {name: value.split() for name, _, value in lines}


def _in_a_login(host: Host, process: str) -> bool:
    """Whether a process belongs to a login other than the one that reads, in the host's own user namespace.

    A container of a user lacks the groups by design.
    """
    if host.value(process + "/loginuid") in (None, _UNSET):
        return False
    session = host.value(process + "/sessionid")
    if session not in (None, _UNSET) and session == host.value("/proc/self/sessionid"):
        return False
    namespaces = {host.link(name + "/ns/user") for name in ("/proc/1", process)} - {None}
    return len(namespaces) < 2


def gather(host: Host, accounts: Accounts, users: dict[str, object]) -> list[dict[str, object]]:
    """{user, missing} for each of the users (as in the `users` fact) with a process that lacks groups of theirs."""
    groups = {name: group["gid"] for name in DEVICE_GROUPS for group in [accounts.group(name)] if group}
    due: dict[str, tuple[str, list[str]]] = {}
    for name, user in users.items():
        if isinstance(user, dict):
            wanted = [group for group in groups if group in user["groups"]]
            if wanted:
                due[str(user["uid"])] = (name, wanted)
    missing: dict[str, set[str]] = {}
    for pid in host.names("/proc") if due else []:
        process = "/proc/" + pid
        if not pid.isdecimal() or not _in_a_login(host, process):
            continue
        status = _status(host, process)
        name, wanted = due.get("".join(status.get("Uid", [])[:1]), ("", []))
        has = status.get("Groups", []) + status.get("Gid", [])
        missing.setdefault(name, set()).update(group for group in wanted if str(groups[group]) not in has)
    return [
        {"user": name, "missing": [group for group in DEVICE_GROUPS if group in missing[name]]}
        for name in users
        if missing.get(name)
    ]
