"""Type checks that several filters share."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError


def output_text(name: str, output: Any) -> str:
    """The text that a filter reads: a string, or the list of lines in ``stdout_lines``; None fails like any other."""
    if isinstance(output, str):
        return str(output)
    if isinstance(output, (list, tuple)) and all(isinstance(line, str) for line in output):
        return "\n".join(output)
    raise AnsibleFilterError(
        f"gpufleet.rocm.{name}: the input is a {type(output).__name__}; expected the output of a command as text or as "
        f"a list of lines. Next: write result.stdout | gpufleet.rocm.{name}."
    )
