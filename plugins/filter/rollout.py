"""Filters ``gpufleet.rocm.rollout_*`` and ``driver_health``: the logic is in ``plugin_utils/rollout.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import rollout
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import collect

# No host at all, as a pattern: Ansible takes an empty list for a mistake.
NOBODY = ["!all"]
Result = TypeVar("Result")


def rollout_hosts(hostvars: Mapping[str, Any], part: str) -> list[str]:
    """Hosts of one part; see the sidecar documentation."""
    return [name for name, host in collect(hostvars, hostvars).items() if rollout.part(host) == part] or NOBODY


def rollout_batches(hostvars: Mapping[str, Any], default: list[str]) -> list[str]:
    """Sizes of the batches; see the sidecar documentation."""
    wishes = [hostvars[name].get("rocm_serial") for name in rollout_hosts(hostvars, "change") if name in hostvars]
    return _checked(lambda: rollout.batches(next((wish for wish in wishes if wish), default)))


def rollout_stop(hostvars: Mapping[str, Any], percentage: Any) -> str:
    """Why no further batch may start; see the sidecar documentation."""
    return _checked(lambda: rollout.stop_reason(collect(hostvars, hostvars), percentage))


def _checked(function: Callable[[], Result]) -> Result:
    try:
        return function()
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


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
