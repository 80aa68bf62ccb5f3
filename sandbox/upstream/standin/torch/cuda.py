"""GPUs as the stand-in sees them; see the package's text."""

import json
import os

from . import version

_FILE = "/run/gpufleet-sandbox/gpus.json"
_KFD = "/dev/kfd"
_chosen = 0


class _Properties:
    """What get_device_properties returns."""

    def __init__(self, row):
        self.name = row["name"]
        self.gcnArchName = row["arch"]
        self.total_memory = int(row.get("memory", 68702699520))
        self.multi_processor_count = int(row.get("compute_units", 104))
        self.major = 9
        self.minor = 0

    def __repr__(self):
        return "_CudaDeviceProperties(name='{}', gcnArchName='{}', total_memory={}MB)".format(
            self.name, self.gcnArchName, self.total_memory // 2**20
        )


def _gpus():
    """The rows of the stand-in file; none where the build is not for HIP or /dev/kfd cannot be opened."""
    if version.hip is None or not os.path.exists(_KFD) or not os.access(_KFD, os.R_OK | os.W_OK):
        return []
    try:
        with open(_KFD, "r+b", buffering=0), open(_FILE, encoding="utf-8") as handle:
            rows = json.load(handle)
    except OSError:
        return []
    visible = os.environ.get("HIP_VISIBLE_DEVICES", os.environ.get("CUDA_VISIBLE_DEVICES"))
    if visible is None:
        return rows
    numbers = [int(part) for part in visible.split(",") if part.strip().isdigit()]
    return [rows[number] for number in numbers if number < len(rows)]


def _require(index):
    rows = _gpus()
    if version.hip is None:
        raise AssertionError("Torch not compiled with CUDA enabled")
    if not rows:
        raise RuntimeError("No HIP GPUs are available")
    if index >= len(rows):
        raise RuntimeError("HIP error: invalid device ordinal")
    return rows[index]


def is_available():
    return bool(_gpus())


def device_count():
    return len(_gpus())


def _index(device):
    if device is None:
        return _chosen
    return int(str(device).rpartition(":")[2] or 0) if not isinstance(device, int) else device


def get_device_name(device=None):
    return _require(_index(device))["name"]


def get_device_properties(device=None):
    return _Properties(_require(_index(device)))


def get_arch_list():
    return list(version._arch_list) if is_available() else []


def mem_get_info(device=None):
    total = get_device_properties(device).total_memory
    return total, total


def current_device():
    _require(_chosen)
    return _chosen


def set_device(device):
    global _chosen
    _require(_index(device))
    _chosen = _index(device)


def synchronize(device=None):
    _require(_index(device))


def init():
    _require(0)
