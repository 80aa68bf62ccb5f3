"""Filter ``gpufleet.rocm.verify_request``: the logic is in ``plugin_utils/verification.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import verification


def verify_request(plan: Any, facts: Any, python: Any = "") -> dict[str, Any]:
    """What to check on a host; see the sidecar documentation."""
    if not (isinstance(plan, Mapping) and isinstance(facts, Mapping)):
        raise AnsibleFilterError(
            f"gpufleet.rocm.verify_request: found {type(plan).__name__} and {type(facts).__name__}; expected a plan "
            "and facts. Next: write rocm_plan_result | gpufleet.rocm.verify_request(ansible_facts['rocm'])."
        )
    return verification.verify_request(plan, facts, str(python or ""))


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"verify_request": verify_request}
