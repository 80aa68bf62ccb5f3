"""Filters ``gpufleet.rocm.fleet_plan`` and ``fleet_report``: the logic is in ``plugin_utils/report.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import report

# What the roles leave behind in the variables of each host.
PARTS = {
    "plan": "rocm_plan_result",
    "after": "rocm_plan_after",
    "verification": "rocm_verify_result",
    "failure": "rocm_failure",
}


def _collect(hostvars: Any, names: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(hostvars, Mapping) or not isinstance(names, list):
        raise AnsibleFilterError(
            "gpufleet.rocm.fleet_*: found "
            f"{type(hostvars).__name__} and {type(names).__name__}; expected hostvars and a list of host names. "
            "Next: write hostvars | gpufleet.rocm.fleet_report(groups['all'])."
        )
    return {
        name: {part: hostvars[name][variable] for part, variable in PARTS.items() if variable in hostvars[name]}
        for name in names
    }


def fleet_plan(hostvars: Any, names: Any) -> str:
    """Text for a terminal; see the sidecar documentation."""
    return report.plan_text(_collect(hostvars, names))


def fleet_report(hostvars: Any, names: Any) -> dict[str, Any]:
    """Reports and result table; see the sidecar documentation."""
    return report.fleet_report(_collect(hostvars, names))


class FilterModule:
    """Make the filters known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"fleet_plan": fleet_plan, "fleet_report": fleet_report}
