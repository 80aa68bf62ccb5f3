"""The running kernel, the one that boots next, and whether modules can be built for it."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import grub
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

# Where archive kernels have an ABI number, Ubuntu's mainline builds carry six digits made of the version:
# 6.18.7-061807-generic. System76 uses eight digits for its own archive kernels, which are no mainline builds.
_MAINLINE = re.compile(r"^\d+\.\d+(?:\.\d+)?-0\d{5}(?:rc\d+)?-")
_SERIES = re.compile(r"^(\d+\.\d+)")
_NOT_AN_IMAGE = (".old", ".bak", ".signed", ".dpkg-new", ".dpkg-tmp", ".dpkg-bak", ".hmac")


def parse_release(release: str) -> dict[str, object]:
    """series ('6.8'), flavour (last field, None when that is a number) and whether it is a mainline build."""
    series = _SERIES.match(release)
    last = release.rpartition("-")[2] if "-" in release else ""
    return {
        "release": release,
        "series": series.group(1) if series else None,
        "flavour": last if last[:1].isalpha() else None,
        "mainline": _MAINLINE.match(release) is not None,
    }


def version_key(release: str) -> list[tuple[int, int, str]]:
    """Sort key in which numbers compare as numbers: 6.8.0-101 is above 6.8.0-44 and 6.10 above 6.8."""
    parts = re.findall(r"\d+|[a-zA-Z]+", release)
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def images(names: list[str]) -> list[str]:
    """Releases of the vmlinuz-* among the file names of /boot, newest first."""
    releases = [
        name[len("vmlinuz-") :]
        for name in names
        if name.startswith("vmlinuz-") and not name.endswith(_NOT_AN_IMAGE) and name[len("vmlinuz-") :][:1].isdecimal()
    ]
    return sorted(releases, key=version_key, reverse=True)


def build_packages(host: Host, release: str | None) -> dict[str, dict[str, object]]:
    """headers and modules_extra of a kernel; the apt reader fills in what packages say about them."""
    return {
        "headers": {
            "package": "linux-headers-" + release if release else None,
            "installed": bool(release) and host.is_dir("/lib/modules/%s/build" % release),
            "candidate": None,
        },
        "modules_extra": {
            "package": "linux-modules-extra-" + release if release else None,
            "installed": False,
            "candidate": None,
        },
    }


def gather(host: Host, in_container: bool) -> dict[str, object]:
    """The `kernel` fact; `next` is about the kernel that boots next where that is another one."""
    release = host.value("/proc/sys/kernel/osrelease")
    facts = parse_release(release or "")
    facts["release"] = release
    installed = [] if in_container else images(host.names("/boot"))
    default = grub.gather(host) if installed else None
    facts["installed"] = installed
    facts["next_boot"] = default if default in installed else next(iter(installed), None)
    facts["cmdline"] = host.value("/proc/cmdline") or ""
    facts.update(build_packages(host, release))
    other = facts["next_boot"] if facts["next_boot"] != release else None
    facts["next"] = build_packages(host, str(other)) if other else None
    return facts
