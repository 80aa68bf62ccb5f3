"""What an administrator finds on every host after a run, whatever the release: files, packages, groups, logins."""

from __future__ import annotations

import json
from typing import Any

import pytest

USERS = ("ops", "ada")
VENV = "/opt/pytorch-rocm"
LD_SO = "/etc/ld.so.conf.d/rocm.conf"
PIN = "/etc/apt/preferences.d/rocm-pin-600"


def login(host: Any, user: str, command: str) -> str:
    """The output of a command in a fresh login shell of a user."""
    done = host.run("runuser -l %s -c %s", user, command)
    assert done.rc == 0, done.stderr
    return str(done.stdout).strip()


def has_driver(host: Any, expected: dict[str, Any]) -> bool:
    return expected["driver"]["hosts"] in host.check_output("hostname")


def assert_plain_root_file(file: Any) -> None:
    assert file.is_file
    assert (file.user, file.group, file.mode) == ("root", "root", 0o644)


def test_sources_are_those_of_the_release(host: Any, expected: dict[str, Any]) -> None:
    wanted = {
        name: source for name, source in expected["sources"].items() if name != "amdgpu" or has_driver(host, expected)
    }
    files = {f"{name}.sources" for name in wanted} | {"distribution.sources"}
    assert set(host.check_output("ls /etc/apt/sources.list.d").split()) == files
    for name, source in wanted.items():
        file = host.file(f"/etc/apt/sources.list.d/{name}.sources")
        assert_plain_root_file(file)
        lines = file.content_string.splitlines()
        assert f"Suites: {source['suite']}" in lines
        assert f"Signed-By: /etc/apt/keyrings/{source['key']}" in lines
        assert "Components: main" in lines
        assert any(line.startswith("URIs: ") and line.endswith(source["uri"]) for line in lines)
        key = host.file(f"/etc/apt/keyrings/{source['key']}")
        assert_plain_root_file(key)
        assert "BEGIN PGP PUBLIC KEY BLOCK" in key.content_string


def test_pin_where_the_release_needs_one(host: Any, expected: dict[str, Any]) -> None:
    pin = host.file(PIN)
    assert pin.exists is expected["pin"]
    if expected["pin"]:
        assert_plain_root_file(pin)
        assert "Pin: release o=repo.radeon.com" in pin.content_string


def test_no_trust_outside_the_keyrings(host: Any) -> None:
    """Neither apt-key's keyrings nor the old one-line sources."""
    assert not host.file("/etc/apt/trusted.gpg").exists
    assert host.check_output("ls /etc/apt/trusted.gpg.d | grep -ci -e rocm -e amd || true") == "0"
    assert host.check_output("apt-get update 2>&1 | grep -E '^(W|E):' || true") == ""


def test_driver_where_one_is_wanted(host: Any, expected: dict[str, Any]) -> None:
    wanted = has_driver(host, expected)
    for name in ("amdgpu-dkms", "amdgpu-dkms-firmware"):
        assert host.package(name).is_installed is wanted
    if wanted:
        status = host.check_output("dkms status")
        assert expected["driver"]["module"] in status
        assert "installed" not in status, "a container has no kernel to build for"


def test_sdk_of_exactly_this_release(host: Any, expected: dict[str, Any]) -> None:
    assert host.package(expected["package"]["name"]).version == expected["package"]["version"]
    assert host.check_output("readlink -f %s", expected["link"]["path"]) == expected["link"]["target"]
    file = host.file(expected["version_file"]["path"])
    assert file.content_string.strip() == expected["version_file"]["content"]


def test_libraries_are_found_as_the_release_wants(host: Any, expected: dict[str, Any]) -> None:
    """By the linker's cache up to 7.2; later every library knows its own place."""
    cache = host.check_output("ldconfig -p")
    library = f"libamdhip64.so.{expected['hip_library']}"
    assert host.file(LD_SO).exists is expected["linker_cache"]
    if expected["linker_cache"]:
        assert f"{library} (libc6,x86-64) => /opt/rocm/lib/{library}" in cache
    else:
        assert "/opt/rocm" not in cache
    resolved = host.check_output("ldd $(readlink -f /opt/rocm/bin/rocminfo)")
    assert "not found" not in resolved
    assert "libhsa-runtime64.so.1 => /opt/rocm" in resolved


@pytest.mark.parametrize("user", USERS)
def test_users_are_in_both_groups_and_keep_theirs(host: Any, user: str) -> None:
    assert {"render", "video", user} <= set(host.user(user).groups)


@pytest.mark.parametrize("user", USERS)
def test_login_shell_has_rocm_first_and_once(host: Any, user: str, expected: dict[str, Any]) -> None:
    path = login(host, user, 'printf %s "$PATH"').split(":")
    wanted = expected["path"]
    assert path[: len(wanted)] == wanted
    assert all(path.count(directory) == 1 for directory in wanted)
    assert login(host, user, "command -v rocminfo") == "/opt/rocm/bin/rocminfo"
    assert login(host, user, 'printf %s "${LD_LIBRARY_PATH-unset}"') == "unset"


def test_compiler_of_the_release_compiles(host: Any, expected: dict[str, Any]) -> None:
    """Beyond the run's own check: one program for two targets, in a folder of the user's own."""
    assert expected["link"]["target"] in login(host, "ada", "readlink -f $(command -v hipcc)")
    source = "__global__ void f(int* x) { *x = 1; } int main() { hipDeviceSynchronize(); }"
    build = f"hipcc -x hip a.hip --offload-arch=gfx90a --offload-arch=gfx942 {expected['link_options']}"
    program = f"cd $(mktemp -d) && printf '#include <hip/hip_runtime.h>\\n{source}\\n' > a.hip && {build} && ldd a.out"
    assert f"libamdhip64.so.{expected['hip_library']} => /opt/rocm" in login(host, "ada", program)


def test_wheels_of_one_set(host: Any, expected: dict[str, Any]) -> None:
    found = {row["name"]: row["version"] for row in json.loads(host.check_output(f"{VENV}/bin/pip list --format=json"))}
    assert {name: found.get(name) for name in expected["wheels"]} == expected["wheels"]
    assert not [name for name in found if name.startswith("nvidia")]
    assert host.run(f"{VENV}/bin/pip check").rc == 0


def test_constraints_keep_later_installations(host: Any, expected: dict[str, Any]) -> None:
    lines = host.file(f"{VENV}/constraints.txt").content_string.splitlines()
    pins = {tuple(line.split("==")) for line in lines if not line.startswith("#")}
    assert pins == set(expected["wheels"].items())


def test_user_can_import_torch(host: Any, expected: dict[str, Any]) -> None:
    command = f"{VENV}/bin/python -c 'import torch; print(torch.version.hip)'"
    assert login(host, "ada", command).startswith(f"{expected['hip']}.")


def test_nothing_of_the_test_programs_is_left(host: Any) -> None:
    assert host.check_output("find /tmp -maxdepth 1 -name 'rocm-verify-*'") == ""
