"""After a newer driver whose build lost its SSH connection."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_newer_driver_is_loaded_after_one_more_boot(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    assert seen["package"] == expected["newer"]["package"]
    assert seen["loaded"]["version"] == expected["newer"]["module"]
    assert seen["boots"] == expected["newer"]["boots"]


def test_older_driver_left_nothing(seen: dict[str, Any]) -> None:
    assert not [path for path in seen["trees"] + seen["sources"] if "6.16.13-" not in path]


def test_connection_was_cut_before_the_module_was_there(host: Any, seen: dict[str, Any]) -> None:
    (built_at,) = seen["built_at"].values()
    assert int(host.file("/root/cut").content_string) < built_at
