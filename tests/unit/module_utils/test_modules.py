"""The module on disk and what keeps it from loading."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import modules
from tests.unit.module_utils.tree import MakeHost

MODINFO = """filename:       /lib/modules/6.8.0-41-generic/updates/dkms/amdgpu.ko.zst
version:        6.12.12
license:        GPL and additional rights
description:    AMD GPU
firmware:       amdgpu/navi10_mes.bin
srcversion:     0123456789ABCDEF01234567
alias:          pci:v00001002d00007460sv*sd*bc*sc*i*
vermagic:       6.8.0-41-generic SMP preempt mod_unload modversions
"""


def test_modinfo() -> None:
    assert modules.parse_modinfo(MODINFO) == {
        "path": "/lib/modules/6.8.0-41-generic/updates/dkms/amdgpu.ko.zst",
        "version": "6.12.12",
        "srcversion": "0123456789ABCDEF01234567",
    }


def test_modinfo_of_the_kernels_own_module() -> None:
    found = modules.parse_modinfo("filename:       /lib/modules/6.8/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko\n")
    assert found == {
        "path": "/lib/modules/6.8/kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko",
        "version": None,
        "srcversion": None,
    }


def test_modinfo_of_nothing() -> None:
    assert modules.parse_modinfo("modinfo: ERROR: Module amdgpu not found.\n") is None


def test_on_disk_without_a_command(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/lib/modules/6.8.0-41-generic/modules.dep": "kernel/fs/xfs/xfs.ko: kernel/lib/libcrc32c.ko\n"
            "updates/dkms/amdgpu.ko.zst: updates/dkms/amddrm_ttm_helper.ko.zst\n"
        }
    )
    found = modules.on_disk(host, "6.8.0-41-generic") or {}
    assert found["path"] == "/lib/modules/6.8.0-41-generic/updates/dkms/amdgpu.ko.zst"
    assert modules.on_disk(host, "6.8.0-44-generic") is None
    assert modules.on_disk(host, None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("blacklist amdgpu\n", [(1, "blacklist amdgpu")]),
        ("# blacklist amdgpu\n\nblacklist   amdgpu  \n", [(3, "blacklist amdgpu")]),
        ("install amdgpu /bin/false\n", [(1, "install amdgpu /bin/false")]),
        ("install amdgpu /usr/bin/true", [(1, "install amdgpu /usr/bin/true")]),
        ("blacklist amdgpu_fake\nblacklist radeon\noptions amdgpu noretry=1\n", []),
        ("install amdgpu /sbin/modprobe --ignore-install amdgpu\n", []),
    ],
)
def test_blocking_lines(text: str, expected: list[tuple[int, str]]) -> None:
    assert modules.blocking_lines(text) == expected


@pytest.mark.parametrize(
    ("cmdline", "expected"),
    [
        ("quiet modprobe.blacklist=amdgpu", ["modprobe.blacklist=amdgpu"]),
        ("module_blacklist=radeon,amdgpu,ast quiet", ["module_blacklist=radeon,amdgpu,ast"]),
        ("modprobe.blacklist=ast amdgpu.noretry=1", []),
        ("", []),
    ],
)
def test_blocking_parameters(cmdline: str, expected: list[str]) -> None:
    assert modules.blocking_parameters(cmdline) == expected


def test_blacklist_follows_the_order_of_modprobe(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/etc/modprobe.d/a.conf": "# emptied by the administrator\n",
            "/usr/lib/modprobe.d/a.conf": "blacklist amdgpu\n",
            "/usr/lib/modprobe.d/b.conf": "blacklist amdgpu\n",
            "/lib": "-> usr/lib",
            "/etc/modprobe.d/c.conf.disabled": "blacklist amdgpu\n",
            "/var/lib/dpkg/info/gim.list": "/lib/modprobe.d/b.conf\n",
        }
    )
    found = modules.blacklist(host, "modprobe.blacklist=amdgpu")
    assert [(entry["file"], entry["line"], entry["text"], entry["package"]) for entry in found] == [
        ("/usr/lib/modprobe.d/b.conf", 1, "blacklist amdgpu", "gim"),
        ("/proc/cmdline", 1, "modprobe.blacklist=amdgpu", None),
    ]
