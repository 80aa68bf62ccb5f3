"""ROCm trees under /opt and ROCm libraries in the loader's cache."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

OPT = "/opt"
LINK = "/opt/rocm"
CORE = "/opt/rocm/core"
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


def parse_ldconfig(text: str) -> dict[str, str]:
    """name -> path of the HIP and HSA libraries in `ldconfig -p`; the first one is what the loader takes."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LIBRARY.match(line)
        if match:
            found.setdefault(match.group(1), match.group(2))
    return found


def gather(host: Host) -> dict[str, object]:
    return {"link": active(host), "installs": installs(host)}


def gather_ldconfig(host: Host) -> dict[str, str]:
    answer = host.run(["ldconfig", "-p"], timeout=10)
    return parse_ldconfig(answer[1]) if answer else {}
