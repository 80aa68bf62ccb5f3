"""Callback that writes the play recap as JSON to the file in SANDBOX_RECAP, for the demo to read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: sandbox_recap
type: aggregate
short_description: Write the play recap as JSON
description: The file is named by the environment variable SANDBOX_RECAP.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Collects nothing by itself; Ansible hands the statistics over at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "sandbox_recap"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Write one row of counts for each host."""
        target = os.environ.get("SANDBOX_RECAP")
        if target:
            rows = {host: stats.summarize(host) for host in stats.processed}
            Path(target).write_text(json.dumps(rows))
