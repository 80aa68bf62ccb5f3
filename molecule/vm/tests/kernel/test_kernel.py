"""After the boot of a newer kernel, which the driver was built for before."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_newer_kernel_runs_with_the_driver(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["kernel"] == seen["kernels"][1]
    assert seen["loaded"]["version"] == expected["newer"]["module"]


def test_driver_is_there_for_both_kernels(seen: dict[str, Any]) -> None:
    assert set(seen["on_disk"]) == set(seen["kernels"])


def test_nothing_but_the_test_rebooted(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["boots"] == expected["newer"]["boots"] + 1
