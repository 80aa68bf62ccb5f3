"""The layout of the new packaging: /opt/rocm is a folder of alternatives, tools have links in /usr/bin."""

from __future__ import annotations

from typing import Any

import pytest

PREFIX = "/opt/rocm/core-10.0"
LINKS = {
    "/opt/rocm/core": PREFIX,
    "/opt/rocm/core-10": PREFIX,
    "/opt/rocm/bin": f"{PREFIX}/bin",
    "/opt/rocm/lib": f"{PREFIX}/lib",
    "/opt/rocm/include": f"{PREFIX}/include",
    "/opt/rocm/llvm": f"{PREFIX}/llvm",
    "/usr/bin/rocminfo": f"{PREFIX}/bin/rocminfo",
    "/usr/bin/hipcc": f"{PREFIX}/bin/hipcc",
}


def test_opt_rocm_is_a_folder(host: Any) -> None:
    folder = host.file("/opt/rocm")
    assert folder.is_directory
    assert not folder.is_symlink


@pytest.mark.parametrize(("link", "target"), LINKS.items())
def test_links_are_alternatives(host: Any, link: str, target: str) -> None:
    assert host.check_output("readlink %s", link).startswith("/etc/alternatives/")
    assert host.check_output("readlink -f %s", link) == target


def test_user_space_and_driver_have_keys_of_their_own(host: Any) -> None:
    keys = host.check_output("ls /etc/apt/keyrings").split()
    assert keys == (["amdrocm.asc", "rocm.asc"] if "mi250" in host.check_output("hostname") else ["amdrocm.asc"])


def test_tool_runs_from_usr_bin_without_any_setting(host: Any) -> None:
    assert "ROCk module is NOT loaded" in host.run("env -i /usr/bin/rocminfo").stdout


def test_sdk_holds_the_target_of_the_gpu_only(host: Any) -> None:
    target = "gfx90a" if "mi250" in host.check_output("hostname") else "gfx942"
    installed = host.check_output("dpkg-query -W -f '${Package}\\n' 'amdrocm-core-sdk*' 'amdrocm-blas*'").split()
    assert installed == [f"amdrocm-blas10.0-{target}", f"amdrocm-core-sdk10.0-{target}"]
