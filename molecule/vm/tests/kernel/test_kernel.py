"""After the boot of a newer kernel, which the driver was built for before."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_newer_kernel_runs_with_the_driver(
    host: Any, driver: Any, kernels: tuple[str, str], expected: dict[str, Any]
) -> None:
    assert host.check_output("uname -r") == kernels[1]
    assert driver.loaded == expected["newer"]["module"]
    assert set(driver.on_disk) == set(kernels)


def test_nothing_but_the_test_rebooted(driver: Any, expected: dict[str, Any]) -> None:
    assert driver.boots == expected["newer"]["boots"] + 1
