"""Filter ``gpufleet.rocm.deb822_source``: the logic is in ``plugin_utils/render.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import render
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError


def deb822_source(source: Any) -> str:
    """Text of an apt source; see the sidecar documentation."""
    if not isinstance(source, Mapping):
        raise AnsibleFilterError(
            f"gpufleet.rocm.deb822_source: the input is a {type(source).__name__}; expected a mapping. "
            "Next: see ansible-doc -t filter gpufleet.rocm.deb822_source."
        )
    try:
        return render.deb822_source(source)
    except DecisionError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"deb822_source": deb822_source}
