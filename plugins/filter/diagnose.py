"""Filters ``gpufleet.rocm.diagnose``, ``diagnose_text`` and ``fleet_diagnosis``: see ``plugin_utils/diagnose.py``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import diagnose as logic
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import collect
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.filter_input import output_text

LEFT = {"diagnosis": "rocm_diagnosis"}


def diagnose(plan: Any, facts: Any, texts: Any = (), symptom: Any = "", host: Any = "") -> dict[str, Any]:
    """What is wrong with a host; see the sidecar documentation."""
    if not (isinstance(plan, Mapping) and isinstance(facts, Mapping) and isinstance(texts, (list, tuple))):
        raise AnsibleFilterError(
            f"gpufleet.rocm.diagnose: found {type(plan).__name__}, {type(facts).__name__} and {type(texts).__name__}; "
            "expected a plan, facts and a list of texts. "
            "Next: write rocm_plan_result | gpufleet.rocm.diagnose(ansible_facts['rocm'], said.texts)."
        )
    return _told(lambda: logic.diagnose_host(str(host or "HOST"), facts, plan, list(texts), str(symptom or "")))


def diagnose_text(output: Any, symptom: Any = "", name: Any = "") -> dict[str, Any]:
    """What a text is evidence of; see the sidecar documentation."""
    text = output_text("diagnose_text", output)
    return _told(lambda: logic.diagnose_text(str(name or "text"), text, str(symptom or "")))


def fleet_diagnosis(hostvars: Any, names: Any, lost: Any = (), symptom: Any = "") -> dict[str, Any]:
    """Documents and text of a fleet; see the sidecar documentation."""
    if not (isinstance(hostvars, Mapping) and isinstance(names, list) and isinstance(lost, (list, tuple))):
        raise AnsibleFilterError(
            f"gpufleet.rocm.fleet_diagnosis: found {type(hostvars).__name__} and {type(names).__name__}; expected "
            "hostvars and a list of host names. "
            "Next: write hostvars | gpufleet.rocm.fleet_diagnosis(ansible_play_hosts_all)."
        )
    hosts = collect(hostvars, names)
    for name, parts in hosts.items():
        parts.update({part: hostvars[name][left] for part, left in LEFT.items() if left in hostvars[name]})
    return _told(lambda: logic.fleet_diagnosis(hosts, list(lost), str(symptom or "")))


def _told(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return make()
    except DecisionError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """Make the filters known to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"diagnose": diagnose, "diagnose_text": diagnose_text, "fleet_diagnosis": fleet_diagnosis}
