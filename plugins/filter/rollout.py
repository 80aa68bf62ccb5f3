"""Filters ``gpufleet.rocm.rollout_*`` and ``driver_health``: the logic is in ``plugin_utils/rollout.py``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import rollout
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import collect
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import as_pattern

# No host at all, as a pattern: Ansible takes an empty list for a mistake.
NOBODY = ["!all"]


def rollout_hosts(hostvars: Mapping[str, Any], part: str, groups: Collection[str] = ()) -> list[str]:
    """Hosts of one part, as patterns; see the sidecar documentation."""
    names = [name for name, host in collect(hostvars, hostvars).items() if rollout.part(host) == part]
    try:
        return [as_pattern(name, groups) for name in names] or NOBODY
    except ValueError as error:
        raise AnsibleFilterError(f"gpufleet.rocm.rollout_hosts: {error}") from error


def rollout_batches(hostvars: Mapping[str, Any], default: list[str]) -> list[str]:
    """Sizes of the batches; see the sidecar documentation."""
    # One host at a time: the first that is to be changed answers, and a look into hostvars is what costs.
    hosts = (host for name in hostvars for host in collect(hostvars, [name]).values())
    plans = (host["plan"] for host in hosts if rollout.part(host) == "change")
    return list(next((plan["wishes"]["serial"] for plan in plans), [])) or default


def rollout_stop(hostvars: Mapping[str, Any], percentage: int) -> str:
    """Why no further batch may start; see the sidecar documentation."""
    return rollout.stop_reason(collect(hostvars, hostvars), percentage)


class FilterModule:
    """Make the filters known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "rollout_hosts": rollout_hosts,
            "rollout_batches": rollout_batches,
            "rollout_stop": rollout_stop,
            "driver_health": rollout.driver_health,
        }
