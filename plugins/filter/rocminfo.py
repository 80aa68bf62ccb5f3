"""Filter ``gpufleet.rocm.rocminfo``: the logic is in ``module_utils/rocminfo.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.rocminfo import parse
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text


def rocminfo(output: Any) -> dict[str, Any]:
    """GPU agents and the reason for a failure; see the sidecar documentation."""
    return parse(output_text("rocminfo", output))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"rocminfo": rocminfo}
