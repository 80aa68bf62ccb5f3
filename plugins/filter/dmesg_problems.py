"""Filter ``gpufleet.rocm.dmesg_problems``: the logic is in ``plugin_utils/readers/dmesg.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.dmesg import read_problems


def dmesg_problems(output: Any) -> list[dict[str, str]]:
    """What the kernel log says against the driver; see the sidecar documentation."""
    return read_problems(output_text("dmesg_problems", output))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"dmesg_problems": dmesg_problems}
