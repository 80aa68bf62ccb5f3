"""Python interpreters of the distribution."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

BIN = "/usr/bin"
_NAME = re.compile(r"^python(3\.\d+)$")


def gather(host: Host) -> list[dict[str, object]]:
    """{path, version, default, venv} of /usr/bin/python3.N, newest first; default is the one behind python3.

    `venv` tells whether a virtual environment with pip can be made: Debian splits ensurepip off.
    """
    names = {name: match.group(1) for name in host.names(BIN) for match in [_NAME.match(name)] if match}
    target = host.resolve(BIN + "/python3") if host.exists(BIN + "/python3") else ""
    found: list[dict[str, object]] = []
    for name, version in sorted(names.items(), key=lambda item: int(item[1][2:]), reverse=True):
        path = BIN + "/" + name
        if not host.exists(path):
            continue
        found.append(
            {
                "path": path,
                "version": version,
                "default": host.resolve(path) == target,
                "venv": host.exists("/usr/lib/python%s/ensurepip/__init__.py" % version),
            }
        )
    return found
