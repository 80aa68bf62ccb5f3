"""After a driver that does not compile on this kernel: the former one is back, and nothing was rebooted."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_former_driver_is_back_and_still_loaded(host: Any, driver: Any, expected: dict[str, Any]) -> None:
    assert driver.package == expected["newer"]["package"]
    assert driver.loaded == expected["newer"]["module"]
    assert driver.boots == expected["newer"]["boots"]
    assert host.check_output("modinfo -F srcversion amdgpu") == host.check_output("cat /sys/module/amdgpu/srcversion")


def test_driver_that_failed_left_nothing(host: Any) -> None:
    lines = host.check_output("dkms status").splitlines()
    assert [line.split("-")[0] for line in lines] == ["amdgpu/6.16.13"]
    assert host.check_output("ls /usr/src | grep -c 6[.]19 || true") == "0"
