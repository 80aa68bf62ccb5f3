"""What a run has on its controller: the variables that it left for each host, the command behind it, and its files."""

from __future__ import annotations

import datetime
import json
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.file_names import file_names
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.fleet_text import STATES
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import SCHEMA, Earlier

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
# Of a line of the table, behind Ansible's indentation. Read when the callback is: later processes have no terminal.
WIDTH = max(76, shutil.get_terminal_size((120, 24)).columns - 4)
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
    files = file_names(fleet["hosts"], f"{suffix}.json")
    written = [
        write_text(folder / files[name], json.dumps(document, indent=4) + "\n")
        for name, document in fleet["hosts"].items()
    ]
    return any(written)


def earlier_reports(folder: Path, hosts: Collection[str], wanted: Iterable[str]) -> dict[str, Earlier]:
    """What earlier runs left in the folder about the ``wanted`` of all ``hosts``; other files are passed over."""
    files = file_names(hosts, ".json")
    found = {}
    for name in wanted:
        path = folder / files[name]
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            day = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC).date().isoformat()
        except (OSError, ValueError):
            continue
        known = isinstance(document, dict) and (document.get("schema"), document.get("kind")) == (SCHEMA, "report")
        if known and document.get("host") == name and document.get("state") in STATES:
            found[name] = Earlier(document, day)
    return found


def write_text(path: Path, text: str) -> bool:
    """Write the file where it does not hold this text yet; a reader never sees half of it."""
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
        return False
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return True
