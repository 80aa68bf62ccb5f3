"""GPU nodes from copies of KFD's topology files, as people attach them to reports.

sysfs.py reads the same files on the host itself.
"""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import rocminfo, sysfs
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines

# A path announces the node ("### nodes/2/properties", "==> /sys/.../nodes/2/properties <==") or, from grep,
# stands in front of each value ("nodes/2/properties:simd_count 152").
_NODE = re.compile(r"\bnodes/(?P<node>\d{1,6})(?:/(?P<file>[\w/]+))?(?P<value>:.*)?")
_PROPERTY = re.compile(r"^(\w+) (\d{1,20})$")


def parse(text: str) -> list[dict[str, object]]:
    """GPU nodes in the order of the text: the fields of sysfs.kfd_node and `bdf`, as rocminfo's reader gives it.

    Without any path in the text nodes are counted from 0, and a property that comes again begins the next one.
    """
    found: list[tuple[int, dict[str, int]]] = []
    for line in plain_lines(text):
        path = _NODE.search(line)
        if path:
            number = int(path.group("node"))
            if not found or found[-1][0] != number:
                found.append((number, {}))
            if path.group("file") not in (None, "properties") or not path.group("value"):
                continue
            line = path.group("value")[1:]
        match = _PROPERTY.match(line.strip())
        if not match:
            continue
        name, value = match.group(1), int(match.group(2))
        if not found or name in found[-1][1]:
            found.append((found[-1][0] + 1 if found else 0, {}))
        found[-1][1][name] = value
    nodes = (sysfs.kfd_node(number, fields) for number, fields in found)
    return [dict(node, bdf=rocminfo.address(_location(node))) for node in nodes if node is not None]


def _location(node: dict[str, object]) -> int:
    location = node["location_id"]
    return location if isinstance(location, int) else 0
