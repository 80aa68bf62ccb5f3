"""Made PCI trees: one folder for each function, with the small files that the kernel would show."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.errors import SandboxError

PROFILES = Path(__file__).resolve().parent / "profiles.yml"


@dataclass(frozen=True)
class Function:
    """One PCI function; ids are hex digits without a prefix, `numa_node` is -1 when there is none."""

    address: str
    vendor: str
    device: str
    pci_class: str
    numa_node: int = -1

    def config(self) -> bytes:
        """The 64-byte header of configuration space, which lspci reads for the ids and the class."""
        header = bytearray(64)
        header[0:2] = int(self.vendor, 16).to_bytes(2, "little")
        header[2:4] = int(self.device, 16).to_bytes(2, "little")
        header[9:12] = int(self.pci_class, 16).to_bytes(3, "little")
        return bytes(header)

    def files(self) -> dict[str, bytes]:
        """File names and contents as the kernel writes them."""
        text = {
            "vendor": f"0x{self.vendor}\n",
            "device": f"0x{self.device}\n",
            "class": f"0x{self.pci_class}\n",
            "numa_node": f"{self.numa_node}\n",
            "irq": "0\n",
            "resource": "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 13,
        }
        return {"config": self.config(), **{name: value.encode() for name, value in text.items()}}


def functions(profile: str) -> list[Function]:
    """The functions of a profile: the ordinary ones and its GPUs. Raises SandboxError for an unknown name."""
    data: dict[str, Any] = yaml.safe_load(PROFILES.read_text())
    if profile not in data["profiles"]:
        raise SandboxError(f"unknown profile {profile!r}; expected one of {', '.join(sorted(data['profiles']))}")
    rows = [*data["ordinary"], *data["profiles"][profile]]
    return [Function(row["address"], row["vendor"], row["device"], row["class"], int(row["numa_node"])) for row in rows]


def write_tree(target: Path, profile: str) -> None:
    """Replace the content of `target` by the tree of a profile (the folder itself stays: it may be bound)."""
    target.mkdir(parents=True, exist_ok=True)
    for old in target.iterdir():
        shutil.rmtree(old)
    for function in functions(profile):
        folder = target / function.address
        folder.mkdir()
        for name, content in function.files().items():
            (folder / name).write_bytes(content)
