"""Logins for the checks' tests: one that runs on this machine with programs of the test's own, one with answers."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from pathlib import Path

from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login

Answers = dict[str, tuple[int, str]]


class ShellLogin(Login):
    """Runs commands in a plain shell whose PATH begins with a folder of stand-in programs."""

    def __init__(self, programs: Path) -> None:
        super().__init__(pwd.getpwuid(os.getuid()).pw_name, 60)
        self.programs = programs
        programs.mkdir(exist_ok=True)

    def program(self, name: str, script: str) -> str:
        """Make a program; returns its path."""
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def run(self, command: str, limit: int = 0, settings: bool = False) -> tuple[int, str]:
        assert not settings
        environment = {"PATH": f"{self.programs}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdout=-1,
            stderr=-2,
            text=True,
            env=environment,
            timeout=limit or 60,
            check=False,
        )
        return done.returncode, done.stdout.strip()


class ToldLogin(Login):
    """Gives the answer of the first pattern that a command matches; the commands are kept."""

    def __init__(self, answers: Answers) -> None:
        super().__init__(pwd.getpwuid(os.getuid()).pw_name, 60)
        self.answers = answers
        self.commands: list[str] = []
        self.options: list[tuple[int, bool]] = []

    def run(self, command: str, limit: int = 0, settings: bool = False) -> tuple[int, str]:
        self.commands.append(command)
        self.options.append((limit, settings))
        return next((row for pattern, row in self.answers.items() if re.search(pattern, command)), (0, ""))
