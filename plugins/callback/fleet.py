"""Callback ``gpufleet.rocm.fleet``: what every host of a run is doing, while it runs."""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ansible import constants as C
from ansible.plugins.callback import CallbackBase
from ansible.utils.color import stringc

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress import Fleet, job_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_block import Line
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_text import (
    Messages,
    cleaned,
    failure_text,
    recap,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_view import choose_view
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.task_events import module, part, roles

DOCUMENTATION = """
name: fleet
type: stdout
author: The gpufleet authors (@gpufleet)
version_added: 0.1.0
short_description: Hosts and their stages, live in a terminal and as plain lines elsewhere
description:
  - In a terminal, shows a block that is redrawn in place with the stage, state, elapsed time and current step of every
    host. Where there are more hosts than rows, it counts them by stage and state, and names those that failed and those
    with the longest steps.
  - Elsewhere, and with E(TERM=dumb), writes one line for each start and end of a stage, and names the steps that take
    long every few seconds.
  - Failures, warnings and the messages of C(ansible.builtin.debug) are shown in full, once for all hosts that have the
    same.
  - A stage is the outermost role that a task belongs to, without C(rocm_); C(drain), C(reboot), C(verify) and
    C(restore) are the stages of a rollout.
requirements:
  - C(stdout_callback = gpufleet.rocm.fleet) in ansible.cfg, or E(ANSIBLE_STDOUT_CALLBACK).
options:
  live:
    description: Whether a terminal shows the block. Plain lines are written everywhere without it.
    type: bool
    default: true
    ini:
      - section: callback_gpufleet_fleet
        key: live
    env:
      - name: GPUFLEET_PROGRESS_LIVE
  heartbeat:
    description: Seconds after which plain lines name the steps that take long, at the latest.
    type: float
    default: 15
    ini:
      - section: callback_gpufleet_fleet
        key: heartbeat
    env:
      - name: GPUFLEET_PROGRESS_HEARTBEAT
"""

COLOURS = {
    "failed": C.COLOR_ERROR,
    "unreachable": C.COLOR_UNREACHABLE,
    "refused": C.COLOR_WARN,
    "rescue": C.COLOR_WARN,
    "done": C.COLOR_OK,
}
# Seconds between two looks at what changed.
TICK = 1.0


class CallbackModule(CallbackBase):  # type: ignore[misc]  # Ansible ships no types
    """Keeps the fleet up to date from events; a thread shows it.

    Everything happens under the lock of Ansible's display. Ansible holds it while it forks a worker, so no worker ever
    begins with a lock or a stream that the thread was using.
    """

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "gpufleet.rocm.fleet"

    def __init__(self) -> None:
        super().__init__()
        self.lock = getattr(self._display, "_lock", None) or threading.RLock()
        self.fleet = Fleet(time.monotonic())
        self.messages = Messages()
        self.names: dict[str, str] = {}
        self.view: Any = None
        self.closed = threading.Event()

    def _start(self) -> None:
        options = (self.get_option("live"), self.get_option("heartbeat") - TICK, self.fleet.began)
        self.view = choose_view(*options, self._paint, self._show, self.lock)
        atexit.register(self._close, keep=True)
        threading.Thread(target=self._run, name="fleet progress", daemon=True).start()

    def _run(self) -> None:
        # A terminal or pipe that went away is none of the run's business.
        with contextlib.suppress(OSError):
            while not self.closed.wait(TICK):
                with self.lock:
                    self._tick()

    def _tick(self) -> None:
        if not self.closed.is_set():
            now = time.monotonic()
            self._show(self.messages.take(now))
            self.view.tick(self.fleet, now)

    def _close(self, keep: bool = False) -> None:
        with self.lock:
            if self.view and not self.closed.is_set():
                self._show(self.messages.take())
                self._tick()
                self.closed.set()
                self.view.close(keep)

    @staticmethod
    def _paint(line: Line) -> str:
        return str(stringc(line.text, COLOURS[line.state])) if line.state in COLOURS else line.text

    def _show(self, lines: Iterable[Line]) -> None:
        shown = False
        for line in lines:
            self._display.display(line.text, color=COLOURS.get(line.state))
            shown = True
        if shown:
            # Ansible itself flushes at the end alone; whoever reads a pipe wants it now.
            sys.stdout.flush()

    def v2_playbook_on_vars_prompt(self, *_arguments: Any, **_options: Any) -> None:
        """Make room for a question."""
        with self.lock:
            if self.view:
                self.view.hide()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """Begin a play, or a batch of one."""
        members = play.get_variable_manager().get_vars(play=play).get("ansible_play_hosts_all", [])
        name = play.get_name().strip() + (" (check mode)" if play.check_mode else "")
        with self.lock:
            if not self.view:
                self._start()
            self.fleet.begin_play(name, members)
            self._show(self.messages.take())
            self._tick()
            self.view.play(name)

    def v2_playbook_on_no_hosts_remaining(self) -> None:
        """Say why the run ends here."""
        with self.lock:
            self._say("No host is left to go on with", "", "failed")

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: ARG002  # Ansible's signature
        """Keep the name, which is rendered at this moment alone, and show what the last task had to say."""
        with self.lock:
            self.names[task._uuid] = task.name or task.action
            self._show(self.messages.take())
            if module(task) == "pause":
                self.view.hide()
            else:
                self.view.hidden = False

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        """A handler is a task."""
        self.v2_playbook_on_task_start(task, is_conditional=False)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        """A task begins on a host."""
        step = cleaned(self.names.get(task._uuid, task.name or task.action))
        waits = module(task) == "async_status"
        with self.lock:
            self.fleet.begin(host.get_name(), step, roles(task), time.monotonic(), waits)

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task ended well."""
        task, host, data = part(result, "task"), part(result, "host").get_name(), part(result, "result")
        with self.lock:
            self._warn(result, data)
            now = time.monotonic()
            self.fleet.end(host, now)
            if data.get("ansible_job_id") and module(task) != "async_status" and not task.no_log:
                self.fleet.begin_job(host, job_text(task.action, task.args), now)
            if module(task) == "set_fact":
                self.fleet.note(host, data.get("ansible_facts", {}))
            self._tell(result, task, data)

    def v2_runner_on_skipped(self, result: Any) -> None:
        """A task was not needed."""
        with self.lock:
            self._warn(result, part(result, "result"))
            self.fleet.end(part(result, "host").get_name(), time.monotonic())

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task failed."""
        with self.lock:
            self.fleet.end(part(result, "host").get_name(), time.monotonic(), "" if ignore_errors else "failed")
            # Failed items were shown one by one.
            if "results" not in part(result, "result"):
                self._complain(result, "ignored" if ignore_errors else "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host did not answer."""
        with self.lock:
            self.fleet.end(part(result, "host").get_name(), time.monotonic(), "unreachable")
            self._complain(result, "unreachable")

    def v2_runner_item_on_ok(self, result: Any) -> None:
        """One item of a loop ended well."""
        with self.lock:
            self._warn(result, part(result, "result"))
            self._tell(result, part(result, "task"), part(result, "result"))

    def v2_runner_item_on_failed(self, result: Any) -> None:
        """One item of a loop failed."""
        with self.lock:
            how = "ignored" if part(result, "task").ignore_errors else "failed"
            self._complain(result, how, f" (item {self._get_item_label(part(result, 'result'))})")

    def v2_on_file_diff(self, result: Any) -> None:
        """Show what --diff asks for."""
        data = part(result, "result")
        rows = data.get("results", [data])
        diffs = [self._get_diff(row["diff"]) for row in rows if row.get("diff") and row.get("changed")]
        with self.lock:
            for text in filter(None, diffs):
                self._display.display(text)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Take the block away and say how it ended."""
        with self.lock:
            self.fleet.end_run()
            self._close()
            counts = {host: stats.summarize(host) for host in stats.processed}
            self._show(recap(counts, time.monotonic() - self.fleet.began))

    def _tell(self, result: Any, task: Any, data: Mapping[str, Any]) -> None:
        """What a task is there to say, and with -v what every task returned."""
        host = "" if task.run_once else part(result, "host").get_name()
        title = task.name or task.action
        if module(task) == "debug" and not data.get("results"):
            text = data["msg"] if isinstance(data.get("msg"), str) else self._dump_results(data)
            self._say(title, text, host=host)
        elif self._display.verbosity:
            self._say(title, self._dump_results(data), host=host)

    def _say(self, title: str, text: str, state: str = "", host: str = "") -> None:
        self.messages.add(time.monotonic(), title, text, state, host)

    def _complain(self, result: Any, how: str, which: str = "") -> None:
        task, data = part(result, "task"), part(result, "result")
        self._warn(result, data)
        delegated = f" (on {task.delegate_to})" if task.delegate_to else ""
        title = f"{how}: {task.name or task.action}{which}{delegated}"
        self._say(title, failure_text(data), how, part(result, "host").get_name())

    def _warn(self, result: Any, data: Any) -> None:
        # Its message is in the text of a failure.
        if self._display.verbosity < 3:
            data.pop("exception", None)
        if hasattr(self, "_handle_warnings_and_exception"):
            self._handle_warnings_and_exception(result)
        else:
            self._handle_warnings(data)
            self._handle_exception(data)
