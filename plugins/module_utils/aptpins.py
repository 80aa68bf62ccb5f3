"""Pins in apt's preferences that concern AMD's repositories or the ROCm packages."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.aptconf import part_files
from ansible_collections.gpufleet.rocm.plugins.module_utils.aptsources import parse_stanzas
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.packages import in_stack

PREFERENCES = "/etc/apt/preferences"
PREFERENCES_DIR = "/etc/apt/preferences.d"
_AMD = re.compile(r"radeon\.com|amd\.com|AMD ROCm", re.I)


def parse(text: str) -> list[dict[str, object]]:
    """{package, pin, priority} per stanza; priority is None when it is no number."""
    pins: list[dict[str, object]] = []
    for _number, fields in parse_stanzas(text):
        if "package" not in fields and "pin" not in fields:
            continue
        priority = fields.get("pin-priority", "")
        pins.append(
            {
                "package": " ".join(fields.get("package", "").split()),
                "pin": " ".join(fields.get("pin", "").split()),
                "priority": int(priority) if re.match(r"^-?[0-9]{1,9}$", priority) else None,
            }
        )
    return pins


def concerns_rocm(pin: dict[str, object], hosts: list[str]) -> bool:
    """Whether a pin names AMD's origin, one of the mirrors in `hosts`, or a package of the stack."""
    text = str(pin["pin"])
    if _AMD.search(text) or any(re.search(r"(?:^|[\s\"])%s(?:$|[\s\"])" % re.escape(host), text) for host in hosts):
        return True
    names = [name.strip("*") for name in str(pin["package"]).split()]
    return any(name and in_stack(name) for name in names)


def gather(host: Host, hosts: list[str]) -> list[dict[str, object]]:
    files = [PREFERENCES, *part_files(host, PREFERENCES_DIR, ".pref")]
    return [
        dict({"file": path}, **pin)
        for path in files
        for pin in parse(host.read(path) or "")
        if concerns_rocm(pin, hosts)
    ]
