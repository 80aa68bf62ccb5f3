"""Action ``gpufleet.rocm.rocm_read_log``: reads a text file of the controller for a diagnosis."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.log_file import read_log
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Needs no host."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the text, or fail with one message."""
        super().run(tmp, task_vars)
        _, options = self.validate_argument_spec({"path": {"type": "str", "required": True}})
        try:
            return {"changed": False, "text": read_log(options["path"])}
        except DecisionError as error:
            return {"changed": False, "failed": True, "msg": str(error)}
