"""What a kernel command line says about the IOMMU."""

from __future__ import annotations

PASSTHROUGH = frozenset(("iommu=pt", "iommu.passthrough=1", "amd_iommu=off", "iommu=off"))


def passes_through(cmdline: str) -> bool:
    """Whether addresses of devices pass through the IOMMU, or it is switched off."""
    return not PASSTHROUGH.isdisjoint(cmdline.split())
