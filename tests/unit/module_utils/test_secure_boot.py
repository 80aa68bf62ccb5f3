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


# What openssl writes for a subject "O=gpufleet, CN=gpu-1 module signing": the issuer comes before the subject.
CERTIFICATE = (
    b"\x30\x82\x01\x0a\x02\x01\x07"
    + b"\x06\x03\x55\x04\x0a\x0c\x08gpufleet\x06\x03\x55\x04\x03\x0c\x14gpu-1 module signing"
    b"\x06\x03\x55\x04\x03\x0c\x05other"
)
UBUNTU, DKMS = "/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub"
NAME = "gpu-1 module signing"


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({}, None),
        ({DKMS: b"DER"}, {"path": DKMS, "name": None, "enrolled": None}),
        ({DKMS: b"\x06\x03\x55\x04\x03"}, {"path": DKMS, "name": None, "enrolled": None}),
        ({DKMS: CERTIFICATE}, {"path": DKMS, "name": NAME, "enrolled": None}),
        ({DKMS: CERTIFICATE, KEYS: b"...." + CERTIFICATE}, {"path": DKMS, "name": NAME, "enrolled": True}),
        ({DKMS: CERTIFICATE, KEYS: b"...."}, {"path": DKMS, "name": NAME, "enrolled": False}),
        ({UBUNTU: b"A", DKMS: b"B", KEYS: b"A"}, {"path": UBUNTU, "name": None, "enrolled": True}),
    ],
)
def test_signing_key(make_host: MakeHost, tree: Tree, expected: object) -> None:
    assert secure_boot.signing_key(make_host(tree)) == expected
