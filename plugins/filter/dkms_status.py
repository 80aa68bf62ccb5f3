"""Filter ``gpufleet.rocm.dkms_status``: the logic is in ``module_utils/dkms.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.dkms import parse_output
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text


def dkms_status(output: Any) -> list[dict[str, Any]]:
    """States of kernel modules; see the sidecar documentation."""
    return parse_output(output_text("dkms_status", output))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"dkms_status": dkms_status}
