"""Run other programs; a failure becomes a SandboxError that carries their own words."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandbox.errors import SandboxError

PLAIN_LOCALE = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}


def run(
    command: Sequence[str | Path],
    *,
    check: bool = True,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command with captured text output.

    Raises SandboxError with the last lines of its output when `check` is set and it exits non-zero,
    and always when the program does not exist.
    """
    words = [str(word) for word in command]
    try:
        result = subprocess.run(
            words,
            check=False,
            text=True,
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            cwd=cwd,
            env={**os.environ, **PLAIN_LOCALE, **(env or {})},
        )
    except FileNotFoundError as error:
        raise SandboxError(f"{words[0]} is not installed. Next: ./run installs it as root, or names it.") from error
    if check and result.returncode != 0:
        tail = "\n".join((result.stdout + result.stderr).strip().splitlines()[-15:])
        raise SandboxError(f"{' '.join(words[:6])} ... failed with status {result.returncode}:\n{tail}")
    return result
