"""Packages and their states, read from dpkg's database.

The files are read, as apt does: it costs less than asking dpkg-query and works for a tree too. An interrupted
dpkg leaves newer records in updates/, which dpkg itself applies before it answers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

DATABASE = "/var/lib/dpkg"
_LIMIT = 128 * 1024 * 1024
# A package with triggers to run is configured; the next run of dpkg sees to them, and apt goes on meanwhile.
INSTALLED = ("installed", "triggers-pending", "triggers-awaited")
_CLEAN = (*INSTALLED, "config-files", "not-installed")
_FIELDS = re.compile(r"^(Package|Status|Version|Architecture): *(.*)$", re.M)


class Package(NamedTuple):
    """One record: `want` is dpkg's selection (install, hold, ...), `flag` is ok or reinstreq."""

    name: str
    architecture: str
    version: str
    want: str
    flag: str
    status: str


def parse_status(text: str) -> list[Package]:
    """Records of a status file, in its order; a record without a name or a status is left out."""
    packages = []
    for record in text.split("\n\n"):
        fields = dict(_FIELDS.findall(record))
        words = fields.get("Status", "").split()
        if len(words) == 3 and fields.get("Package"):
            packages.append(
                Package(
                    name=fields["Package"].strip(),
                    architecture=fields.get("Architecture", "").strip(),
                    version=fields.get("Version", "").strip(),
                    want=words[0],
                    flag=words[1],
                    status=words[2],
                )
            )
    return packages


def read(host: Host) -> list[Package]:
    """All records, a later one for the same package and architecture winning."""
    texts = [host.read(DATABASE + "/status", _LIMIT) or ""]
    journal = sorted((name for name in host.names(DATABASE + "/updates") if name.isdecimal()), key=int)
    texts.extend(host.read(DATABASE + "/updates/" + name) or "" for name in journal)
    records = {}
    for text in texts:
        for package in parse_status(text):
            records[(package.name, package.architecture)] = package
    return list(records.values())


def native_architecture(packages: list[Package]) -> str | None:
    """Debian's name of the host's architecture: the one dpkg itself was built for."""
    return next((package.architecture for package in packages if package.name == "dpkg"), None)


def broken(packages: list[Package]) -> list[dict[str, str]]:
    """Packages that dpkg has not brought to a clean end, sorted by name."""
    return [
        {"package": package.name, "status": package.status}
        for package in sorted(packages)
        if package.status not in _CLEAN or package.flag != "ok"
    ]


def owners(host: Host, paths: list[str]) -> dict[str, str]:
    """The package that ships each of the files, from the file lists; files of no package are left out."""
    # A list may name a file as it was before /lib became a link to /usr/lib.
    wanted = {name: path for path in paths for name in (path, re.sub("^/usr/lib/", "/lib/", path))}
    found: dict[str, str] = {}
    for name in host.names(DATABASE + "/info") if wanted else []:
        if not name.endswith(".list"):
            continue
        lines = b"\n" + (host.read_bytes(DATABASE + "/info/" + name, _LIMIT) or b"")
        for listed, path in wanted.items():
            if b"\n" + listed.encode("utf-8", "surrogateescape") + b"\n" in lines:
                found.setdefault(path, name[: -len(".list")].partition(":")[0])
    return found
