"""GPU nodes from copies of KFD's topology files, as people attach them to reports.

sysfs.py reads the same files on the host itself.
"""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import rocminfo, sysfs
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import bare_lines

# A path announces the node ("### nodes/2/properties", "==> /sys/.../nodes/2/properties <==") or, from grep,
# stands in front of each value ("nodes/2/properties:simd_count 152", "./2/properties:9:simd_count 152").
_FILE = r"properties|gpu_id|name|mem_banks|caches|io_links|p2p_links|perf"
_PATH = re.compile(r"(?:\bnodes/|^\W*)(?P<node>\d{1,6})/(?P<file>(?:%s)\b[\w/]*)?(?::(?:\d+:)?(?P<value>.*))?" % _FILE)
_HEADING = re.compile(r"^\W*node\W{0,3}(?P<node>\d{1,6})\W*$", re.IGNORECASE)
_PROPERTY = re.compile(r"^\W*(\w+)[\s:=]+(\d{1,20})\W*$")


def parse(text: str) -> list[dict[str, object]]:
    """GPU nodes in the order of the text: the fields of sysfs.kfd_node and `bdf`, as rocminfo's reader gives it.

    Without any path in the text nodes are counted from 0, and a property that comes again begins the next one.
    What a dump that has been cut down lacks is None. A node that the text shows again is one node.
    """
    nodes = (_node(number, fields) for number, fields in _merged(_copies(bare_lines(text))))
    return [node for node in nodes if node is not None]


def _copies(lines: list[str]) -> list[tuple[int, dict[str, int], bool]]:
    """The properties of every node as they stand together, with its number and whether the text names that."""
    found: list[tuple[int, dict[str, int], bool]] = []
    other = False  # below the heading of a file that holds no properties of the node itself
    for line in lines:
        path = _PATH.search(line) or _HEADING.match(line)
        value = path.groupdict().get("value") if path else None
        if path:
            number = int(path.group("node"))
            foreign = path.groupdict().get("file") not in (None, "properties")
            if not value:
                other = foreign
                found.append((number, {}, True))
                continue
            if foreign:
                continue
            if not found or found[-1][0] != number:
                found.append((number, {}, True))
            line = value
        elif other:
            continue
        match = _PROPERTY.match(line)
        if not match:
            continue
        name = match.group(1)
        if not found:
            found.append((0, {}, False))
        elif name in found[-1][1]:
            found.append((found[-1][0], {}, True) if path else (found[-1][0] + 1, {}, False))
        found[-1][1][name] = int(match.group(2))
    return found


def _merged(copies: list[tuple[int, dict[str, int], bool]]) -> list[tuple[int, dict[str, int]]]:
    """One entry for each node: copies belong together that bear the same number and nowhere disagree.

    Nodes that were only counted are the same if all is the same, the device node of their own included.
    """
    nodes: list[tuple[int, dict[str, int]]] = []
    last: dict[int, dict[str, int]] = {}
    counted = set()
    for number, fields, named in copies:
        same = frozenset(fields.items())
        if not named and fields.get("drm_render_minor") and same in counted:
            continue
        counted.add(same)
        known = last.get(number) if named else None
        if known is not None and all(known.get(name, value) == value for name, value in fields.items()):
            known.update(fields)
        else:
            last[number] = dict(fields)
            nodes.append((number, last[number]))
    return nodes


def _node(number: int, fields: dict[str, int]) -> dict[str, object] | None:
    """The entry of one node; None for a processor."""
    target = fields.get("gfx_target_version", 0)
    # `grep gfx_target_version` leaves the sign of a GPU out; processors have no target.
    node = sysfs.kfd_node(number, dict({"simd_count": 1} if target else {}, **fields))
    if node is None:
        return None
    known = {
        "device": ("device_id",),
        "simd_count": ("simd_count",),
        "compute_units": ("simd_count", "simd_per_cu"),
        "location_id": ("location_id",),
        "domain": ("domain",),
    }
    node.update({key: None for key, needs in known.items() if not all(need in fields for need in needs)})
    location = fields.get("location_id")
    return dict(node, bdf=None if location is None else rocminfo.address(location))
