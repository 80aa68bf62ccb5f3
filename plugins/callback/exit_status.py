"""Callback ``gpufleet.rocm.exit_status``: an exit status of its own for refused hosts and for pending changes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ansible import context
from ansible.plugins.callback import CallbackBase

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import controller, matrix, report, report_files
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.exit_status import exit_status

DOCUMENTATION = """
name: exit_status
type: aggregate
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Exit status 3 for refused hosts and 2 for pending changes
description:
  - After a playbook of this collection, ends C(ansible-playbook) with 3 when hosts were refused, or
    C(playbooks/diagnose.yml) found something, and nothing else failed. It ends with 2 when C(playbooks/plan.yml) found
    changes to make or C(playbooks/verify.yml) hosts that drifted. Everything else keeps Ansible's own status.
  - Loads the planner before the run begins, so that the processes that Ansible starts for each task need not.
  - Without it, refused hosts count as failed ones (2) and pending changes do not show in the exit status.
  - Ansible ends a playbook where it loses every host of a play or batch, and skips the plays that follow. The report
    that belongs to those is then made here.
  - Callbacks that are listed after this one do not get to see the end of a run with status 2 or 3; list it last.
requirements:
  - C(gpufleet.rocm.exit_status) in C(callbacks_enabled) of ansible.cfg.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]  # Ansible ships no types
    """Collects nothing by itself: the playbooks hand over the outcome as custom statistics."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gpufleet.rocm.exit_status"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self.play: Any = None

    def v2_playbook_on_start(self, playbook: Any) -> None:  # noqa: ARG002  # Ansible names it
        """Read code and data of the planner once: each of the processes that Ansible forks would do it anew."""
        filters = Path(__file__).parents[1] / "filter"
        for path in sorted(filters.glob("*.py")):
            import_module(f"ansible_collections.gpufleet.rocm.plugins.filter.{path.stem}")
        matrix.read_all()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Remember a play that a report is to follow."""
        if "rocm_report_follows" in play.get_vars():
            self.play = play

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """End the program where Ansible would end it with another status.

        Ansible has no way to choose the status; it turns every exception of a callback into a warning but not
        SystemExit, and cleans up on the way out.
        """
        outcome = stats.custom.get("_run", {}).get("rocm_outcome")
        if not outcome and self.play:
            outcome = self._report(self.play.get_variable_manager().get_vars()["hostvars"], stats)
        status = exit_status(outcome, stats.failures, stats.dark) if outcome else None
        if status is not None:
            raise SystemExit(status)

    def _report(self, hostvars: Mapping[str, Any], stats: Any) -> dict[str, list[str]]:
        """Make the report that Ansible did not come to; return its outcome."""
        hosts = {name: host for name, host in controller.collect(hostvars, hostvars).items() if host}
        check = bool(context.CLIARGS["check"])
        batches = [] if check else ["1"]
        fleet = report.fleet_report(hosts, list(stats.dark), batches, controller.command_line(), width=controller.WIDTH)
        self._display.display("\n" + fleet["table"])
        said: Mapping[str, Any] = next((hostvars[name] for name in hosts), {})
        folder = Path(said.get("rocm_report_dir") or "reports")
        suffix = ".check" if check else ""
        place = report_files.place(folder, suffix, said.get("rocm_report_formats"), said.get("rocm_report_files"))
        report_files.publish(fleet, place, check, hostvars)
        outcome: dict[str, list[str]] = fleet["outcome"]
        return outcome
