"""Real ansible-playbook runs with the fleet callback: in a terminal, in a pipe, and interrupted."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.runs.test_exit_status import REFUSED, SETTLED, Controller
from tests.unit.screen import Screen

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = str(Path(sys.executable).parent / "ansible-playbook")
# One of everything that a run can contain.
ROLE = """
- name: Begin to sleep
  ansible.builtin.command: {argv: [sleep, "3"]}
  async: 60
  poll: 0
  register: job
  changed_when: false
- name: Wait
  ansible.builtin.async_status: {jid: "{{ job.ansible_job_id }}"}
  register: slept
  until: slept is finished
  retries: 60
  delay: 1
"""
PLAY = """
- name: Everything
  hosts: all
  gather_facts: false
  tasks:
    - name: SDK
      ansible.builtin.include_role: {name: rocm_sdk}
    - name: Table
      ansible.builtin.debug: {msg: "HOST  PLAN\\nn1    in sync"}
      run_once: true
    - name: Loop
      ansible.builtin.command: {argv: ["{{ item }}"]}
      loop: ["true", "false"]
      changed_when: false
      ignore_errors: true
      when: inventory_hostname == 'n1'
    - name: Rescued
      block:
        - name: Refuse
          ansible.builtin.fail: {msg: "found a\\nexpected b\\nNext: c"}
          when: inventory_hostname != 'n1'
      rescue:
        - name: Repair
          ansible.builtin.command: {argv: [sleep, "1"]}
          async: 10
          poll: 1
          changed_when: false
    - name: Elsewhere
      ansible.builtin.command: {argv: ["false"]}
      delegate_to: n1
      changed_when: false
      when: inventory_hostname == 'n2'
    - name: Lost
      ansible.builtin.ping:
      vars: {ansible_connection: ssh, ansible_port: 1, ansible_host: 127.0.0.1, ansible_ssh_retries: 0}
      when: inventory_hostname == 'n3'
    - name: Warned
      ansible.builtin.debug: {msg: "{{ lookup('ansible.builtin.file', '/absent', errors='warn') | default('', true) }}"}
      when: inventory_hostname == 'n1'
"""


@dataclass(frozen=True)
class Project:
    """A folder with a playbook, a role and three hosts."""

    folder: Path

    def command(self) -> list[str]:
        return [PLAYBOOK, "-i", "hosts.json", "play.yml"]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not re.match("ANSIBLE_|NO_COLOR|COLUMNS|LINES", name)
        }
        return {
            **kept,
            "ANSIBLE_CONFIG": str(self.folder / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
            "ANSIBLE_HOME": str(self.folder / "home"),
            "ANSIBLE_ROLES_PATH": str(self.folder / "roles"),
            "TERM": "xterm",
            **more,
        }

    def in_terminal(self, screen: Screen, stop_at: str = "", **environment: str) -> Terminal:
        """Run in a terminal of the size of the screen; ``stop_at`` presses Ctrl-C once that is shown."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execve(PLAYBOOK, self.command(), self.environment(**environment))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", screen.height, screen.columns, 0, 0))
        written, shown = "", []
        for text in read(terminal):
            written += text
            screen.feed(text)
            shown.append(screen.text)
            if stop_at and stop_at in screen.text:
                stop_at = ""
                os.write(terminal, b"\x03")
        os.close(terminal)
        return Terminal(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), written, shown)


@dataclass(frozen=True)
class Terminal:
    """Exit status, everything that was written, and what the screen showed after each write."""

    code: int
    written: str
    shown: list[str]


def read(terminal: int) -> Iterator[str]:
    """What a program writes until it ends."""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            return
        if not data:
            return
        yield data.decode()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "roles/rocm_sdk/tasks").mkdir(parents=True)
    (tmp_path / "roles/rocm_sdk/tasks/main.yml").write_text(ROLE)
    (tmp_path / "play.yml").write_text(PLAY)
    (tmp_path / "ansible.cfg").write_text("[defaults]\nstdout_callback = gpufleet.rocm.fleet\n")
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {"all": {"hosts": {"n1": {}, "n2": {}, "n3": {}}, "vars": local}}
    (tmp_path / "hosts.json").write_text(json.dumps(hosts))
    assert yaml.safe_load(PLAY)
    return Project(tmp_path)


MESSAGES = [
    "Table\nHOST  PLAN\nn1    in sync\n",
    "n1: ignored: Loop (item false)\n",
    "n2, n3: failed: Refuse\nfound a\nexpected b\nNext: c\n",
    "n2: failed: Elsewhere (on n1)\n",
    "n3: unreachable: Lost\n",
]


def test_a_terminal_shows_the_hosts_and_keeps_every_message(project: Project) -> None:
    screen = Screen(100, 12)
    run = project.in_terminal(screen)
    assert run.code == 4, screen.text
    step = re.compile(r"^n3  sdk  running  \S+ +sleep 3 [1-9]s$", re.MULTILINE)
    assert any(step.search(text) for text in run.shown), run.shown
    assert any("3 running  Everything" in text for text in run.shown)
    for message in MESSAGES:
        assert message in screen.text, screen.text
        assert screen.text.count(message) == 1
    assert "[WARNING]: An error occurred while running the lookup plugin" in screen.text
    # Nothing of the block is left, the recap is last.
    assert "  Everything" not in screen.text
    assert re.search(
        r"\nRECAP after \d+s\n"
        r"n1 +ok=\d+  changed=\d+  skipped=\d+  ignored=1\n"
        r"n2 +ok=\d+  changed=\d+  failures=1  skipped=\d+  rescued=1\n"
        r"n3 +ok=\d+  changed=\d+  unreachable=1  skipped=\d+  rescued=1$",
        screen.text,
    )
    assert screen.cursor_shown
    assert "\x1b[0;31m" in run.written


def test_a_small_terminal_without_colours(project: Project) -> None:
    screen = Screen(30, 5)
    run = project.in_terminal(screen, NO_COLOR="1")
    assert run.code == 4, screen.text
    assert not re.search(r"\x1b\[[0-9;]*m", run.written)
    # Three rows: the head, and two for three hosts.
    assert any(re.search(r"^3  sdk  running  all 3 hosts$", text, re.MULTILINE) for text in run.shown)
    assert screen.text.count("HOST  PLAN") == 1
    assert screen.cursor_shown


def test_ctrl_c_leaves_the_last_block_and_a_usable_terminal(project: Project) -> None:
    screen = Screen(100, 12)
    began = time.monotonic()
    run = project.in_terminal(screen, stop_at="sleep 3")
    assert run.code == 99, screen.text
    assert "User interrupted execution" in screen.text
    assert "Traceback" not in screen.text
    assert re.search(r"^n1  sdk  ", screen.text, re.MULTILINE)
    assert screen.cursor_shown
    assert screen.column == 0
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("where", ["pipe", "dumb terminal", "live turned off"])
def test_plain_lines_elsewhere(project: Project, where: str) -> None:
    often = {"GPUFLEET_PROGRESS_HEARTBEAT": "2"}
    if where == "pipe":
        done = subprocess.run(
            project.command(),
            cwd=project.folder,
            env=project.environment(**often),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        code, output = done.returncode, done.stdout
    else:
        more = {"TERM": "dumb"} if where == "dumb terminal" else {"GPUFLEET_PROGRESS_LIVE": "false"}
        run = project.in_terminal(Screen(200, 50), NO_COLOR="1", **often, **more)
        code, output = run.code, run.written.replace("\r\n", "\n")
    assert code == 4, output
    assert "\x1b" not in output
    assert "PLAY Everything\n" in output
    for host in ("n1", "n2", "n3"):
        assert len(re.findall(rf"^\[\d+s\] {host}: sdk started$", output, re.MULTILINE)) == 1, output
        assert len(re.findall(rf"^\[\d+s\] {host}: sdk done after \d+s$", output, re.MULTILINE)) == 1, output
    assert re.search(r"^\[\d+s\] .*, \d+s so far$", output, re.MULTILINE), output
    for message in MESSAGES:
        assert message in output
    assert re.search(r"\nRECAP after \d+s\nn1 ", output)


def test_the_playbooks_show_their_stages_and_keep_their_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", "gpufleet.rocm.fleet")
    run = Controller(tmp_path).play("site", {"a": SETTLED, "b": REFUSED})
    assert run.code == 3, run.output
    assert re.search(r"^\[\d+s\] a: plan done after \d+s$", run.output, re.MULTILINE), run.output
    assert re.search(r"^\[\d+s\] b: plan refused after \d+s$", run.output, re.MULTILINE), run.output
    assert re.search(r"^\[\d+s\] a: verify done after \d+s$", run.output, re.MULTILINE), run.output
    assert run.output.index("\nHOST  PLAN") < run.output.index("\nHOST  RESULT") < run.output.index("\nRECAP after")
    assert "\nb: failed: Name what this host needs\n" in run.output
