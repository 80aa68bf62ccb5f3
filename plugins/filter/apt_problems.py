"""Filter ``gpufleet.rocm.apt_problems``: the logic is in ``plugin_utils/readers/apt.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.apt import read_problems


def apt_problems(output: Any) -> list[dict[str, str]]:
    """What apt and dpkg complain about; see the sidecar documentation."""
    return read_problems(output_text("apt_problems", output))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"apt_problems": apt_problems}
