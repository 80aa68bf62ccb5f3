"""After the first installation and its reboot."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_driver_is_built_installed_and_loaded(driver: Any, expected: dict[str, Any]) -> None:
    assert driver.package == expected["first"]["package"]
    assert driver.loaded == expected["first"]["module"]


def test_it_was_one_reboot_into_a_new_boot(host: Any, driver: Any, expected: dict[str, Any]) -> None:
    assert driver.boots == expected["first"]["boots"]
    record = json.loads(host.file("/var/lib/gpufleet.rocm/reboot.json").content_string)
    assert record["boot_id"] != host.check_output("cat /proc/sys/kernel/random/boot_id")
    assert record["module"] == host.check_output("cat /sys/module/amdgpu/srcversion")


def test_dkms_has_it_for_the_running_kernel_alone(host: Any, kernels: tuple[str, str]) -> None:
    (line,) = host.check_output("dkms status").splitlines()
    assert line.startswith("amdgpu/6.16.6-")
    assert f" {kernels[0]}," in line
    assert line.endswith(": installed")


def test_render_group_is_what_opens_the_device(host: Any) -> None:
    assert host.run("runuser -u ada -- head -c 0 /dev/kfd").rc != 0
    assert host.run("runuser -u ada -g render -- head -c 0 /dev/kfd").rc == 0
