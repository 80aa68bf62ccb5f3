"""Whether the wheels of an environment belong together, from what pip or conda list about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import Found

# "torch==2.3.0+rocm6.0" or "torch @ https://.../torch-2.3.0%2Brocm6.0-cp312-..." of pip freeze, the two columns of pip
# list, with the marks that collect_env and uv set in front.
_WHEEL = re.compile(
    r"^\s*(?:\[(?:pip3?|conda)\]\s+|\+ )?(?P<name>[A-Za-z][\w.-]*)(?:==|\s+)(?P<version>\d[\w.+!-]*)(?:\s|$)"
)
_WHEEL_FILE = re.compile(r"^(?P<name>[A-Za-z][\w.-]*) @ \S+/[\w.]+-(?P<version>\d[\w.+!%]*)-\S+\.whl\b")
_INSTALLED = "Successfully installed "
_INSTALLED_WHEEL = re.compile(r"(?P<name>[A-Za-z]\S*)-(?P<version>\d[\w.+!]*)(?:\s|$)")
_FAMILY = ("torch", "torchvision", "torchaudio")
# Not every package of NVIDIA holds libraries: nvidia-ml-py asks the driver.
_CUDA_LIBRARY = re.compile(r"^nvidia-(?:cu|nccl|nv|npp)")
_CUDA_PART = re.compile(rf"{_CUDA_LIBRARY.pattern}|^(?:onnxruntime-gpu|cupy-cuda.+|cuda-(?:python|toolkit|bindings))$")
_NUMBERS = re.compile(r"^(\d+)\.(\d+)")
_ROCM = re.compile(r"^rocm(\d+(?:\.\d+)*)")

IDS = frozenset(
    {"torch-cpu-wheel", "torch-cuda-wheel", "torch-rocm-mismatch", "torch-set-mismatch", "venv-mixed-wheels"}
)


@dataclass(frozen=True)
class Wheel:
    """One installed distribution: ``local`` is what follows the plus sign, ``line`` the number of its line."""

    name: str
    version: str
    local: str
    line: int

    @property
    def minor(self) -> tuple[int, int]:
        """The first two numbers of the version."""
        match = _NUMBERS.match(self.version)
        return (int(match[1]), int(match[2])) if match else (0, 0)

    @property
    def rocm(self) -> str | None:
        """The ROCm that the wheel was built for: '6.0', '7.12.0'."""
        match = _ROCM.match(self.local)
        return match[1] if match else None


def read(lines: Sequence[str]) -> list[Found]:
    """What does not fit; nothing where torch is not listed."""
    wheels = list(_wheels(lines))
    family = {wheel.name: wheel for wheel in wheels if wheel.name in _FAMILY}
    torch = family.get("torch")
    if not torch:
        return []
    if torch.local.startswith("cpu"):
        return [("torch-cpu-wheel", torch.line)]
    parts = [wheel for wheel in wheels if _CUDA_PART.match(wheel.name)]
    if torch.local.startswith("cu") or (not torch.local and any(_CUDA_LIBRARY.match(part.name) for part in parts)):
        return [("torch-cuda-wheel", torch.line)]
    found: list[Found] = []
    if torch.rocm:
        parts += [wheel for wheel in family.values() if wheel.local.startswith(("cu", "cpu"))]
        found += [("venv-mixed-wheels", part.line) for part in parts]
    for wheel in family.values():
        if not _same_set(torch, wheel):
            found.append(("torch-set-mismatch", wheel.line))
        elif torch.rocm and wheel.rocm and torch.rocm != wheel.rocm:
            found.append(("torch-rocm-mismatch", wheel.line))
    return found


def _wheels(lines: Sequence[str]) -> Iterator[Wheel]:
    for number, line in enumerate(lines):
        installed = line.strip().startswith(_INSTALLED)
        wheels = _INSTALLED_WHEEL.finditer(line.partition(_INSTALLED)[2]) if installed else ()
        for match in filter(None, [_WHEEL.match(line), _WHEEL_FILE.match(line), *wheels]):
            version, _, local = unquote(match["version"]).partition("+")
            yield Wheel(match["name"].lower().replace("_", "-"), version, local.lower(), number)


def _same_set(torch: Wheel, other: Wheel) -> bool:
    """Whether two distributions were released together, by the matrix or by the rule behind its rows.

    torchaudio counts with torch since 2.0 and stays where the newest row has it; torchvision is 15 minor releases
    ahead of torch 2.0.
    """
    if other.name == "torch":
        return True
    rows = {Wheel("torch", row["torch"], "", 0).minor: row for row in table("pytorch")["wheels"]}
    row = rows.get(torch.minor) or (rows[max(rows)] if other.name == "torchaudio" and torch.minor > max(rows) else None)
    if row:
        return other.minor == Wheel(other.name, row[other.name], "", 0).minor
    if torch.minor < (2, 0):
        return True
    expected = torch.minor if other.name == "torchaudio" else (0, torch.minor[1] + 15)
    return other.minor == expected
