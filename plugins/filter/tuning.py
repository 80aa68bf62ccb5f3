"""Filters ``gpufleet.rocm.performance`` and ``gpufleet.rocm.tuning``: the logic is in ``plugin_utils``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import SCHEMA
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import performance as judging
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import tuning as changing


def _checked(name: str, readings: Any) -> dict[str, Any]:
    """Plain data: Ansible hands over lazily rendered containers."""
    if not isinstance(readings, Mapping) or readings.get("schema") != SCHEMA:
        raise AnsibleFilterError(
            f"gpufleet.rocm.{name}: found no readings of schema {SCHEMA}; expected those of the "
            "module gpufleet.rocm.rocm_performance. Next: register its result and write "
            f"result.readings | gpufleet.rocm.{name}."
        )
    plain: dict[str, Any] = json.loads(json.dumps(readings))
    return plain


def performance(readings: Any) -> dict[str, Any]:
    """Judge a host; see the sidecar documentation."""
    plain = _checked("performance", readings)
    return judging.performance(plain, plain["gpus"]).as_dict()


def tuning(readings: Any, settings: Any = (), unconfirmed: Any = False) -> dict[str, Any]:
    """What to change on a host; see the sidecar documentation."""
    plain = _checked("tuning", readings)
    if not isinstance(settings, (list, tuple)) or not set(settings) <= set(changing.WANTED):
        raise AnsibleFilterError(
            f"gpufleet.rocm.tuning: found {settings!r}; expected a list of {', '.join(changing.WANTED)}. "
            "Next: correct rocm_tuning_apply."
        )
    return changing.tuning(plain, [str(name) for name in settings], bool(unconfirmed)).as_dict()


class FilterModule:
    """Make the filters known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"performance": performance, "tuning": tuning}
