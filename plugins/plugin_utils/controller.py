"""What a run has on its controller: the variables that it left for each host, the command behind it, and its files."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

# What playbooks and roles leave behind in the variables of each host.
PARTS = {
    "plan": "rocm_plan_result",
    "after": "rocm_plan_after",
    "verification": "rocm_verify_result",
    "failure": "rocm_failure",
    "state": "rocm_state",
    "held": "rocm_held",
    "drained": "rocm_drained",
}
# Variables on a command line that do not belong into an output.
SECRET = re.compile(r"pass|secret|token|credential|//[^/@\s]*@", re.IGNORECASE)


def collect(hostvars: Mapping[str, Any], names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """For each host the parts that are there."""
    hosts = {}
    for name in names:
        # Each look-up in hostvars puts together all variables of the host.
        variables = hostvars[name]
        hosts[str(name)] = {part: variables[variable] for part, variable in PARTS.items() if variable in variables}
    return hosts


def command_line(arguments: Sequence[str] = ()) -> str:
    """The command that started this run, for a shell; extra variables that look like a secret are left out."""
    program, *words = arguments or sys.argv
    shown = [Path(program).name]
    for before, word in zip(["", *words], words, strict=False):
        glued = re.match(r"(--extra-vars=|-e(?!$))", word)
        extra = before in ("-e", "--extra-vars") or glued is not None
        shown.append((glued[0] if glued else "") + "..." if extra and SECRET.search(word) else shlex.quote(word))
    return " ".join(shown)


def write_documents(fleet: Mapping[str, Any], folder: Path, suffix: str) -> bool:
    """Write one file per host into the folder, which is made where it is missing; return whether one changed.

    Raises OSError where that is not possible.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        write_text(folder / f"{name.replace('/', '_')}{suffix}.json", json.dumps(document, indent=4) + "\n")
        for name, document in fleet["hosts"].items()
    ]
    return any(written)


def write_text(path: Path, text: str) -> bool:
    """Write the file where it does not hold this text yet; a reader never sees half of it."""
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
        return False
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return True
