"""Where the host runs."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import virtualization
from tests.unit.module_utils.tree import MakeHost, Tree


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", ("none", "")),
        ("podman", ("container", "podman")),
        ("lxc", ("container", "lxc")),
        ("systemd-nspawn", ("container", "systemd-nspawn")),
        ("kvm", ("vm", "kvm")),
        ("microsoft", ("vm", "microsoft")),
        ("wsl", ("wsl", "wsl")),
    ],
)
def test_classify(name: str, expected: tuple[str, str]) -> None:
    fact = virtualization.classify(name)
    assert (fact["kind"], fact["name"]) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({"/run/systemd/container": "podman\n"}, ("container", "podman")),
        ({"/run/systemd/container": "something-new\n"}, ("container", "container-other")),
        ({"/run/.containerenv": ""}, ("container", "podman")),
        ({"/.dockerenv": ""}, ("container", "docker")),
        ({"/sys/class/dmi/id/sys_vendor": "QEMU\n"}, ("vm", "qemu")),
        ({"/sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}, ("vm", "vmware")),
        (
            {
                "/sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n",
                "/sys/class/dmi/id/product_name": "Virtual Machine\n",
            },
            ("vm", "microsoft"),
        ),
        (
            {"/sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n", "/sys/class/dmi/id/product_name": "Surface\n"},
            ("none", ""),
        ),
        ({"/proc/cpuinfo": "flags\t: fpu hypervisor lahf_lm\n"}, ("vm", "vm-other")),
        ({"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"}, ("wsl", "wsl")),
        ({"/sys/class/dmi/id/sys_vendor": "Supermicro\n"}, ("none", "")),
    ],
)
def test_files(make_host: MakeHost, tree: Tree, expected: tuple[str, str]) -> None:
    fact = virtualization.gather(make_host(tree))
    assert (fact["kind"], fact["name"]) == expected
