"""After a newer kernel and a newer driver, whose build lost its SSH connection, and the one reboot into both."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_newer_kernel_runs_with_the_newer_driver(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["kernel"] == seen["kernels"][1]
    assert seen["package"] == expected["upgrade"]["package"]
    assert seen["loaded"]["version"] == expected["upgrade"]["module"]


def test_it_was_one_reboot(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["boots"] == expected["upgrade"]["boots"]
    assert seen["rebooted_for"]["module"] == seen["loaded"]["srcversion"]


def test_both_kernels_had_the_driver_before_the_reboot(seen: dict[str, Any]) -> None:
    assert set(seen["on_disk"]) == set(seen["kernels"])
    assert set(seen["built_at"]) == {f"/lib/modules/{name}/updates/dkms/amdgpu.ko" for name in seen["kernels"]}
    assert max(seen["built_at"].values()) < seen["booted_at"]


def test_older_driver_left_nothing(seen: dict[str, Any]) -> None:
    assert not [path for path in seen["trees"] + seen["sources"] if "6.16.13-" not in path]


def test_connection_was_cut_before_a_module_was_there(host: Any, seen: dict[str, Any]) -> None:
    assert int(host.file("/root/cut").content_string) < min(seen["built_at"].values())
