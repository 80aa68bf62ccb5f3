"""Filter ``gpufleet.rocm.build_errors``: the logic is in ``plugin_utils/readers/build_log.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.build_log import decisive_lines


def build_errors(log: Any, limit: int = 5) -> list[str]:
    """The lines of a build log that matter; see the sidecar documentation."""
    return decisive_lines(output_text("build_errors", log), limit)


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"build_errors": build_errors}
