"""What the virtual machine's parts say in two places, the sources of its drivers, and which process is its own."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from sandbox.fleet import hosts
from sandbox.upstream import amdgpu
from sandbox.upstream.debs import Package
from sandbox.vm import image, machine

DRIVERS = {
    package.version: package
    for archive in amdgpu.archives()
    for suite in archive.suites
    for package in suite.packages
    if package.name == "amdgpu-dkms"
}


def source(package: Package, folder: Path) -> dict[str, str]:
    """The files of a driver's source by name, with the package's scripts."""
    assert package.fill is not None
    package.fill(folder)
    files = {path.name: path.read_text() for path in folder.glob("usr/src/*/*")}
    return {**files, **package.scripts}


@pytest.mark.parametrize("version", DRIVERS)
def test_sources_of_every_driver_are_filled_in(version: str, tmp_path: Path) -> None:
    files = source(DRIVERS[version], tmp_path)
    assert {"amdgpu.c", "Makefile", "dkms.conf", "postinst", "prerm"} <= set(files)
    assert not [name for name, text in files.items() if re.search(r"@[A-Z_]+@", text)]
    module = re.sub(r"^1:|\.\d+-.*", "", version)
    assert f'MODULE_VERSION("{module}")' in files["amdgpu.c"]


def test_one_driver_fails_on_the_kernels_of_debian_12(tmp_path: Path) -> None:
    texts = {version: source(package, tmp_path / version)["amdgpu.c"] for version, package in DRIVERS.items()}
    assert {version.split(".3")[0] for version, text in texts.items() if "#if 0 && LINUX" in text} == {"1:6.19.14"}


def test_guest_has_the_address_that_the_emulator_forwards_to() -> None:
    network = (image.SOURCES / "rootfs/etc/systemd/network/eth0.network").read_text()
    assert f"Address={machine.GUEST_ADDRESS}/{hosts.SUBNET.split('/')[1]}\n" in network
    assert f"Gateway={hosts.GATEWAY}\n" in network
    forwarded = [word for word in machine.command(image.Image(Path("i")), "tcg", Path("f")) if "hostfwd" in word]
    assert f"-{machine.GUEST_ADDRESS}:22" in forwarded[0]


def test_boot_loader_and_kernel_look_for_the_label_that_the_file_system_has() -> None:
    for name in ("boot.cfg", "grub.cfg"):
        assert f"--set=root {image.LABEL}\n" in (image.SOURCES / name).read_text()
    assert f"root=LABEL={image.LABEL} " in (image.SOURCES / "grub.cfg").read_text()


@pytest.mark.parametrize("content", ["", "nonsense", "999999999", str(os.getpid())])
def test_process_of_another_program_is_not_the_machine(content: str, tmp_path: Path) -> None:
    file = tmp_path / "qemu.pid"
    assert machine.pid(file) is None
    file.write_text(content)
    assert machine.pid(file) is None
