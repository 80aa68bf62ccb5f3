"""Filter ``gpufleet.rocm.torch_wheels``: the logic is in ``plugin_utils/torch_wheels.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.torch_wheels import resolve_torch


def torch_wheels(release: Any, python_version: Any, torch_version: Any = None, mirrors: Any = None) -> dict[str, Any]:
    """Choose a wheel set; see the sidecar documentation."""
    if not isinstance(release, (Mapping, str, float)) or (isinstance(release, Mapping) and "version" not in release):
        raise AnsibleFilterError(
            f"gpufleet.rocm.torch_wheels: the input is a {type(release).__name__} without a release; expected the "
            "result of gpufleet.rocm.release or a version. Next: see ansible-doc -t filter gpufleet.rocm.torch_wheels."
        )
    if not isinstance(mirrors, Mapping) and mirrors is not None:
        raise AnsibleFilterError(
            f"gpufleet.rocm.torch_wheels: mirrors is a {type(mirrors).__name__}; expected a mapping. "
            "Next: see ansible-doc -t filter gpufleet.rocm.torch_wheels."
        )
    try:
        return resolve_torch(release, python_version, torch_version, mirrors)
    except DecisionError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"torch_wheels": torch_wheels}
