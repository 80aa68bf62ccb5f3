"""Kernel releases as distributions name them."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import kernel
from tests.unit.module_utils.tree import MakeHost


@pytest.mark.parametrize(
    ("release", "series", "flavour", "mainline"),
    [
        ("6.8.0-41-generic", "6.8", "generic", False),
        ("5.15.0-1017-azure", "5.15", "azure", False),
        ("6.14.0-1018-oem", "6.14", "oem", False),
        ("6.18.7-061807-generic", "6.18", "generic", True),
        ("6.0.0-060000rc3-generic", "6.0", "generic", True),
        ("6.6.10-76060610-generic", "6.6", "generic", False),
        ("6.1.0-18-amd64", "6.1", "amd64", False),
        ("6.11.11-2-pve", "6.11", "pve", False),
        ("5.15.153.1-microsoft-standard-WSL2", "5.15", "WSL2", False),
        ("6.9.3", "6.9", None, False),
        ("6.8.0-41", "6.8", None, False),
        ("", None, None, False),
    ],
)
def test_release(release: str, series: str | None, flavour: str | None, mainline: bool) -> None:
    found = kernel.parse_release(release)
    assert (found["series"], found["flavour"], found["mainline"]) == (series, flavour, mainline)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["vmlinuz-6.8.0-41-generic", "vmlinuz-6.8.0-44-generic"], ["6.8.0-44-generic", "6.8.0-41-generic"]),
        (["vmlinuz-6.8.0-44-generic", "vmlinuz-6.8.0-101-generic"], ["6.8.0-101-generic", "6.8.0-44-generic"]),
        (["vmlinuz-6.8.0-9-generic", "vmlinuz-6.10.0-1-generic"], ["6.10.0-1-generic", "6.8.0-9-generic"]),
        (["vmlinuz-6.8.0-9-generic", "vmlinuz-6.8.0-10-generic.old"], ["6.8.0-9-generic"]),
        (["vmlinuz", "vmlinuz.old", "initrd.img-6.9", "config-6.9"], []),
        ([], []),
    ],
)
def test_images(names: list[str], expected: list[str]) -> None:
    assert kernel.images(names) == expected


def test_headers_count_only_when_the_build_link_leads_somewhere(make_host: MakeHost) -> None:
    tree = {
        "/proc/sys/kernel/osrelease": "6.8.0-41-generic\n",
        "/lib/modules/6.8.0-41-generic/build": "-> /usr/src/linux-headers-6.8.0-41-generic",
        "/boot/vmlinuz-6.8.0-44-generic": "",
    }
    fact = kernel.gather(make_host(tree), in_container=False)
    assert fact["headers"] == {"package": "linux-headers-6.8.0-41-generic", "installed": False, "candidate": None}
    assert fact["next_boot"] == "6.8.0-44-generic"
    fact = kernel.gather(make_host({"/usr/src/linux-headers-6.8.0-41-generic/Makefile": ""}), in_container=True)
    assert fact["headers"] == {"package": "linux-headers-6.8.0-41-generic", "installed": True, "candidate": None}
    assert (fact["installed"], fact["next_boot"]) == ([], None)


@pytest.mark.parametrize(
    ("pinned", "expected"),
    [("6.8.0-41-generic", "6.8.0-41-generic"), ("6.8.0-39-generic", "6.8.0-44-generic")],
    ids=["installed", "removed"],
)
def test_the_kernel_that_grub_is_set_to(make_host: MakeHost, pinned: str, expected: str) -> None:
    config = f"set default=\"0\"\nmenuentry 'Ubuntu' {{\n\tlinux /boot/vmlinuz-{pinned} ro\n}}\n"
    tree = {"/boot/vmlinuz-6.8.0-41-generic": "", "/boot/vmlinuz-6.8.0-44-generic": "", "/boot/grub/grub.cfg": config}
    assert kernel.gather(make_host(tree), in_container=False)["next_boot"] == expected


def test_a_tree_without_proc_has_no_kernel(make_host: MakeHost) -> None:
    fact = kernel.gather(make_host({"/etc": None}), in_container=False)
    assert fact["release"] is None
    assert fact["headers"] == {"package": None, "installed": False, "candidate": None}
