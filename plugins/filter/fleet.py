"""Filters ``gpufleet.rocm.fleet_plan`` and ``fleet_report``: the logic is in ``plugin_utils/report.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import report
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import (
    WIDTH,
    collect,
    command_line,
    earlier_reports,
)


def _collect(hostvars: Any, *lists: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(hostvars, Mapping) or not all(isinstance(names, list) for names in lists):
        raise AnsibleFilterError(
            "gpufleet.rocm.fleet_*: found "
            f"{' and '.join(type(value).__name__ for value in (hostvars, *lists))}; expected hostvars and lists of "
            "host names. Next: write hostvars | gpufleet.rocm.fleet_report(groups['all'])."
        )
    return collect(hostvars, lists[0])


def fleet_plan(hostvars: Any, names: Any, lost: Any = ()) -> dict[str, Any]:
    """Plans and their table; see the sidecar documentation."""
    return report.fleet_plan(_collect(hostvars, names, list(lost)), lost, WIDTH)


def fleet_report(hostvars: Any, names: Any, lost: Any = (), batches: Any = (), folder: Any = "") -> dict[str, Any]:
    """Reports and their table; see the sidecar documentation."""
    hosts = _collect(hostvars, names, list(lost))
    untold = report.untold(hosts, lost) if folder else []
    earlier = earlier_reports(Path(folder).expanduser(), hosts, untold)
    return report.fleet_report(hosts, lost, list(batches), command_line(), earlier, WIDTH)


class FilterModule:
    """Make the filters known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"fleet_plan": fleet_plan, "fleet_report": fleet_report}
