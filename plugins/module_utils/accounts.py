"""Users and groups: the name service on the live host, passwd and group files in a tree."""

from __future__ import annotations

import grp
import os
import pwd
import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

DEVICE_GROUPS = ("render", "video")
_NUMBER = re.compile(r"^[0-9]{1,10}$")


def parse_passwd(text: str) -> dict[str, dict[str, object]]:
    """name -> {uid, gid, home, shell}; lines that are not seven fields with numeric ids are left out."""
    users: dict[str, dict[str, object]] = {}
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 7 and _NUMBER.match(fields[2]) and _NUMBER.match(fields[3]):
            users.setdefault(
                fields[0],
                {"uid": int(fields[2]), "gid": int(fields[3]), "home": fields[5], "shell": fields[6]},
            )
    return users


def parse_group(text: str) -> dict[str, dict[str, object]]:
    """name -> {gid, members}."""
    groups: dict[str, dict[str, object]] = {}
    for line in text.splitlines():
        fields = line.split(":")
        if len(fields) == 4 and _NUMBER.match(fields[2]):
            members = [name for name in fields[3].strip().split(",") if name]
            groups.setdefault(fields[0], {"gid": int(fields[2]), "members": members})
    return groups


class Accounts:
    """Look-ups by name and number; numbers without a name are given as text, as `ls` does."""

    def __init__(self, host: Host) -> None:
        self._live = host.live
        self._users = {} if host.live else parse_passwd(host.read("/etc/passwd") or "")
        self._groups = {} if host.live else parse_group(host.read("/etc/group") or "")
        self._user_names: dict[int, str] = {}
        self._group_names: dict[int, str] = {}

    def user_name(self, uid: int) -> str:
        if uid not in self._user_names:
            self._user_names[uid] = self._find_user_name(uid)
        return self._user_names[uid]

    def group_name(self, gid: int) -> str:
        if gid not in self._group_names:
            self._group_names[gid] = self._find_group_name(gid)
        return self._group_names[gid]

    def _find_user_name(self, uid: int) -> str:
        if self._live:
            try:
                return pwd.getpwuid(uid).pw_name
            except (KeyError, OverflowError):
                return str(uid)
        return next((name for name, user in self._users.items() if user["uid"] == uid), str(uid))

    def _find_group_name(self, gid: int) -> str:
        if self._live:
            try:
                return grp.getgrgid(gid).gr_name
            except (KeyError, OverflowError):
                return str(gid)
        return next((name for name, group in self._groups.items() if group["gid"] == gid), str(gid))

    def group(self, name: str) -> dict[str, object] | None:
        """{gid, members} of a group; None when it does not exist."""
        if self._live:
            try:
                entry = grp.getgrnam(name)
            except (KeyError, ValueError):
                return None
            return {"gid": entry.gr_gid, "members": sorted(entry.gr_mem)}
        return self._groups.get(name)

    def user(self, name: str) -> dict[str, object] | None:
        """{uid, home, shell, groups} of a user, primary group first; None when it does not exist."""
        if self._live:
            try:
                entry = pwd.getpwnam(name)
            except (KeyError, ValueError):
                return None
            numbers = os.getgrouplist(name, entry.pw_gid)
            found: dict[str, object] = {"uid": entry.pw_uid, "home": entry.pw_dir, "shell": entry.pw_shell}
            groups = [self.group_name(number) for number in dict.fromkeys(numbers)]
            return dict(found, groups=groups)
        stored = self._users.get(name)
        if stored is None:
            return None
        primary = self.group_name(int(str(stored["gid"])))
        others = [group for group, entry_ in self._groups.items() if name in _members(entry_) and group != primary]
        return {
            "uid": stored["uid"],
            "home": stored["home"],
            "shell": stored["shell"],
            "groups": [primary, *others],
        }


def _members(group: dict[str, object]) -> list[str]:
    members = group["members"]
    return members if isinstance(members, list) else []


def gather_groups(accounts: Accounts) -> dict[str, object]:
    return {name: accounts.group(name) for name in DEVICE_GROUPS}


def gather_users(accounts: Accounts, names: list[str]) -> dict[str, object]:
    return {name: accounts.user(name) for name in names}
