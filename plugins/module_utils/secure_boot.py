"""Secure Boot state from the firmware variables, without mokutil."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

EFI = "/sys/firmware/efi"
_STATE = EFI + "/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_SHIM = EFI + "/efivars/%s-605dab50-e046-4300-abb6-3dd810dd8b23"


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
