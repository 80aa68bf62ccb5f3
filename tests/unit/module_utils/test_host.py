"""Nothing outside a tree is ever read, and nothing in it can hang or break the reading."""

import os
import time

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.module_utils.tree import MakeHost


def test_absolute_links_stay_inside(make_host: MakeHost) -> None:
    host = make_host({"/etc/os-release": "-> /usr/lib/os-release", "/usr/lib/os-release": "ID=tree\n"})
    assert host.read("/etc/os-release") == "ID=tree\n"


@pytest.mark.parametrize("target", ["/etc/hostname", "../../../../../../../etc/hostname"])
def test_links_to_the_live_host_lead_nowhere(make_host: MakeHost, target: str) -> None:
    host = make_host({"/etc/name": "-> " + target})
    assert host.read("/etc/name") is None
    assert host.resolve("/etc/name") == "/etc/hostname"


def test_linked_directories_are_followed_inside(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/opt/rocm": "-> /etc/alternatives/rocm",
            "/etc/alternatives/rocm": "-> ../../opt/rocm-6.0.0",
            "/opt/rocm-6.0.0/.info/version": "6.0.0-91\n",
        }
    )
    assert host.resolve("/opt/rocm") == "/opt/rocm-6.0.0"
    assert host.value("/opt/rocm/.info/version") == "6.0.0-91"


def test_a_loop_of_links_is_a_missing_file(make_host: MakeHost) -> None:
    host = make_host({"/a": "-> /b", "/b": "-> /a"})
    assert host.read("/a") is None
    assert host.names("/a") == []
    assert not host.exists("/a")
    assert host.resolve("/a") == "/a"


def test_a_name_that_no_file_can_have_is_a_missing_file(make_host: MakeHost) -> None:
    host = make_host({"/etc": None})
    assert (host.read("/etc/a\0b"), host.names("/a\0b"), host.link("/a\0/b"), host.exists("/\0")) == (
        None,
        [],
        None,
        False,
    )
    assert (Host().read("/etc/a\0b"), Host().resolve("/a\0b")) == (None, "/a\0b")


def test_a_pipe_is_no_file(make_host: MakeHost) -> None:
    host = make_host({"/etc": None})
    os.mkfifo(host.root + "/etc/pipe")
    assert host.read("/etc/pipe") is None


def test_no_command_runs_for_a_tree(make_host: MakeHost) -> None:
    assert make_host({"/etc": None}).run(["true"]) is None


def test_bytes_that_are_no_text_are_replaced(make_host: MakeHost) -> None:
    assert make_host({"/etc/motd": b"caf\xe9\n"}).read("/etc/motd") == "caf\ufffd\n"


def test_a_link_is_read_even_when_it_dangles(make_host: MakeHost) -> None:
    host = make_host({"/dev/driver": "-> ../../bus/pci/drivers/amdgpu", "/file": "x"})
    assert host.link("/dev/driver") == "../../bus/pci/drivers/amdgpu"
    assert host.link("/file") is None


def test_commands_run_in_the_c_locale() -> None:
    answer = Host().run(["sh", "-c", "echo $LC_ALL,$LANGUAGE; echo problem >&2; exit 3"])
    assert answer == (3, "C.UTF-8,\n", "problem\n")


def test_a_missing_command_is_no_answer() -> None:
    assert Host().run(["no-such-command-here"]) is None


def test_a_command_that_hangs_is_ended_with_its_children() -> None:
    begin = time.monotonic()
    assert Host().run(["sh", "-c", "sleep 30 & sleep 30; true"], timeout=0.2) is None
    assert time.monotonic() - begin < 5
