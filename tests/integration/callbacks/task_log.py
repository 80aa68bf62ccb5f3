"""Writes every task result of a run as one JSON line, for tests that count and compare what really ran."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: task_log
type: aggregate
short_description: Task results as JSON lines
description: Writes host, task, role, status and change of each result to the file in E(TASK_LOG).
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]  # Ansible ships no types
    """One line per host and task; items of a loop are part of their task's result."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "task_log"

    def _write(self, status: str, result: Any) -> None:
        task = result._task
        role = task._role.get_name() if task._role else ""
        data = result._result
        with Path(os.environ["TASK_LOG"]).open("a", encoding="utf-8") as log:
            row = {
                "host": result._host.get_name(),
                "task": task.get_name(),
                "role": role,
                "action": task.action,
                "once": bool(task.run_once),
                "status": status,
                "changed": bool(data.get("changed")),
            }
            log.write(json.dumps(row) + "\n")

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task that ran."""
        self._write("ok", result)

    def v2_runner_on_failed(self, result: Any, **_options: Any) -> None:
        """A task that failed."""
        self._write("failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        """A task whose condition was false."""
        self._write("skipped", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host that did not answer."""
        self._write("unreachable", result)
