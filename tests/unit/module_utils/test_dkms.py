"""dkms status through the years, and the tree behind it."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import dkms
from tests.unit.module_utils.tree import MakeHost

K54, K614 = "5.4.0-54-generic", "6.14.0-29-generic"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "amdgpu, 3.9-19, 5.4.0-54-generic, x86_64: installed (original_module exists)",
            [("amdgpu", "3.9-19", K54, "x86_64", "installed", None)],
        ),
        (
            "amdgpu, 19.10-782345.el7, 3.10.0-957.el7.x86_64, x86_64: built (original_module exists)",
            [("amdgpu", "19.10-782345.el7", "3.10.0-957.el7.x86_64", "x86_64", "built", None)],
        ),
        (
            "amdgpu, 5.16.9.22.20-1438746~20.04, 5.15.0-1017-azure, x86_64: installed",
            [("amdgpu", "5.16.9.22.20-1438746~20.04", "5.15.0-1017-azure", "x86_64", "installed", None)],
        ),
        (
            "amdgpu/6.14.14-2204008.24.04, 6.14.0-29-generic, x86_64: installed",
            [("amdgpu", "6.14.14-2204008.24.04", K614, "x86_64", "installed", None)],
        ),
        (
            "amdgpu/6.3.6, 6.14.0-29-generic, x86_64: installed (Original modules exist)",
            [("amdgpu", "6.3.6", K614, "x86_64", "installed", None)],
        ),
        (
            "i915-sriov-dkms/2025.03.26, 6.11.11-2-pve, x86_64: installed (WARNING! Diff between built and installed"
            " module!)",
            [
                (
                    "i915-sriov-dkms",
                    "2025.03.26",
                    "6.11.11-2-pve",
                    "x86_64",
                    "installed",
                    "Diff between built and installed module!",
                )
            ],
        ),
        ("amdgpu/6.3.6: added", [("amdgpu", "6.3.6", None, None, "added", None)]),
        ("amdgpu, 3.9-19: added", [("amdgpu", "3.9-19", None, None, "added", None)]),
        (
            "amdgpu/6.3.6, 6.14.0-29-generic, x86_64: installed-weak from 6.14.0-24-generic",
            [("amdgpu", "6.3.6", K614, "x86_64", "installed-weak", None)],
        ),
        (
            "Error! Could not locate dkms.conf file.\n"
            "File: /var/lib/dkms/amdgpu/6.7.0-1787201.22.04/source/dkms.conf does not exist.",
            [
                (
                    "amdgpu",
                    "6.7.0-1787201.22.04",
                    None,
                    None,
                    "broken",
                    "File: /var/lib/dkms/amdgpu/6.7.0-1787201.22.04/source/dkms.conf does not exist.",
                )
            ],
        ),
        (
            "amdgpu/6.7.0: broken",
            [("amdgpu", "6.7.0", None, None, "broken", "amdgpu/6.7.0: broken")],
        ),
        ("", []),
        ("Deprecated feature: REMAKE_INITRD (/var/lib/dkms/x/1/source/dkms.conf)", []),
        ("Error! Bad return status for module build on kernel: 6.8.0-44-generic (x86_64)", []),
        ("dkms autoinstall on 6.8.0-44-generic/x86_64 failed for amdgpu(10)", []),
    ],
)
def test_status(text: str, expected: list[tuple[object, ...]]) -> None:
    found = dkms.parse_status(text)
    keys = ("module", "version", "kernel", "arch", "state", "warning")
    assert [tuple(entry[key] for key in keys) for entry in found] == expected


def test_tree(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/var/lib/dkms/mok.pub": "",
            "/var/lib/dkms/amdgpu/6.12.12/source/dkms.conf": "",
            "/var/lib/dkms/amdgpu/6.12.12/6.8.0-41-generic/x86_64/module/amdgpu.ko": "",
            "/var/lib/dkms/amdgpu/6.12.12/6.8.0-44-generic/x86_64/module/amdgpu.ko": "",
            "/var/lib/dkms/amdgpu/6.12.12/build/make.log": "",
            "/var/lib/dkms/amdgpu/kernel-6.8.0-41-generic-x86_64": "-> 6.12.12/6.8.0-41-generic/x86_64",
            "/var/lib/dkms/amdgpu/6.14.14/source/dkms.conf": "",
            "/var/lib/dkms/amdgpu/6.7.0": None,
            "/var/lib/dkms/amdgpu/original_module/6.8.0-41-generic/x86_64/amdgpu.ko": "",
        }
    )
    found = [(entry["version"], entry["kernel"], entry["state"]) for entry in dkms.gather(host)]
    assert found == [
        ("6.12.12", "6.8.0-41-generic", "installed"),
        ("6.12.12", "6.8.0-44-generic", "built"),
        ("6.14.14", None, "added"),
        ("6.7.0", None, "broken"),
    ]


def test_no_tree_is_no_dkms(make_host: MakeHost) -> None:
    assert dkms.gather(make_host({"/etc": None})) == []


def test_versions_whose_source_a_package_ships(make_host: MakeHost) -> None:
    lists = {
        "amdgpu-dkms": "/usr/src/amdgpu-6.3.6-1697589.22.04\n/usr/src/amdgpu-6.3.6-1697589.22.04/dkms.conf\n"
        "/usr/src/amdgpu-6.3.6-1697589.22.04/amd/dkms.conf\n",
        "rock-dkms": "/usr/src/amdgpu-4.0-23/dkms.conf\n/usr/src/other-1/dkms.conf\n",
        "amdgpu-dkms-firmware": "/usr/src/amdgpu-9/dkms.conf\n",
    }
    host = make_host({f"/var/lib/dpkg/info/{name}.list": text for name, text in lists.items()})
    assert dkms.packaged(host, "amdgpu", dkms.DRIVER_PACKAGES) == ["4.0-23", "6.3.6-1697589.22.04"]
    assert dkms.packaged(make_host({"/etc": None}), "zfs", ["zfs-dkms"]) == []
