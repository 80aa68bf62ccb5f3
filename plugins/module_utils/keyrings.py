"""Keyrings with which apt trusts AMD's repositories."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import openpgp
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

KEYRING_DIRS = ("/etc/apt/keyrings", "/usr/share/keyrings")
TRUSTED = "/etc/apt/trusted.gpg"
TRUSTED_DIR = "/etc/apt/trusted.gpg.d"
AMD_FINGERPRINTS = (
    "CA8BB4727A47B4D09B4EE8969386B48A1A693C5C",
    "D0F004A0025A1145C7807FCD0701EAC4D5E02107",
)
_NAME = re.compile(r"^(?:rocm|amdrocm|amdgpu|radeon)", re.I)
_UID = re.compile(r"@amd\.com|rocm", re.I)


def describe(path: str, data: bytes | None) -> dict[str, object]:
    """One value of the `keyrings` fact; form is 'missing' or 'invalid' where there is no key to read.

    `expires` is the earliest expiry of the keys in the file.
    """
    empty: dict[str, object] = {"path": path, "fingerprints": [], "expires": None}
    if data is None:
        return dict(empty, form="missing")
    try:
        found = openpgp.keys(data)
    except ValueError:
        return dict(empty, form="invalid")
    return {
        "path": path,
        "fingerprints": [key["fingerprint"] for key in found],
        "expires": min((str(key["expires"]) for key in found if key["expires"]), default=None),
        "form": "armored" if openpgp.is_armoured(data) else "binary",
    }


def holds_amd_key(data: bytes) -> bool:
    """Whether one of the keys in a file is AMD's, by fingerprint or user id."""
    try:
        found = openpgp.keys(data)
    except ValueError:
        return False
    return any(
        key["fingerprint"] in AMD_FINGERPRINTS or _UID.search(" ".join(str(uid) for uid in _uids(key))) for key in found
    )


def _uids(key: dict[str, object]) -> list[object]:
    uids = key["uids"]
    return uids if isinstance(uids, list) else []


def paths(host: Host, used: list[str]) -> list[str]:
    """Keyrings to report, each once: those that AMD's entries use, then those named after ROCm."""
    named = [folder + "/" + name for folder in KEYRING_DIRS for name in host.names(folder) if _NAME.match(name)]
    return list(dict.fromkeys([path for path in used if path.startswith("/")] + named))


def gather(host: Host, used: list[str]) -> list[dict[str, object]]:
    """`used` are the Signed-By values of AMD's entries."""
    found = [describe(path, host.read_bytes(path)) for path in paths(host, used)]
    trusted = [TRUSTED] + [
        TRUSTED_DIR + "/" + name for name in host.names(TRUSTED_DIR) if name.endswith((".gpg", ".asc"))
    ]
    for path in trusted:
        data = host.read_bytes(path)
        # apt trusts these for every repository, whatever the entry says.
        if path not in used and data and holds_amd_key(data):
            found.append(describe(path, data))
    return found
