"""GPUs as the stand-in sees them; see the package's text."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import version

_ROWS = Path("/run/gpufleet-sandbox/gpus.json")
_KFD = Path("/dev/kfd")
_chosen = 0


class _Properties:
    """What get_device_properties returns."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.name = row["name"]
        self.gcnArchName = row["arch"]
        self.total_memory = int(row.get("memory", 68702699520))
        self.multi_processor_count = int(row.get("compute_units", 104))
        self.major = 9
        self.minor = 0

    def __repr__(self) -> str:
        memory = self.total_memory // 2**20
        return f"_CudaDeviceProperties(name='{self.name}', gcnArchName='{self.gcnArchName}', total_memory={memory}MB)"


def _gpus() -> list[dict[str, Any]]:
    """The rows of the stand-in file; none where the build is not for HIP or /dev/kfd cannot be opened."""
    if version.hip is None:
        return []
    try:
        with _KFD.open("r+b", buffering=0):
            rows: list[dict[str, Any]] = json.loads(_ROWS.read_text())
    except OSError:
        return []
    visible = os.environ.get("HIP_VISIBLE_DEVICES", os.environ.get("CUDA_VISIBLE_DEVICES"))
    if visible is None:
        return rows
    numbers = [int(part) for part in visible.split(",") if part.strip().isdigit()]
    return [rows[number] for number in numbers if number < len(rows)]


def _require(index: int) -> dict[str, Any]:
    if version.hip is None:
        raise AssertionError("Torch not compiled with CUDA enabled")
    rows = _gpus()
    if not rows:
        raise RuntimeError("No HIP GPUs are available")
    if index >= len(rows):
        raise RuntimeError("HIP error: invalid device ordinal")
    return rows[index]


def _index(device: object) -> int:
    if device is None:
        return _chosen
    return device if isinstance(device, int) else int(str(device).rpartition(":")[2])


def is_available() -> bool:
    return bool(_gpus())


def device_count() -> int:
    return len(_gpus())


def get_device_name(device: object = None) -> str:
    return str(_require(_index(device))["name"])


def get_device_properties(device: object = None) -> _Properties:
    return _Properties(_require(_index(device)))


def get_arch_list() -> list[str]:
    return list(version._arch_list) if is_available() else []


def mem_get_info(device: object = None) -> tuple[int, int]:
    total = get_device_properties(device).total_memory
    return total, total


def current_device() -> int:
    _require(_chosen)
    return _chosen


def set_device(device: object) -> None:
    global _chosen
    _require(_index(device))
    _chosen = _index(device)


def synchronize(device: object = None) -> None:
    _require(_index(device))


def init() -> None:
    _require(0)
