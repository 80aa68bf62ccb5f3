"""What an administrator finds on the hosts after a run: files, packages, groups, a login's environment."""

from __future__ import annotations

from typing import Any

import pytest

OWNED = {
    "/etc/apt/keyrings/rocm.asc": "BEGIN PGP PUBLIC KEY BLOCK",
    "/etc/apt/preferences.d/rocm-pin-600": "Pin: release o=repo.radeon.com",
    "/etc/apt/sources.list.d/rocm.sources": "Signed-By: /etc/apt/keyrings/rocm.asc",
    "/etc/ld.so.conf.d/rocm.conf": "/opt/rocm/lib",
    "/etc/profile.d/rocm.sh": "/opt/rocm/bin",
}
USERS = ("ops", "ada")
WHEELS = {"torch": "2.3.0+rocm6.0", "torchvision": "0.18.0+rocm6.0", "torchaudio": "2.3.0+rocm6.0"}
VENV = "/opt/pytorch-rocm"


def login(host: Any, user: str, command: str) -> str:
    """The output of a command in a fresh login shell of a user."""
    done = host.run("runuser -l %s -c %s", user, command)
    assert done.rc == 0, done.stderr
    return str(done.stdout).strip()


def is_mi250(host: Any) -> bool:
    return "mi250" in host.check_output("hostname")


@pytest.mark.parametrize(("path", "content"), OWNED.items())
def test_owned_files(host: Any, path: str, content: str) -> None:
    file = host.file(path)
    assert file.is_file
    assert (file.user, file.group, file.mode) == ("root", "root", 0o644)
    assert content in file.content_string


def test_source_names_the_suite_of_the_codename(host: Any) -> None:
    lines = host.file("/etc/apt/sources.list.d/rocm.sources").content_string.splitlines()
    assert "Suites: jammy" in lines
    assert "Components: main" in lines
    assert any(line.startswith("URIs: ") and line.endswith("/rocm/apt/6.0") for line in lines)


def test_driver_repository_where_a_driver_is_wanted(host: Any) -> None:
    source = host.file("/etc/apt/sources.list.d/amdgpu.sources")
    assert source.exists is is_mi250(host)
    if is_mi250(host):
        assert "/amdgpu/6.0/ubuntu" in source.content_string
        assert host.package("amdgpu-dkms").is_installed
        assert host.package("amdgpu-dkms-firmware").is_installed
    else:
        assert not host.package("amdgpu-dkms").is_installed


def test_driver_module_is_known_to_dkms_and_not_built(host: Any) -> None:
    if is_mi250(host):
        status = host.check_output("dkms status")
        assert "amdgpu/6.3.6-1697589.22.04" in status
        assert "installed" not in status, "a container has no kernel to build for"


def test_no_trust_outside_the_keyring(host: Any) -> None:
    """Neither apt-key's keyrings nor the old one-line sources."""
    assert not host.file("/etc/apt/trusted.gpg").exists
    assert not host.file("/etc/apt/sources.list.d/rocm.list").exists
    assert host.check_output("ls /etc/apt/trusted.gpg.d | grep -ci rocm || true") == "0"


@pytest.mark.parametrize("name", ["rocminfo", "hipcc", "rocm-device-libs"])
def test_same_named_packages_come_from_amd_although_the_distribution_sorts_higher(host: Any, name: str) -> None:
    policy = host.check_output("LC_ALL=C.UTF-8 apt-cache policy %s", name)
    table = policy.split("Version table:")[1]
    installed = next(line.split()[1] for line in table.splitlines() if line.startswith(" ***"))
    assert ".60000-" in installed
    assert "600 http" in table
    assert "repo.radeon.com" in table
    others = [
        line.split()[0]
        for line in table.splitlines()
        if line.startswith("     ") and line.strip()[0].isdigit() and line.split()[1] == "500" and "http" not in line
    ]
    assert others, f"the distribution offers no {name}, so this test proves nothing"
    assert all(host.run("dpkg --compare-versions %s gt %s", other, installed).rc == 0 for other in others)


def test_sdk_of_exactly_this_release(host: Any) -> None:
    assert host.package("rocm-hip-sdk").version.startswith("6.0.0.60000-")
    assert host.file("/opt/rocm").linked_to == "/opt/rocm-6.0.0"
    assert host.file("/opt/rocm-6.0.0/.info/version").content_string.startswith("6.0.0")


@pytest.mark.parametrize("user", USERS)
def test_users_are_in_both_groups_and_keep_theirs(host: Any, user: str) -> None:
    groups = host.user(user).groups
    assert {"render", "video", user} <= set(groups)


@pytest.mark.parametrize("name", ["render", "video"])
def test_groups_are_system_groups(host: Any, name: str) -> None:
    assert host.group(name).gid < 1000


def test_managing_user_still_may_sudo(host: Any) -> None:
    assert login(host, "ops", "sudo -n id -u") == "0"


@pytest.mark.parametrize("user", USERS)
def test_login_shell_has_rocm_first_and_once(host: Any, user: str) -> None:
    path = login(host, user, 'printf %s "$PATH"').split(":")
    assert path[0] == "/opt/rocm/bin"
    assert path.count("/opt/rocm/bin") == 1
    assert login(host, user, "command -v rocminfo") == "/opt/rocm/bin/rocminfo"
    assert login(host, user, 'printf %s "${LD_LIBRARY_PATH-unset}"') == "unset"


def test_nested_login_does_not_repeat_the_path(host: Any) -> None:
    nested = login(host, "ada", "bash -lc 'bash -lc \"printf %s \\$PATH\"'")
    assert nested.split(":").count("/opt/rocm/bin") == 1


def test_linker_cache_knows_hip(host: Any) -> None:
    cache = host.check_output("ldconfig -p")
    assert "libamdhip64.so.6 (libc6,x86-64) => /opt/rocm/lib/libamdhip64.so.6" in cache


def test_wheels_of_one_set(host: Any) -> None:
    import json

    found = {row["name"]: row["version"] for row in json.loads(host.check_output(f"{VENV}/bin/pip list --format=json"))}
    assert {name: found.get(name) for name in WHEELS} == WHEELS
    assert not [name for name in found if name.startswith("nvidia")]


def test_constraints_keep_later_installations(host: Any) -> None:
    lines = host.file(f"{VENV}/constraints.txt").content_string.splitlines()
    assert set(WHEELS.items()) == {tuple(line.split("==")) for line in lines if not line.startswith("#")}
    refused = host.run(f"{VENV}/bin/pip install --dry-run --no-index --constraint {VENV}/constraints.txt torch==2.6.0")
    assert refused.rc != 0
    assert "constraint" in refused.stderr or "conflict" in refused.stderr


def test_system_python_is_untouched(host: Any) -> None:
    assert host.run("/usr/bin/python3 -c 'import torch'").rc != 0


def test_user_can_import_torch(host: Any) -> None:
    command = f"{VENV}/bin/python -c 'import torch; print(torch.version.hip)'"
    assert login(host, "ada", command).startswith("6.0")


def test_nothing_of_the_test_programs_is_left(host: Any) -> None:
    assert host.check_output("find /tmp -maxdepth 1 -name 'rocm-verify-*'") == ""
