"""Filter ``gpufleet.rocm.python_problems``: the logic is in ``plugin_utils/readers/python.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.python import read_problems


def python_problems(output: Any) -> list[dict[str, str]]:
    """What pip and PyTorch complain about; see the sidecar documentation."""
    return read_problems(output_text("python_problems", output))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"python_problems": python_problems}
