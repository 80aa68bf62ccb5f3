"""Filter ``gpufleet.rocm.apt_pin``: the logic is in ``plugin_utils/render.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError


def apt_pin(pin: Any) -> str:
    """Text of an apt pin; see the sidecar documentation."""
    if not isinstance(pin, Mapping):
        raise AnsibleFilterError(
            f"gpufleet.rocm.apt_pin: the input is a {type(pin).__name__}; expected a mapping. "
            "Next: see ansible-doc -t filter gpufleet.rocm.apt_pin."
        )
    try:
        return render.apt_pin(pin)
    except DecisionError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"apt_pin": apt_pin}
