"""The kernel that GRUB boots by default."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

CONFIG = "/boot/grub/grub.cfg"
ENVIRONMENT = "/boot/grub/grubenv"
_ENTRY = re.compile(
    r"^(?P<indent>\s*)(?P<kind>menuentry|submenu)\s+(?P<quote>['\"])(?P<title>.*?)(?P=quote)(?P<rest>.*)$"
)
_ID = re.compile(r"(?:\$menuentry_id_option|--id[ =])\s*['\"]?([^\s'\"]+)")
_KERNEL = re.compile(r"^\s*linux\S*\s+\S*/vmlinuz-(\S+)")
_DEFAULT = re.compile(r"^\s*set default=[\"']?([^\"']*)[\"']?\s*$", re.M)


class Entry(NamedTuple):
    """One item of the menu: what it can be called by (number, title, id), alone or behind its submenu."""

    names: Tuple[str, ...]
    submenu: Tuple[str, ...]
    release: Optional[str]


def entries(text: str) -> list[Entry]:
    """The menu of a grub.cfg; the entries of a submenu are indented."""
    found: list[Entry] = []
    submenu: tuple[str, ...] = ()
    top = inner = 0
    for line in text.splitlines():
        match, kernel = _ENTRY.match(line), _KERNEL.match(line)
        if kernel and found and found[-1].release is None:
            found[-1] = found[-1]._replace(release=kernel.group(1))
        if not match:
            continue
        names = (match.group("title"), *_ID.findall(match.group("rest")))
        if match.group("indent") and submenu:
            found.append(Entry((str(inner), *names), submenu, None))
            inner += 1
            continue
        names = (str(top), *names)
        top, inner = top + 1, 0
        submenu = names if match.group("kind") == "submenu" else ()
        if not submenu:
            found.append(Entry(names, (), None))
    return found


def default_release(text: str, environment: str) -> str | None:
    """Kernel release of the entry that boots next; None where the configuration does not tell."""
    saved = dict(line.partition("=")[::2] for line in environment.splitlines() if not line.startswith("#"))
    choices = [choice for choice in _DEFAULT.findall(text) if choice != "${next_entry}"]
    choice = choices[-1] if choices else "0"
    if choice == "${saved_entry}":
        choice = saved.get("saved_entry") or "0"
    # Set by grub-reboot for one boot.
    *submenu, name = (saved.get("next_entry") or choice).split(">")
    for entry in entries(text):
        inside = submenu[0] in entry.submenu if submenu else not entry.submenu
        if inside and name in entry.names:
            return entry.release
    return None


def gather(host: Host) -> str | None:
    text = host.read(CONFIG)
    return default_release(text, host.read(ENVIRONMENT, 4096) or "") if text else None
