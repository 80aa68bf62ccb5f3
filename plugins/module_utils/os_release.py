"""Which distribution a host runs, and on which base it is built."""

from __future__ import annotations

import shlex

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

PATHS = ("/etc/os-release", "/usr/lib/os-release")
_OWN_BASES = ("ubuntu", "debian")


def parse(text: str) -> dict[str, str]:
    """Fields of an os-release file, quotes removed; lines that are no assignment are left out."""
    fields = {}
    for line in text.splitlines():
        name, separator, value = line.strip().partition("=")
        if not separator or not name or name.startswith("#"):
            continue
        try:
            fields[name] = "".join(shlex.split(value)) if "'" in value or '"' in value else value
        except ValueError:
            fields[name] = value.strip("\"'")
    return fields


def identity(fields: dict[str, str]) -> dict[str, object]:
    """The `os` fact.

    base_id and base_codename name the archive that the host's packages come from: a derivative such as Mint
    says so with UBUNTU_CODENAME. They are None where that cannot be told (Debian derivatives have no field).
    """
    own_id = fields.get("ID", "linux")
    codename = fields.get("VERSION_CODENAME") or None
    base_id = base_codename = None
    if fields.get("UBUNTU_CODENAME"):
        base_id, base_codename = "ubuntu", fields["UBUNTU_CODENAME"]
    elif own_id in _OWN_BASES:
        base_id, base_codename = own_id, codename
    return {
        "id": own_id,
        "id_like": fields.get("ID_LIKE", "").split(),
        "version_id": fields.get("VERSION_ID") or None,
        "codename": codename,
        "base_id": base_id,
        "base_codename": base_codename,
        "pretty_name": fields.get("PRETTY_NAME") or None,
    }


def gather(host: Host) -> dict[str, object]:
    for path in PATHS:
        text = host.read(path)
        if text is not None:
            return identity(parse(text))
    return identity({})
