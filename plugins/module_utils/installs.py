"""ROCm trees under /opt, the alternatives that choose among them, and ROCm libraries in the loader's cache."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

OPT = "/opt"
LINK = "/opt/rocm"
CORE = "/opt/rocm/core"
ALTERNATIVES = "/var/lib/dpkg/alternatives"
_LIBRARY = re.compile(r"^\s*(lib(?:amdhip64|hsa-runtime64|hiprtc|amd_comgr)\.so[.\d]*) \(.*\) => (/\S.*)$")


def active(host: Host) -> str | None:
    """The tree that /opt/rocm stands for.

    Up to 7.2 /opt/rocm is a link; later it is a directory in which `core` is the link. A dangling link is
    reported too: its target is then missing from the installs.
    """
    for path in (LINK, CORE):
        if host.link(path) is not None:
            return host.resolve(path)
    return None


def installs(host: Host) -> list[dict[str, object]]:
    """{path, version} of every tree; version None when the tree holds no .info/version (leftovers)."""
    paths = [OPT + "/" + name for name in host.names(OPT) if re.match(r"^rocm-\d", name)]
    if host.link(LINK) is None:
        cores = [name for name in host.names(LINK) if re.match(r"^core-\d", name)]
        paths.extend(LINK + "/" + name for name in cores)
        if host.exists(LINK + "/.info/version"):
            paths.append(LINK)
    return [
        {"path": path, "version": host.value(path + "/.info/version")}
        for path in paths
        if host.link(path) is None and host.is_dir(path)
    ]


def parse_alternatives(name: str, text: str) -> dict[str, object] | None:
    """{name, link, automatic, candidates} of one file of update-alternatives; None for one of another form.

    The file has the mode, the link, two lines for each slave and a blank line; then for each candidate its path, its
    priority and a line for each slave.
    """
    lines = text.splitlines()
    end = lines.index("") if "" in lines else 0
    if end < 2 or lines[0] not in ("auto", "manual"):
        return None
    rest, size = lines[end + 1 :], 2 + (end - 2) // 2
    pairs = [rest[start : start + 2] for start in range(0, len(rest), size)]
    return {
        "name": name,
        "link": lines[1],
        "automatic": lines[0] == "auto",
        "candidates": [
            {"path": pair[0], "priority": int(pair[1])}
            for pair in pairs
            if len(pair) == 2 and re.match(r"^-?[0-9]{1,9}$", pair[1])
        ],
    }


def alternatives(host: Host) -> list[dict[str, object]]:
    """The alternatives behind /opt/rocm, and behind /opt/rocm/core in the newer layout."""
    rows = (parse_alternatives(name, host.read(ALTERNATIVES + "/" + name) or "") for name in host.names(ALTERNATIVES))
    return [row for row in rows if row and row["link"] in (LINK, CORE)]


def parse_ldconfig(text: str) -> dict[str, str]:
    """name -> path of the HIP and HSA libraries in `ldconfig -p`; the first one is what the loader takes."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LIBRARY.match(line)
        if match:
            found.setdefault(match.group(1), match.group(2))
    return found


def gather(host: Host) -> dict[str, object]:
    return {"link": active(host), "installs": installs(host), "alternatives": alternatives(host)}


def gather_ldconfig(host: Host) -> dict[str, str]:
    answer = host.run(["ldconfig", "-p"], timeout=10)
    return parse_ldconfig(answer[1]) if answer else {}
