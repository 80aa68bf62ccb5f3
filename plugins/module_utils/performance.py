"""Settings of kernel, processor and GPUs that decide how fast a host is, from /proc and /sys alone.

What does not exist or cannot be read is None: it is unknown, and nothing is concluded from it.
"""

from __future__ import annotations

import json
import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import sysfs, tuning_files, virtualization
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

SCHEMA = 1
NUMA_BALANCING = "/proc/sys/kernel/numa_balancing"
COMPACTION = ("/proc/sys/vm/compaction_proactiveness", "/proc/sys/vm/compact_unevictable_allowed")
HUGEPAGES = "/sys/kernel/mm/transparent_hugepage/enabled"
POLICIES = "/sys/devices/system/cpu/cpufreq"
_VENDOR = re.compile(r"^vendor_id\s*:\s*(\S+)", re.M)
_NODE = re.compile(r"^node\d+$")
_POLICY = re.compile(r"^policy\d{1,6}$")
_ADDRESS = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
_PASSTHROUGH = re.compile(r"^\s*linux\b.*\s(?:iommu=pt|iommu\.passthrough=1)(?=\s|$)", re.M)
_CHOSEN = re.compile(r"\[(\w+)\]")
_CLOCK = re.compile(r"^\s*\w+:\s*(\d{1,6})\s*mhz\s*(\*?)", re.M | re.I)


def gather(host: Host) -> dict[str, object]:
    """All readings of one host; the RETURN block of the module describes them."""
    return {
        "schema": SCHEMA,
        "virtualization": virtualization.gather(host),
        "cpu_vendor": _first(_VENDOR.search(host.read("/proc/cpuinfo", 4096) or "")),
        "cmdline": host.value("/proc/cmdline"),
        "numa_nodes": len([name for name in host.names("/sys/devices/system/node") if _NODE.match(name)]),
        "values": {path: host.value(path) for path in (NUMA_BALANCING, *COMPACTION)},
        "hugepages": _first(_CHOSEN.search(host.value(HUGEPAGES) or "")),
        "iommu_units": len(host.names("/sys/class/iommu")) if host.is_dir("/sys/class/iommu") else None,
        "governors": governors(host),
        "gpus": [gpu(host, row) for row in sysfs.gpus(host) if row["vendor"] == "1002"],
        "grub": grub(host),
        "enabled": [name for name in tuning_files.UNITS if host.link(tuning_files.WANTS + "/" + name) is not None],
        "files": {path: host.read(path) for path in sorted(tuning_files.FILES.values())},
        "record": record(host.read(tuning_files.RECORD) or ""),
    }


def grub(host: Host) -> dict[str, bool | None]:
    """Whether Debian's way to set up GRUB is there, and whether the menu as it is passes addresses through."""
    text = host.read(tuning_files.GRUB_CONFIG, 4 * 1024 * 1024)
    return {
        "available": host.exists(tuning_files.GRUB_COMMAND) and text is not None,
        "passthrough": None if text is None else _PASSTHROUGH.search(text) is not None,
    }


def governors(host: Host) -> list[dict[str, object]]:
    """Each governor with the files of the policies that have it; `available` is what all of them offer."""
    found: dict[str, list[str]] = {}
    offered: dict[str, set[str]] = {}
    for name in host.names(POLICIES):
        path = POLICIES + "/" + name + "/scaling_governor"
        value = host.value(path) if _POLICY.match(name) else None
        if value is None:
            continue
        choice = set((host.value(POLICIES + "/" + name + "/scaling_available_governors") or "").split())
        found.setdefault(value, []).append(path)
        offered[value] = offered.get(value, choice) & choice
    return [
        {"governor": value, "available": sorted(offered[value]), "paths": paths}
        for value, paths in sorted(found.items())
    ]


def gpu(host: Host, row: dict[str, object]) -> dict[str, object]:
    """One function as rocm_facts has it, with what decides its speed."""
    base = sysfs.PCI + "/" + str(row["address"])
    return dict(
        row,
        iommu=host.value(base + "/iommu_group/type"),
        link=link(host, base),
        power=power(host, base),
        level=host.value(base + "/power_dpm_force_performance_level"),
        sclk=clocks(host.value(base + "/pp_dpm_sclk") or ""),
        compute_partition=host.value(base + "/current_compute_partition"),
        memory_partition=host.value(base + "/current_memory_partition"),
    )


def link(host: Host, base: str) -> dict[str, object]:
    """The link between card and slot. Bridges of the same vendor above the GPU are on the card itself."""
    end = host.resolve(base)
    while _is_bridge(host, _above(end)) and sysfs.hex_field(host.value(_above(end) + "/vendor"), 4) == "1002":
        end = _above(end)
    port = _above(end) if _is_bridge(host, _above(end)) else None
    return {
        "device": end.rpartition("/")[2],
        "port": port.rpartition("/")[2] if port else None,
        "speed": speed(host.value(end + "/current_link_speed")),
        "width": width(host.value(end + "/current_link_width")),
        "max_speed": speed(host.value(end + "/max_link_speed")),
        "max_width": width(host.value(end + "/max_link_width")),
        "port_max_speed": speed(host.value(port + "/max_link_speed")) if port else None,
        "port_max_width": width(host.value(port + "/max_link_width")) if port else None,
    }


def _above(path: str) -> str:
    """The device that this one hangs on; sysfs nests them."""
    return path.rpartition("/")[0]


def _is_bridge(host: Host, path: str) -> bool:
    name = path.rpartition("/")[2]
    return _ADDRESS.match(name) is not None and sysfs.hex_field(host.value(path + "/class"), 4) == "0604"


def speed(text: str | None) -> float | None:
    """GT/s of '16.0 GT/s PCIe' or '2.5 GT/s'; None for 'Unknown'."""
    match = re.match(r"^(\d{1,3}(?:\.\d)?) GT/s", text or "")
    return float(match.group(1)) if match else None


def width(text: str | None) -> int | None:
    """Number of lanes; the kernel writes 0 or 255 for a link that does not exist."""
    lanes = int(text) if text and re.match(r"^\d{1,3}$", text) else 0
    return lanes if lanes in (1, 2, 4, 8, 12, 16, 32) else None


def power(host: Host, base: str) -> dict[str, int | None]:
    """The power cap and the driver's own default in microwatts."""
    for name in host.names(base + "/hwmon"):
        values = {
            key: _number(host.value("%s/hwmon/%s/%s" % (base, name, file)))
            for key, file in (("cap", "power1_cap"), ("default", "power1_cap_default"), ("max", "power1_cap_max"))
        }
        if values["cap"] is not None:
            return values
    return {"cap": None, "default": None, "max": None}


def clocks(text: str) -> dict[str, int | None]:
    """Clock of now and the highest one in MHz, from lines like '1: 2100Mhz *'."""
    levels = [(int(number), star) for number, star in _CLOCK.findall(text)]
    return {
        "now": next((number for number, star in levels if star), None),
        "max": max((number for number, _ in levels), default=None),
    }


def record(text: str) -> dict[str, dict[str, str]]:
    """{setting: {file: value before}}; empty where the record is missing or damaged."""
    try:
        found = json.loads(text).items()
        return {str(name): {str(path): str(value) for path, value in was.items()} for name, was in found}
    except (ValueError, AttributeError):
        return {}


def _number(text: str | None) -> int | None:
    return int(text) if text and re.match(r"^\d{1,12}$", text) else None


def _first(match: re.Match[str] | None) -> str | None:
    return match.group(1) if match else None
