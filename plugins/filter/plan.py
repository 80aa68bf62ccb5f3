"""Filter ``gpufleet.rocm.plan``: the logic is in ``plugin_utils/plan.py``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import PLANNERS

FACTS_SCHEMA = 1


def plan(facts: Any, wishes: Any, probe: Any = None, only: Any = ()) -> dict[str, Any]:
    """Plan one host; see the sidecar documentation."""
    if not isinstance(facts, Mapping) or facts.get("schema") != FACTS_SCHEMA:
        raise AnsibleFilterError(
            "gpufleet.rocm.plan: found no facts of schema 1; expected ansible_facts.rocm. "
            "Next: run the module gpufleet.rocm.rocm_facts on the host first."
        )
    if not isinstance(wishes, Mapping):
        raise AnsibleFilterError(
            f"gpufleet.rocm.plan: found wishes of type {type(wishes).__name__}; expected a mapping. "
            "Next: pass rocm_plan_wishes."
        )
    if not isinstance(only, (list, tuple)) or not set(only) <= set(PLANNERS):
        raise AnsibleFilterError(
            f"gpufleet.rocm.plan: found {only!r}; expected a list with stages of {', '.join(PLANNERS)}. "
            "Next: correct rocm_plan_stages."
        )
    # Plain data: Ansible hands over lazily rendered containers.
    wishes = json.loads(json.dumps(wishes))
    return make_plan(facts, wishes, probe if isinstance(probe, Mapping) and "urls" in probe else None, only=only)


class FilterModule:
    """Make the filter known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"plan": plan}
