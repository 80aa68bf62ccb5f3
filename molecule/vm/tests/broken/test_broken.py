"""After a driver that does not compile on this kernel: the former one is back, and nothing was rebooted."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_former_driver_is_back_and_still_loaded(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["package"] == expected["first"]["package"]
    assert seen["loaded"]["version"] == expected["first"]["module"]
    assert seen["boots"] == expected["first"]["boots"]


def test_next_boot_loads_the_very_module_that_is_loaded(host: Any, seen: dict[str, Any]) -> None:
    assert host.check_output("modinfo -F srcversion amdgpu") == seen["loaded"]["srcversion"]


def test_driver_that_failed_left_nothing(seen: dict[str, Any]) -> None:
    assert [line.split("-")[0] for line in seen["dkms"]] == ["amdgpu/6.16.6"]
    assert not [path for path in seen["trees"] + seen["sources"] if "6.16.6-" not in path]
