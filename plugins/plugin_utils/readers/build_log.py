"""The lines of a build log that say why a kernel module was not built."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines

# Of what compiler, linker, modpost and the configuration complain about, then what make makes of it.
DECISIVE = (
    re.compile(
        r"\b(?:fatal )?error:|^ERROR: |\bundefined[!]|No rule to make target|\b(?:cannot|can't) (?:find|open)\b", re.I
    ),
    re.compile(r"\*\*\* |\bError \d+\b|: (?:not found|Permission denied|No space left on device)$", re.I),
)


def decisive_lines(text: str, limit: int = 5) -> list[str]:
    """At most ``limit`` lines: the first complaints, else what make says last, else the end of the log."""
    lines = [line.strip() for line in plain_lines(text) if line.strip()]
    complaints, consequences = ([line for line in lines if form.search(line)] for form in DECISIVE)
    return list(dict.fromkeys(complaints))[:limit] or consequences[-limit:] or lines[-limit:]
