"""GPUs, compute nodes and the loaded driver as the kernel shows them in /sys and /dev."""

from __future__ import annotations

import collections
import re
import stat

from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import Accounts
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

PCI = "/sys/bus/pci/devices"
KFD_NODES = ("/sys/class/kfd/kfd/topology/nodes", "/sys/devices/virtual/kfd/kfd/topology/nodes")
MODULE = "/sys/module/amdgpu"
NO_KFD: dict[str, object] = {"present": False, "mode": None, "owner": None, "group": None, "nodes": []}
_HEX = re.compile(r"^(?:0x)?([0-9a-fA-F]+)$")
_RENDER = re.compile(r"^renderD([0-9]{1,6})$")
_PROPERTY = re.compile(r"^(\w+) ([0-9]{1,20})$", re.M)


def hex_field(text: str | None, digits: int) -> str | None:
    """The first `digits` hexadecimal digits of a sysfs value ('0x038000' -> '0380'), lower case."""
    match = _HEX.match(text or "")
    return match.group(1).lower()[:digits] if match else None


def is_gpu_class(pci_class: str | None) -> bool:
    """Display controllers (03xx) and processing accelerators (1200): an Instinct card may show either."""
    return pci_class is not None and (pci_class.startswith("03") or pci_class == "1200")


def gpus(host: Host) -> list[dict[str, object]]:
    """Every display or accelerator function on the PCI bus, of every vendor, in address order."""
    found: list[dict[str, object]] = []
    for address in host.names(PCI):
        base = PCI + "/" + address
        pci_class = hex_field(host.value(base + "/class"), 4)
        if not is_gpu_class(pci_class):
            continue
        driver = host.link(base + "/driver")
        numa = host.value(base + "/numa_node") or ""
        found.append(
            {
                "address": address,
                "vendor": hex_field(host.value(base + "/vendor"), 4),
                "device": hex_field(host.value(base + "/device"), 4),
                "class": pci_class,
                "driver": driver.rstrip("/").rpartition("/")[2] if driver else None,
                "virtual_function": host.link(base + "/physfn") is not None,
                # The kernel writes -1 where the firmware names no node.
                "numa_node": int(numa) if re.match(r"^[0-9]{1,9}$", numa) else None,
            }
        )
    return found


def gfx_name(target_version: int) -> str | None:
    """GPU target of KFD's number: 90402 -> gfx942, 90010 -> gfx90a, 110000 -> gfx1100; None for what is no target.

    Minor and stepping are decimal in the number and one hexadecimal digit each in the name.
    """
    major, minor, stepping = target_version // 10000, target_version // 100 % 100, target_version % 100
    if not 0 < major < 100 or minor > 15 or stepping > 15:
        return None
    return "gfx%d%x%x" % (major, minor, stepping)


def kfd_properties(text: str) -> dict[str, int]:
    """Numbers of one node's properties file; lines of another form are left out."""
    return {name: int(number) for name, number in _PROPERTY.findall(text)}


def kfd_node(number: int, fields: dict[str, int]) -> dict[str, object] | None:
    """One GPU node, or None for a CPU node.

    `gfx` is None on old kernels that publish no target: `device` identifies the chip then.
    """
    simds = fields.get("simd_count", 0)
    if simds == 0:
        return None
    return {
        "node": number,
        "gfx": gfx_name(fields.get("gfx_target_version", 0)),
        "device": "%04x" % fields.get("device_id", 0),
        "simd_count": simds,
        "compute_units": simds // (fields.get("simd_per_cu") or 4),
        "location_id": fields.get("location_id", 0),
        "domain": fields.get("domain", 0),
        "render_minor": fields.get("drm_render_minor") or None,
    }


def kfd_nodes(host: Host) -> list[dict[str, object]]:
    """One row per card: its first node, and as how many devices the card is partitioned."""
    for base in KFD_NODES:
        names = sorted((name for name in host.names(base) if name.isdecimal()), key=int)
        if names:
            nodes = (
                kfd_node(int(name), kfd_properties(host.read("%s/%s/properties" % (base, name)) or ""))
                for name in names
            )
            return cards([node for node in nodes if node is not None])
    return []


def cards(nodes: list[dict[str, object]]) -> list[dict[str, object]]:
    """The first node of each card, with the number of its `partitions`."""
    found: dict[tuple[object, ...], dict[str, object]] = {}
    counts: collections.Counter[tuple[object, ...]] = collections.Counter()
    for node in nodes:
        card = _card(node)
        found.setdefault(card, node)
        counts[card] += 1
    return [dict(node, partitions=counts[card]) for card, node in found.items()]


def _card(node: dict[str, object]) -> tuple[object, ...]:
    """What the partitions of a card have in common: PCI domain, bus and device.

    The number of the partition is the PCI function in location_id, on newer kernels its uppermost four bits. Cards
    that can be partitioned need a kernel that publishes their target.
    """
    location = node["location_id"]
    if node["gfx"] is None or not isinstance(location, int):
        return (node["node"],)
    return node["domain"], location & 0xFFF8


def kfd(host: Host, accounts: Accounts) -> dict[str, object]:
    node = device(host, accounts, "/dev/kfd")
    return {
        "present": node["mode"] is not None,
        "mode": node["mode"],
        "owner": node["owner"],
        "group": node["group"],
        "nodes": kfd_nodes(host),
    }


def device(host: Host, accounts: Accounts, path: str) -> dict[str, object]:
    """Mode ('0660'), owner and group of a device node; all None when there is none."""
    status = host.stat(path)
    if status is None:
        return {"mode": None, "owner": None, "group": None}
    return {
        "mode": "%04o" % stat.S_IMODE(status.st_mode),
        "owner": accounts.user_name(status.st_uid),
        "group": accounts.group_name(status.st_gid),
    }


def render_nodes(host: Host, accounts: Accounts) -> list[dict[str, object]]:
    """The device nodes /dev/dri/renderD*, those with the same rights together: a server may have 64 of one kind."""
    names = (_RENDER.match(name) for name in host.names("/dev/dri"))
    found: dict[tuple[object, ...], list[int]] = {}
    for minor in sorted(int(match.group(1)) for match in names if match):
        node = device(host, accounts, "/dev/dri/renderD%d" % minor)
        found.setdefault((node["mode"], node["owner"], node["group"]), []).append(minor)
    return [
        {"minors": minors, "mode": mode, "owner": owner, "group": group}
        for (mode, owner, group), minors in found.items()
    ]


def loaded_module(host: Host) -> dict[str, object]:
    """Whether amdgpu is live in the kernel, with the version that only AMD's own build carries.

    A driver that is built into the kernel has a directory without `initstate`.
    """
    loaded = host.is_dir(MODULE) and host.value(MODULE + "/initstate") in (None, "live")
    return {
        "loaded": loaded,
        "version": host.value(MODULE + "/version") if loaded else None,
        "srcversion": host.value(MODULE + "/srcversion") if loaded else None,
    }
