"""What the tests after each step of the scenario look at: packages, DKMS, the loaded module, /dev/kfd, boots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Driver:
    """The driver as commands of the machine show it; nothing of this passes through Ansible."""

    package: str
    loaded: str
    on_disk: dict[str, str]
    boots: int


@pytest.fixture
def kernels(host: Any) -> tuple[str, str]:
    """The kernel that the machine came with, and the newer one."""
    first, newer = host.file("/etc/gpufleet-kernels").content_string.split()
    return first, newer


@pytest.fixture
def driver(host: Any) -> Driver:
    """See Driver; `on_disk` is the path of the module that each installed kernel would load, '' for none."""
    releases = host.check_output("ls /boot | sed -n s/^vmlinuz-//p").split()
    return Driver(
        package=host.package("amdgpu-dkms").version,
        loaded=host.file("/sys/module/amdgpu/version").content_string.strip(),
        on_disk={release: host.run("modinfo -k %s -F filename amdgpu", release).stdout.strip() for release in releases},
        boots=len(host.check_output("last -x reboot | grep '^reboot'").splitlines()),
    )


@pytest.fixture
def sound(host: Any, driver: Driver) -> None:
    """What holds after every step, failed ones too: the next boot finds a driver, nothing is half done."""
    assert host.check_output("dpkg --audit") == ""
    assert host.check_output("systemctl --failed --plain --no-legend") == ""
    assert host.run("grep -rl amdgpu /etc/modprobe.d").stdout == ""
    for release, path in driver.on_disk.items():
        assert path == f"/lib/modules/{release}/updates/dkms/amdgpu.ko"
        assert host.run("lsinitramfs /boot/initrd.img-%s", release).rc == 0
    kfd = host.file("/dev/kfd")
    assert (kfd.user, kfd.group, kfd.mode) == ("root", "render", 0o660)
    assert host.file("/sys/bus/pci/devices/0001:00:00.0/driver").linked_to.endswith("/amdgpu")
