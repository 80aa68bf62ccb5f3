"""Action ``gpufleet.rocm.rocm_publish``: writes what is told about a fleet on the controller.

An action and not a module: a thousand small files are written in a second where no module has to be started for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import report_files


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Works in check mode too: the files are for the operator, no host is touched."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Write the files, and hand the outcome to the callback ``gpufleet.rocm.exit_status``."""
        super().run(tmp, task_vars)
        _, options = self.validate_argument_spec(
            {
                "fleet": {"type": "dict", "required": True},
                "folder": {"type": "path", "required": True},
                "suffix": {"type": "str", "default": ""},
                "formats": {"type": "raw"},
                "files": {"type": "raw"},
            }
        )
        fleet, folder = options["fleet"], Path(options["folder"])
        troubled = [name for state in ("unreachable", "failed", "refused") for name in fleet["outcome"][state]]
        attention = {name: fleet["hosts"][name]["reason"] for name in troubled}
        result = {"changed": False, "folder": str(folder), "table": fleet["table"], "attention": attention, "files": []}
        try:
            place = report_files.place(folder, options["suffix"], options["formats"], options["files"])
            inventory = (task_vars or {})["groups"]["all"]
            result["changed"], result["files"] = report_files.publish(fleet, place, self._task.check_mode, inventory)
        except ValueError as error:
            return {**result, "failed": True, "msg": str(error)}
        except OSError as error:
            found = (
                f"{error}; expected a folder that this user may write to. "
                "Next: correct rocm_report_dir, or rocm_report_files where it is set."
            )
            return {**result, "failed": True, "msg": found}
        stats = {"data": {"rocm_outcome": fleet["outcome"]}, "per_host": False, "aggregate": False}
        return {**result, "ansible_stats": stats}
