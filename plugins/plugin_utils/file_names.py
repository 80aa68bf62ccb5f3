"""A file name of its own for every host, also on a file system that takes A for a."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection

# File systems take so many bytes; what is written under a passing name (controller.py) needs six of them.
LONGEST = 255 - 6
# These would be taken for the plan, check or diagnosis of another host.
TAKEN = re.compile(r"|.*\.(plan|check|diagnose)", re.IGNORECASE)


def file_names(hosts: Collection[str], suffix: str = ".json") -> dict[str, str]:
    """For each host the name of its file: its own name where that can be one, else as much of it and a digest."""
    alike = Counter(_folded(host) for host in hosts)
    return {host: _file_name(host, suffix, alone=alike[_folded(host)] == 1) for host in hosts}


def _file_name(host: str, suffix: str, alone: bool) -> str:
    plain = "".join(char if char.isalnum() or char in "-_+@:." else "_" for char in host)
    plain = re.sub(r"^\.", "_", plain)
    same = plain == host == unicodedata.normalize("NFC", host) and not TAKEN.fullmatch(host)
    if same and (alone or host == _folded(host)) and len((host + suffix).encode()) <= LONGEST:
        return host + suffix
    digest = "-" + hashlib.sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:12] + suffix
    return _cut(plain, LONGEST - len(digest)) + digest


def _folded(host: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", host).casefold())


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
