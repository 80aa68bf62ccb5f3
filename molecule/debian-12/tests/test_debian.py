"""The host stays what it is: Debian, whose own suites keep their names."""

from __future__ import annotations

from typing import Any


def test_host_is_debian_12(host: Any) -> None:
    assert host.system_info.distribution == "debian"
    assert "VERSION_CODENAME=bookworm" in host.file("/etc/os-release").content_string
    assert not host.file("/etc/lsb-release").exists


def test_only_amds_sources_name_a_suite_of_ubuntu(host: Any) -> None:
    found = host.check_output("grep -l jammy /etc/apt/sources.list.d/*").split()
    assert [path.rsplit("/", 1)[1] for path in found] == ["amdgpu.sources", "rocm.sources"]


def test_prerequisites_of_6_3_and_later_are_there(host: Any) -> None:
    assert host.package("python3-setuptools").is_installed
    assert host.package("python3-wheel").is_installed
