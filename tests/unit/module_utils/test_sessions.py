"""Sessions that began before the user joined a group."""

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import sessions
from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import Accounts, gather_users
from tests.unit.module_utils.hosts import gpu_server, processes
from tests.unit.module_utils.tree import MakeHost, Tree


def gather(make_host: MakeHost, tree: Tree) -> list[dict[str, object]]:
    host = make_host({**gpu_server(), **tree})
    accounts = Accounts(host)
    return sessions.gather(host, accounts, gather_users(accounts, ["alice", "bob", "typo"]))


@pytest.mark.parametrize(
    ("groups", "missing"),
    [("1000", ["render", "video"]), ("44 1000", ["render"]), ("44 993 1000", []), ("", ["render", "video"])],
)
def test_groups_of_a_session(make_host: MakeHost, groups: str, missing: list[str]) -> None:
    expected = [{"user": "alice", "missing": missing}] if missing else []
    assert gather(make_host, processes(3, groups=groups)) == expected


def test_one_row_for_all_processes_of_a_user(make_host: MakeHost) -> None:
    status = "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000\n"
    more: Tree = {"/proc/7/loginuid": "1000", "/proc/7/status": status}
    assert gather(make_host, {**processes(0), **more}) == [{"user": "alice", "missing": ["render", "video"]}]
    assert gather(make_host, {"/proc/90002/status": status}) == [{"user": "alice", "missing": ["render"]}]


@pytest.mark.parametrize(
    "changes",
    [
        {"/proc/90002/loginuid": "4294967295"},
        {"/etc/group": "render:x:993:bob\nvideo:x:44:bob\nalice:x:1000:\n"},
        {"/proc/1/ns/user": "-> user:[4026531837]", "/proc/90002/ns/user": "-> user:[4026532501]"},
        {"/proc/90002/status": "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0\n"},
        {"/proc/self/sessionid": "5", "/proc/90002/sessionid": "5"},
        {"/proc/90002/status": "-> gone"},
        {"/proc/90002/status": "Name:\tbash\n"},
    ],
    ids=["daemon", "no-member", "container", "sudo", "own-login", "ended", "torn"],
)
def test_no_session_of_the_user(make_host: MakeHost, changes: Tree) -> None:
    assert gather(make_host, {**processes(1), **changes}) == []


def test_another_login_of_the_reader_counts(make_host: MakeHost) -> None:
    tree = {"/proc/self/sessionid": "4294967295", "/proc/90002/sessionid": "4294967295"}
    assert gather(make_host, {**processes(1), **tree}) == [{"user": "alice", "missing": ["render", "video"]}]
    assert gather(make_host, {"/proc/self/sessionid": "5", "/proc/90002/sessionid": "6"}) != []


def test_the_primary_group_counts(make_host: MakeHost) -> None:
    status = "Uid:\t1000\t1000\t1000\t1000\nGid:\t993\t993\t993\t993\nGroups:\t44 1000\n"
    assert gather(make_host, {**processes(1), "/proc/90002/status": status}) == []
