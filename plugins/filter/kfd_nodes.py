"""Filter ``gpufleet.rocm.kfd_nodes``: the logic is in ``module_utils/kfd_dump.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.kfd_dump import parse
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import gpu_by_device


def kfd_nodes(output: Any) -> list[dict[str, Any]]:
    """GPU nodes of a topology dump; see the sidecar documentation."""
    return [_with_target(node) for node in parse(output_text("kfd_nodes", output))]


def _with_target(node: dict[str, Any]) -> dict[str, Any]:
    """Old kernels name no target; the PCI id does."""
    row = gpu_by_device(node["device"]) if node["device"] and not node["gfx"] else None
    return {**node, "gfx": row["gfx"]} if row else node


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"kfd_nodes": kfd_nodes}
