"""Filter ``gpufleet.rocm.release``: the logic is in ``plugin_utils/releases.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release


def release(version: Any, os: Any, mirrors: Any = None, fingerprints: Any = None, driver: Any = None) -> dict[str, Any]:
    """Resolve a release; see the sidecar documentation."""
    for name, value in (("os", os), ("mirrors", mirrors), ("fingerprints", fingerprints)):
        if not isinstance(value, Mapping) and not (value is None and name != "os"):
            raise AnsibleFilterError(
                f"gpufleet.rocm.release: {name} is a {type(value).__name__}; expected a mapping. "
                "Next: see ansible-doc -t filter gpufleet.rocm.release."
            )
    try:
        return resolve_release(version, os, mirrors, fingerprints, driver)
    except DecisionError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"release": release}
