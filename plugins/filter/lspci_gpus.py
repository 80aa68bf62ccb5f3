"""Filter ``gpufleet.rocm.lspci_gpus``: the logic is in ``plugin_utils/readers/lspci.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.lspci import read_gpus


def lspci_gpus(output: Any) -> list[dict[str, Any]]:
    """AMD GPUs on the PCI bus; see the sidecar documentation."""
    return read_gpus(output_text("lspci_gpus", output))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"lspci_gpus": lspci_gpus}
