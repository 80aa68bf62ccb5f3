"""After a newer driver whose build lost its SSH connection."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("sound")


def test_newer_driver_is_loaded_after_one_more_boot(driver: Any, expected: dict[str, Any]) -> None:
    assert driver.package == expected["newer"]["package"]
    assert driver.loaded == expected["newer"]["module"]
    assert driver.boots == expected["newer"]["boots"]


def test_older_driver_left_nothing(host: Any) -> None:
    assert host.check_output("ls /var/lib/dkms/amdgpu | grep 6[.]16[.]6- || true") == ""
    assert not host.run("ls -d /usr/src/amdgpu-6.16.6-*").stdout


def test_connection_was_cut_before_the_module_was_there(host: Any, driver: Any) -> None:
    (path,) = driver.on_disk.values()
    cut = int(host.file("/root/cut").content_string)
    assert cut < int(host.check_output("stat -c %%Y -- %s", path))
