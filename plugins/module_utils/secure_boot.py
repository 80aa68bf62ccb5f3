"""Secure Boot state from the firmware variables, without mokutil."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

EFI = "/sys/firmware/efi"
_STATE = EFI + "/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_SHIM = EFI + "/efivars/%s-605dab50-e046-4300-abb6-3dd810dd8b23"
# Ubuntu's own place first: its DKMS uses that key, and the other one where it is missing.
_CERTIFICATES = ("/var/lib/shim-signed/mok/MOK.der", "/var/lib/dkms/mok.pub")
# The object identifier 2.5.4.3.
_COMMON_NAME = b"\x06\x03\x55\x04\x03"


def flag(variable: bytes | None) -> bool | None:
    """Value of a one-byte firmware variable; its file starts with four bytes of attributes."""
    if variable is None or len(variable) != 5:
        return None
    return variable[4] == 1


def gather(host: Host, in_container: bool) -> str:
    """enabled, disabled or unknown.

    A container often sees an empty /sys/firmware, which says nothing about the machine below.
    """
    state = flag(host.read_bytes(_STATE))
    if state is None:
        bios = host.is_dir("/sys/firmware") and not host.exists(EFI)
        return "disabled" if bios and not in_container else "unknown"
    # shim can be told to accept any module although the firmware's own check is on.
    unchecked = flag(host.read_bytes(_SHIM % "MokSBStateRT"))
    return "enabled" if state and not unchecked else "disabled"


def common_name(certificate: bytes) -> str | None:
    """The first common name in a certificate in DER: its issuer's, which is what modinfo calls the signer."""
    start = certificate.find(_COMMON_NAME)
    if start < 0:
        return None
    # Behind the identifier come the kind of text, its length and the text.
    place = start + len(_COMMON_NAME)
    header, text = certificate[place : place + 2], certificate[place + 2 :]
    return text[: header[1]].decode("utf-8", "replace") if len(header) == 2 else None


def signing_key(host: Host) -> dict[str, object] | None:
    """The certificate with which DKMS signs modules on this host; None when it has made none yet.

    name: its issuer's common name, which modinfo shows as the signer of a module.
    enrolled: whether the firmware's list of machine owner keys holds it; None where that list cannot be read.
    """
    for path in _CERTIFICATES:
        certificate = host.read_bytes(path)
        if certificate:
            # The list holds the certificates as they are, in DER, each behind a header.
            known = host.read_bytes(_SHIM % "MokListRT")
            enrolled = None if known is None else certificate in known
            return {"path": path, "name": common_name(certificate), "enrolled": enrolled}
    return None
