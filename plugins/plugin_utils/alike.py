"""Texts of several hosts that say the same but for what belongs to one host: its name, addresses and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Texts that differ are listed up to this many; above, one of them stands for all.
LISTED = 3
ADDRESS = r"\b(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b"
# Addresses of devices and words with digits in them: kernel releases, sizes, device nodes, network addresses.
NUMBERS = re.compile(ADDRESS + r"|(?<![\w.])[\w.:+~-]*[0-9][\w.:+~-]*")
# For texts where a version matters: the same kernel, whichever its build is, and the same device, wherever it is.
KERNELS = re.compile(ADDRESS + r"|[0-9]+\.[0-9]+\.[0-9]+-[0-9]+-[a-z][\w-]*")


def skeleton(text: str, own: re.Pattern[str] = NUMBERS) -> str:
    """The text without what is one host's own."""
    return own.sub("#", text)


def merged(rows: Iterable[tuple[str, str]], own: re.Pattern[str] = NUMBERS) -> list[tuple[str, list[str]]]:
    """Pairs of text and host as texts with their hosts, each text once.

    Where more than a few differ only in what is a host's own, the first stands for all and says so.
    """
    texts: dict[str, list[str]] = {}
    for text, host in rows:
        texts.setdefault(text, []).append(host)
    groups: dict[str, dict[str, list[str]]] = {}
    for text, hosts in texts.items():
        name = rf"(?<![\w.-]){re.escape(hosts[0])}(?![\w-])"
        groups.setdefault(skeleton(re.sub(name, "#", text), own), {})[text] = hosts
    return [row for alike in groups.values() for row in _listed(alike)]


def _listed(texts: dict[str, list[str]]) -> Sequence[tuple[str, list[str]]]:
    if len(texts) <= LISTED:
        return list(texts.items())
    (text, hosts), *_ = texts.items()
    first, *more = text.strip().splitlines() or [""]
    told = f"{first} (this is {hosts[0]}; the others differ in names and numbers alone)"
    return [("\n".join([told, *more]), [host for names in texts.values() for host in names])]
