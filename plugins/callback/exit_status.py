"""Callback ``gpufleet.rocm.exit_status``: an exit status of its own for refused hosts and for pending changes."""

from __future__ import annotations

from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.exit_status import exit_status

DOCUMENTATION = """
name: exit_status
type: aggregate
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Exit status 3 for refused hosts and 2 for pending changes
description:
  - After a playbook of this collection, ends C(ansible-playbook) with 3 when hosts were refused and nothing else
    failed, and with 2 when C(playbooks/plan.yml) found changes to make. Everything else keeps Ansible's own status.
  - Without it, refused hosts count as failed ones (2) and pending changes do not show in the exit status.
  - Callbacks that are listed after this one do not get to see the end of a run with status 2 or 3; list it last.
requirements:
  - C(gpufleet.rocm.exit_status) in C(callbacks_enabled) of ansible.cfg.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Collects nothing by itself: the playbooks hand over the outcome as custom statistics."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "gpufleet.rocm.exit_status"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """End the program where Ansible would end it with another status.

        Ansible has no way to choose the status; it turns every exception of a callback into a warning but not
        SystemExit, and cleans up on the way out.
        """
        outcome = stats.custom.get("_run", {}).get("rocm_outcome")
        status = exit_status(outcome, stats.failures, stats.dark) if outcome else None
        if status is not None:
            raise SystemExit(status)
