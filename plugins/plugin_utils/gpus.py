"""AMD GPUs of a host, named from the matrix by PCI id, never by text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import gpu_by_device

AMD_VENDOR = "1002"


@dataclass(frozen=True)
class Gpu:
    """One AMD display or accelerator function. ``gfx``, ``name`` and ``family`` are None for an id the matrix lacks."""

    address: str
    device: str
    driver: str | None
    name: str | None
    gfx: str | None
    family: str | None
    integrated: bool
    supported: bool

    @property
    def instinct(self) -> bool:
        """Whether this is a data-centre GPU."""
        return self.family == "instinct"

    def among(self, names: Sequence[str]) -> bool:
        """Whether a list of families and names, as the matrix uses them, means this GPU."""
        return self.family in names or not set((self.name or "").split(" or ")).isdisjoint(names)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for the plan and the report."""
        return asdict(self)


def amd_gpus(facts: Mapping[str, Any], release: Mapping[str, Any]) -> list[Gpu]:
    """The AMD GPUs of the host in PCI order, with the release's view of each."""
    gpus = []
    for function in facts["gpus"]:
        if function["vendor"] != AMD_VENDOR:
            continue
        row = gpu_by_device(function["device"])
        gfx = row["gfx"] if row else None
        gpus.append(
            Gpu(
                address=function["address"],
                device=function["device"],
                driver=function["driver"],
                name=row["name"] if row else None,
                gfx=gfx,
                family=row["family"] if row else None,
                integrated=bool(row and row.get("integrated")),
                supported=gfx in release["gfx"],
            )
        )
    return gpus


def compile_targets(gpus: Sequence[Gpu], release: Mapping[str, Any]) -> list[str]:
    """GPU targets to compile the test program for; a build host without GPUs tries one that the release supports."""
    targets = list(dict.fromkeys(gpu.gfx for gpu in gpus if gpu.gfx))
    if targets or not release["gfx"]:
        return targets
    return ["gfx90a" if "gfx90a" in release["gfx"] else release["gfx"][0]]
