"""Users and groups of a tree and of the live host."""

import grp
import os
import pwd

from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import (
    Accounts,
    gather_groups,
    gather_users,
    parse_group,
    parse_passwd,
)
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.module_utils.tree import MakeHost

PASSWD = "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000:Alice,,,:/home/alice:/bin/bash\nodd:x:y:z::/:/bin/sh\n"
GROUP = "root:x:0:\nvideo:x:44:bob\nrender:x:109:alice,bob\nalice:x:1000:\ndocker:x:999:alice\nbroken\n"


def test_a_tree(make_host: MakeHost) -> None:
    accounts = Accounts(make_host({"/etc/passwd": PASSWD, "/etc/group": GROUP}))
    assert gather_groups(accounts) == {
        "render": {"gid": 109, "members": ["alice", "bob"]},
        "video": {"gid": 44, "members": ["bob"]},
    }
    assert gather_users(accounts, ["alice", "typo"]) == {
        "alice": {"uid": 1000, "home": "/home/alice", "shell": "/bin/bash", "groups": ["alice", "render", "docker"]},
        "typo": None,
    }
    assert (accounts.user_name(0), accounts.user_name(4242)) == ("root", "4242")
    assert (accounts.group_name(109), accounts.group_name(4242)) == ("render", "4242")


def test_a_tree_without_accounts(make_host: MakeHost) -> None:
    accounts = Accounts(make_host({"/etc": None}))
    assert gather_groups(accounts) == {"render": None, "video": None}
    assert gather_users(accounts, ["root"]) == {"root": None}


def test_lines_of_another_form_are_left_out() -> None:
    assert sorted(parse_passwd(PASSWD)) == ["alice", "root"]
    assert "broken" not in parse_group(GROUP)


def test_the_live_host_asks_the_name_service() -> None:
    accounts = Accounts(Host())
    me = pwd.getpwuid(os.getuid())
    user = accounts.user(me.pw_name) or {}
    assert (user["uid"], user["home"]) == (me.pw_uid, me.pw_dir)
    assert isinstance(user["groups"], list)
    assert grp.getgrgid(me.pw_gid).gr_name in user["groups"]
    assert accounts.user("no-such-user-here") is None
    assert accounts.group("no-such-group-here") is None
    assert accounts.user_name(3999999999) == "3999999999"
