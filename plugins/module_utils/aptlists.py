"""What apt has downloaded: index files and the origin that a repository declares."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.aptsources import without_credentials
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

LISTS = "/var/lib/apt/lists"
# Characters that apt writes as %xx in the name of a list file, besides blanks and what is not ASCII.
_QUOTED = frozenset('\\|{}[]<>"^~_=!@#$%^&*')
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(?://)?")


def file_stem(uri: str, suite: str) -> str:
    """Start of the names of a repository's files in apt's lists, up to and without the last underscore.

    http://h/debian + bookworm -> h_debian_dists_bookworm; a flat suite (it ends in /) has no dists part.
    """
    flat = suite.endswith("/")
    base = without_credentials(uri).rstrip("/") + "/" + (suite if flat else "dists/" + suite)
    plain = _SCHEME.sub("", base).rstrip("/")
    quoted = "".join(
        "".join("%%%02x" % byte for byte in char.encode("utf-8"))
        if char in _QUOTED or not 0x20 < ord(char) < 0x7F
        else char
        for char in plain
    )
    return quoted.replace("/", "_")


def has_index(names: list[str], uri: str, suite: str, components: list[str]) -> bool:
    """Whether the lists hold a package index of the repository."""
    stem = file_stem(uri, suite)
    starts = tuple(stem + "_" + component.replace("/", "_") + "_" for component in components) or (stem + "_",)
    return any(name.startswith(starts) and ("_Packages" in name or "_Sources" in name) for name in names)


def parse_origin(text: str) -> str | None:
    """The Origin field at the start of a Release or InRelease file."""
    for line in text.splitlines():
        if line.startswith("Origin:"):
            return line.partition(":")[2].strip() or None
        if line.startswith((" ", "MD5Sum:", "SHA256:")):
            break
    return None


class Origins:
    """Origins by repository, each file read once."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[tuple[str, str], str | None] = {}

    def get(self, uri: str, suite: str) -> str | None:
        key = (uri, suite)
        if key not in self._known:
            stem = LISTS + "/" + file_stem(uri, suite)
            text = self._host.read(stem + "_InRelease", 4096) or self._host.read(stem + "_Release", 4096)
            self._known[key] = parse_origin(text or "")
        return self._known[key]
