"""After the first installation and its reboot."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_driver_is_installed_and_loaded(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["package"] == expected["first"]["package"]
    assert seen["loaded"]["version"] == expected["first"]["module"]


def test_it_was_one_reboot_into_a_new_boot(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["boots"] == expected["first"]["boots"]
    assert seen["rebooted_for"]["boot_id"] != seen["boot_id"]
    assert seen["rebooted_for"]["module"] == seen["loaded"]["srcversion"]


def test_dkms_has_it_for_the_running_kernel_alone(seen: dict[str, Any]) -> None:
    (line,) = seen["dkms"]
    assert line.startswith("amdgpu/6.16.6-")
    assert f" {seen['kernel']}, " in line
    assert line.endswith(": installed")


def test_render_group_is_what_opens_the_device(host: Any) -> None:
    assert host.run("runuser -u ada -- head -c 0 /dev/kfd").rc != 0
    assert host.run("runuser -u ada -g render -- head -c 0 /dev/kfd").rc == 0
