"""Secure Boot from firmware variables."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import secure_boot
from tests.unit.module_utils.tree import MakeHost, Tree

EFI = "/sys/firmware/efi/efivars/"
STATE = EFI + "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
UNCHECKED = EFI + "MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23"
KEYS = EFI + "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23"
ON, OFF = b"\x06\x00\x00\x00\x01", b"\x06\x00\x00\x00\x00"


@pytest.mark.parametrize(
    ("tree", "in_container", "expected"),
    [
        ({STATE: ON}, False, "enabled"),
        ({STATE: OFF}, False, "disabled"),
        ({STATE: ON, UNCHECKED: ON}, False, "disabled"),
        ({STATE: ON, UNCHECKED: OFF}, False, "enabled"),
        ({STATE: b"\x06"}, False, "unknown"),
        ({"/sys/firmware/acpi/pm_profile": "4\n"}, False, "disabled"),
        ({"/sys/firmware/acpi/pm_profile": "4\n"}, True, "unknown"),
        ({"/sys/firmware/efi/fw_platform_size": "64\n"}, False, "unknown"),
        ({"/sys/kernel/notes": ""}, False, "unknown"),
    ],
)
def test_state(make_host: MakeHost, tree: Tree, in_container: bool, expected: str) -> None:
    assert secure_boot.gather(make_host(tree), in_container) == expected


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({}, None),
        ({"/var/lib/dkms/mok.pub": b"DER"}, {"path": "/var/lib/dkms/mok.pub", "enrolled": None}),
        ({"/var/lib/dkms/mok.pub": b"DER", KEYS: b"....DER.."}, {"path": "/var/lib/dkms/mok.pub", "enrolled": True}),
        ({"/var/lib/dkms/mok.pub": b"DER", KEYS: b"...."}, {"path": "/var/lib/dkms/mok.pub", "enrolled": False}),
        (
            {"/var/lib/shim-signed/mok/MOK.der": b"A", "/var/lib/dkms/mok.pub": b"B", KEYS: b"A"},
            {"path": "/var/lib/shim-signed/mok/MOK.der", "enrolled": True},
        ),
    ],
)
def test_signing_key(make_host: MakeHost, tree: Tree, expected: object) -> None:
    assert secure_boot.signing_key(make_host(tree)) == expected
