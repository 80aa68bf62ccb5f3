"""A command as a user in a fresh login: what it sees, what it gives back, and that it ends."""

from __future__ import annotations

import os
import pwd
import time

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login

ME = pwd.getpwuid(os.getuid()).pw_name


def test_status_and_output_come_back_together() -> None:
    assert Login(ME, 60).run("echo out; echo err >&2; exit 3") == (3, "out\nerr")


def test_settings_of_this_process_and_of_the_user_are_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "10.3.0")
    show = "echo ${HSA_OVERRIDE_GFX_VERSION-unset} $LC_ALL $(pwd)"
    assert Login(ME, 60).run(show) == (0, "unset C.UTF-8 /")
    script = Login(ME, 60)._script("true", 1, settings=True)
    assert "unset" not in script


def test_more_path_comes_behind_the_path_of_the_login() -> None:
    login = Login(ME, 60, "/opt/a b/bin")
    path = login.run('echo "$PATH"')[1]
    assert path.endswith(":/opt/a b/bin")
    assert "/opt/a b" not in login.run('echo "$PATH"', settings=True)[1]


@pytest.mark.parametrize("command", ["sleep 60", "(sleep 60 & sleep 60) | cat", "trap '' TERM; sleep 2; sleep 60"])
def test_the_time_limit_ends_a_command_and_its_children(command: str) -> None:
    started = time.monotonic()
    code, text = Login(ME, 1).run("echo before; " + command)
    assert (code, text.splitlines()[0], text.splitlines()[-1]) == (124, "before", "no end after 1 s")
    assert time.monotonic() - started < 15


def test_an_unknown_user_is_told() -> None:
    with pytest.raises(KeyError):
        Login("no-such-user", 1)


def test_a_user_without_a_shell_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    login = Login("nobody", 1)
    assert login.argv("x") == ["runuser", "-s", "/bin/sh", "-l", "nobody", "-c", "x"]
