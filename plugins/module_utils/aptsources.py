"""Entries of apt source files, one-line and deb822, and which of them lead to AMD."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

SOURCES_LIST = "/etc/apt/sources.list"
SOURCES_DIR = "/etc/apt/sources.list.d"
INLINE_KEY = "(inline key)"

_ONE_LINE = re.compile(r"^(?P<type>deb(?:-src)?)\s+(?:\[(?P<options>[^\]]*)\]\s*)?(?P<uri>\S+)\s+(?P<rest>\S.*)$")
_URI = re.compile(r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)(?://(?P<authority>[^/]*))?(?P<path>.*)$")
_AMD_HOST = re.compile(r"^(?:repo\.radeon\.com|(?:[a-z0-9-]+\.)*repo\.amd\.com)$")
_AMD_PATH = re.compile(
    r"/(?:repo\.radeon\.com|(?:[a-z0-9-]+\.)?repo\.amd\.com)/|/rocm/apt(?:/|$)|/amdgpu/(?:\d|latest)|/graphics/\d"
    r"|/rocm/(?:core/)?packages"
)
_NO = ("no", "false", "without", "off", "disable", "0")


def without_credentials(uri: str) -> str:
    """The URI without user name and password: facts end up in reports and logs."""
    match = _URI.match(uri)
    if not match or "@" not in (match.group("authority") or ""):
        return uri
    return match.group("scheme") + "//" + match.group("authority").rpartition("@")[2] + match.group("path")


def host_of(uri: str) -> str:
    """Host name of a URI without credentials and port, lower case; empty for file: and the like."""
    match = _URI.match(uri)
    authority = (match.group("authority") if match else None) or ""
    return re.sub(r":\d*$", "", authority.rpartition("@")[2]).lower()


def is_amd(uri: str) -> bool:
    """Whether a repository URI is AMD's or, by its path, a mirror of AMD's."""
    match = _URI.match(uri)
    if not match:
        return False
    return bool(_AMD_HOST.match(host_of(uri)) or _AMD_PATH.search(match.group("path").rstrip("/") + "/"))


def _entry(types: list[str], uri: str, suite: str, **rest: object) -> dict[str, object]:
    entry: dict[str, object] = {
        "line": 0,
        "form": "list",
        "types": types,
        "uri": without_credentials(uri),
        "suite": suite,
        "components": [],
        "architectures": [],
        "signed_by": None,
        "enabled": True,
    }
    entry.update(rest)
    return entry


def parse_list(text: str) -> list[dict[str, object]]:
    """Entries of a one-line style file; a commented entry counts as a disabled one, other comments do not."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        commented = line.startswith("#")
        match = _ONE_LINE.match(line.lstrip("# \t") if commented else line)
        if not match or not _URI.match(match.group("uri")):
            continue
        options = {}
        for word in (match.group("options") or "").split():
            name, _, value = word.partition("=")
            options[name.rstrip("+-").lower()] = value
        # A comment may follow the components.
        words = match.group("rest").partition("#")[0].split()
        if not words:
            continue
        entries.append(
            _entry(
                [match.group("type")],
                match.group("uri"),
                words[0],
                line=number,
                components=words[1:],
                architectures=[word for word in options.get("arch", "").split(",") if word],
                signed_by=options.get("signed-by") or None,
                enabled=not commented,
            )
        )
    return entries


def parse_stanzas(text: str) -> list[tuple[int, dict[str, str]]]:
    """(line of the first field, fields) per deb822 stanza; names lower case, continuation lines joined."""
    stanzas: list[tuple[int, dict[str, str]]] = []
    fields: dict[str, str] = {}
    start, last = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                stanzas.append((start, fields))
            fields, last = {}, ""
            continue
        if line[0] in " \t":
            if last:
                fields[last] += "\n" + line.strip()
            continue
        name, separator, value = line.partition(":")
        if not separator:
            last = ""
            continue
        if not fields:
            start = number
        last = name.strip().lower()
        fields[last] = value.strip()
    if fields:
        stanzas.append((start, fields))
    return stanzas


def parse_deb822(text: str) -> list[dict[str, object]]:
    """Entries of a .sources file: one for each pair of URI and suite of a stanza."""
    entries = []
    for number, fields in parse_stanzas(text):
        signed_by = fields.get("signed-by", "")
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                entries.append(
                    _entry(
                        fields.get("types", "").split(),
                        uri,
                        suite,
                        line=number,
                        form="deb822",
                        components=fields.get("components", "").split(),
                        architectures=fields.get("architectures", "").replace(",", " ").split(),
                        signed_by=(INLINE_KEY if "BEGIN PGP" in signed_by else " ".join(signed_by.split())) or None,
                        enabled=fields.get("enabled", "yes").lower() not in _NO,
                    )
                )
    return entries


def source_files(host: Host) -> list[tuple[str, bool]]:
    """(path, whether apt reads it) of source files.

    A file without an extension is silently ignored by apt and often a mistake, so it is looked at too;
    backups (.save, .bak, .disabled) are not.
    """
    files = [(SOURCES_LIST, True)] if host.exists(SOURCES_LIST) else []
    for name in host.names(SOURCES_DIR):
        known = name.endswith((".list", ".sources"))
        if known or "." not in name:
            readable = known and re.match(r"^[A-Za-z0-9_.-]+$", name) is not None
            files.append((SOURCES_DIR + "/" + name, readable))
    return files


def gather(host: Host) -> list[dict[str, object]]:
    """AMD's entries of all source files; `indexed` is filled in by the reader of apt's lists."""
    found: list[dict[str, object]] = []
    for path, readable in source_files(host):
        text = host.read(path) or ""
        entries = parse_deb822(text) if path.endswith(".sources") else parse_list(text)
        for entry in entries:
            entry["enabled"] = bool(entry["enabled"]) and readable
        others = any(entry["enabled"] and not is_amd(str(entry["uri"])) for entry in entries)
        for entry in entries:
            if is_amd(str(entry["uri"])):
                found.append(dict({"file": path}, other_entries=others, **entry))
    return found
