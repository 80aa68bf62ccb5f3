"""From 7.0 on the user-space part of the graphics stack has a repository of its own."""

from __future__ import annotations

from typing import Any


def test_graphics_packages_come_from_their_own_repository(host: Any) -> None:
    policy = host.check_output("LC_ALL=C.UTF-8 apt-cache policy libdrm-amdgpu-amdgpu1")
    assert "/graphics/7.2.4/ubuntu noble/main" in policy
    assert "/amdgpu/" not in policy
    assert "Candidate: 1:2.4.116.70204-" in policy


def test_host_is_ubuntu_24_04(host: Any) -> None:
    assert (host.system_info.distribution, host.system_info.release) == ("ubuntu", "24.04")
