"""Action ``gpufleet.rocm.rocm_publish_diagnosis``: writes the diagnoses of a fleet on the controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import write_documents


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Works in check mode too: the files are for the operator, no host is touched."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Write one file per host, and hand the outcome to the callback ``gpufleet.rocm.exit_status``."""
        super().run(tmp, task_vars)
        spec = {"fleet": {"type": "dict", "required": True}, "folder": {"type": "path", "required": True}}
        _, options = self.validate_argument_spec(spec)
        fleet = options["fleet"]
        # A host with a diagnosis was diagnosed: only one that was not has failed.
        lost = [name for state in ("unreachable", "failed") for name in fleet["outcome"][state]]
        attention = {name: fleet["hosts"][name]["reason"] for name in lost}
        result = {"changed": False, "table": fleet["table"], "attention": attention}
        try:
            result["changed"] = write_documents(fleet, Path(options["folder"]), ".diagnose")
        except OSError as error:
            found = f"{error}; expected a folder that this user may write to. Next: correct rocm_report_dir."
            return {**result, "failed": True, "msg": found}
        stats = {"data": {"rocm_outcome": fleet["outcome"]}, "per_host": False, "aggregate": False}
        return {**result, "ansible_stats": stats}
