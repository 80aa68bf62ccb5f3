"""Readings of hosts as the module rocm_performance returns them, and what a run of the role makes of them."""

from __future__ import annotations

import copy
import json
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import COMPACTION, HUGEPAGES, NUMA_BALANCING
from ansible_collections.gpufleet.rocm.plugins.module_utils.tuning_files import FILES
from tests.unit.facts_builder import gpu

POLICY = "/sys/devices/system/cpu/cpufreq/policy{}/scaling_governor"
MI300X, MI300A, MI250, MI100, MI50, RADEON, RYZEN = "74a1", "74a0", "740c", "738c", "66a1", "744c", "1638"


def reading_of_gpu(device: str = MI300X, address: str = "0000:05:00.0", **changes: Any) -> dict[str, Any]:
    """A GPU at its best: keyword arguments replace fields, those of `link` and `power` one by one."""
    rate = 16.0 if device in (MI250, MI100, MI50, RADEON) else 32.0
    link = {"device": address, "port": "0000:04:00.0", "speed": rate, "width": 16, "max_speed": rate, "max_width": 16}
    link |= {"port_max_speed": rate, "port_max_width": 16} | changes.pop("link", {})
    power = {"cap": 750000000, "default": 750000000, "max": 750000000} | changes.pop("power", {})
    own = {"iommu": "identity", "link": link, "power": power, "level": "auto", "sclk": {"now": 132, "max": 2100}}
    modes = {"compute_partition": "SPX", "memory_partition": "NPS1"}
    return {**gpu(device, address, driver="amdgpu"), **own, **modes, **changes}


def tuned(device: str = MI300X, count: int = 2, **changes: Any) -> dict[str, Any]:
    """A bare-metal host of which AMD's guides would have nothing otherwise."""
    gpus = [reading_of_gpu(device, f"0000:{number:02x}:00.0") for number in range(5, 5 + count)]
    readings = {
        "schema": 1,
        "virtualization": {"kind": "none", "name": ""},
        "cpu_vendor": "AuthenticAMD",
        "cmdline": "ro quiet iommu=pt",
        "numa_nodes": 2,
        "values": {NUMA_BALANCING: "0", COMPACTION[0]: "20", COMPACTION[1]: "1"},
        "hugepages": "always",
        "iommu_units": 0 if device == MI300A else 8,
        "governors": [governor("performance")],
        "gpus": gpus,
        "grub": {"available": True, "passthrough": True},
        "enabled": [],
        "files": dict.fromkeys(FILES.values()),
        "record": {},
    }
    return {**readings, **changes}


def untuned(device: str = MI300X, **changes: Any) -> dict[str, Any]:
    """The same as it comes from the installer."""
    readings = tuned(device, cmdline="ro quiet", hugepages="madvise", governors=[governor("schedutil")])
    readings["values"] = {NUMA_BALANCING: "1", COMPACTION[0]: "0", COMPACTION[1]: "1"}
    readings["grub"]["passthrough"] = False
    for row in readings["gpus"]:
        row["iommu"] = "DMA-FQ"
    return {**readings, **changes}


def governor(name: str, policies: int = 2) -> dict[str, Any]:
    paths = [POLICY.format(number) for number in range(policies)]
    return {"governor": name, "available": ["performance", "powersave", "schedutil"], "paths": paths}


def carried_out(readings: dict[str, Any], changes: dict[str, Any], reboot: bool = False) -> dict[str, Any]:
    """The readings after the role did what the changes say."""
    after: dict[str, Any] = copy.deepcopy(readings)
    after["files"].update({row["path"]: row["content"] for row in changes["files"]})
    after["files"].update(dict.fromkeys(changes["remove"]))
    enabled = {*after["enabled"], *changes["enable"]} - set(changes["disable"])
    after["enabled"] = sorted(enabled)
    if changes["record"] is not None:
        after["record"] = json.loads(changes["record"]["after"] or "{}")
    for row in changes["write"]:
        _write(after, row["value"], row["paths"])
    if changes["grub"]:
        after["grub"]["passthrough"] = changes["passthrough"]
    if reboot:
        tokens = [token for token in str(after["cmdline"]).split() if token != "iommu=pt"]
        after["cmdline"] = " ".join(tokens + ["iommu=pt"] * bool(after["grub"]["passthrough"]))
    return after


def _write(after: dict[str, Any], value: str, paths: list[str]) -> None:
    for path in paths:
        if path == HUGEPAGES:
            after["hugepages"] = value
        elif path in after["values"]:
            after["values"][path] = value
        else:
            now = {one: row["governor"] for row in after["governors"] for one in row["paths"]} | {path: value}
            after["governors"] = [
                {**governor(name), "paths": sorted(one for one, has in now.items() if has == name)}
                for name in sorted(set(now.values()))
            ]
