"""Settings in apt's configuration files."""

from __future__ import annotations

import re
from typing import Dict, List, Tuple

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

DIRECTORY = "/etc/apt/apt.conf.d"
MAIN = "/etc/apt/apt.conf"
_NAME = re.compile(r"^[A-Za-z0-9_.-]+$")
_TOKEN = re.compile(
    r'"(?P<quoted>[^"\n]*)"'
    r"|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|#(?!clear\b)[^\n]*)"
    r"|(?P<mark>[{};])"
    r'|(?P<word>[^\s{};"]+)',
    re.S,
)
# By name in lower case: every value in the order of the files, with its file.
Settings = Dict[str, List[Tuple[str, str]]]


def part_files(host: Host, folder: str, suffix: str) -> list[str]:
    """Files of a directory that apt reads: those without an extension or with this one."""
    return [
        folder + "/" + name
        for name in host.names(folder)
        if _NAME.match(name) and ("." not in name or name.endswith(suffix))
    ]


def parse(text: str, path: str, settings: Settings) -> None:
    """Add what a file sets. Of a scalar the last value counts; the values of a list have the name of the list."""
    scopes: list[str] = []
    words: list[str] = []
    for token in _TOKEN.finditer(text):
        mark = token.group("mark")
        if token.group("comment"):
            continue
        if not mark:
            words.append(token.group("word") or token.group("quoted") or "")
            continue
        if mark == "{":
            scopes.append(words[0] if words else "")
        else:
            _add("::".join(scopes), words, path, settings)
        if mark == "}":
            del scopes[-1:]
        words = []


def _add(scope: str, words: list[str], path: str, settings: Settings) -> None:
    """One statement: NAME "value", "value" alone in a list, or #clear NAME."""
    if words[:1] == ["#clear"]:
        for name in [name for name in settings if len(words) > 1 and (name + "::").startswith(_key(words[1]) + "::")]:
            del settings[name]
    elif words and (len(words) > 1 or scope):
        name = "::".join([scope, *words[:-1]]) if scope else words[0]
        settings.setdefault(_key(name), []).append((words[-1], path))


def _key(name: str) -> str:
    return name.rstrip(":").lower()


def read(host: Host) -> Settings:
    settings: Settings = {}
    for path in [*part_files(host, DIRECTORY, ".conf"), MAIN]:
        parse(host.read(path) or "", path, settings)
    return settings
