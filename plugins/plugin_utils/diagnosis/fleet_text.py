"""Diagnoses of a fleet as text for a terminal: hosts with the same ones share a block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.ranking import ANYWHERE, REMARK, command
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import shortened

Row = Mapping[str, Any]
# Hosts in a command line; above that, and for a text without a host, the reader puts the names in.
NAMED = 4
INDENT = " " * 5


def text(documents: Mapping[str, Row]) -> str:
    """One block for each group of hosts, what needs attention first."""
    groups: dict[str, list[Row]] = {}
    for document in documents.values():
        # The command names the host; everything else must be the same.
        alike = {**document, "host": "", "diagnoses": [{**row, "command": ""} for row in document["diagnoses"]]}
        groups.setdefault(repr(alike), []).append(document)
    order = ("unreachable", "failed", "found", "clear")
    blocks = sorted(groups.values(), key=lambda group: order.index(group[0]["state"]))
    lines = [line for group in blocks for line in ("", *_block(group, len(documents)))][1:]
    return "\n".join("".join(char if char.isprintable() else " " for char in line).rstrip() for line in lines)


def _block(group: Sequence[Row], fleet: int) -> list[str]:
    first, names = group[0], [document["host"] for document in group]
    lines = [f"{shortened(names, fleet)}: {_summary(first)}"]
    diagnoses = [row for row in first["diagnoses"] if row["role"] != REMARK]
    limit = ",".join(names) if first["repair"] and len(names) <= NAMED else ANYWHERE
    for number, row in enumerate(diagnoses, start=1):
        lines += _diagnosis(number, row, limit)
    lines += _questions(first)
    for row in first["diagnoses"]:
        if row["role"] == REMARK:
            lines.append(f"  note {row['id']}: {row['evidence'][0]['text']}")
    if first["repair"] and first["repair"]["left"]:
        lines.append(f"  remedy=apply does not run: {first['repair']['left']}")
    elif first["repair"] and first["repair"]["stages"]:
        lines.append(f"  remedy=apply runs: {', '.join(first['repair']['stages'])}")
    return lines


def _summary(document: Row) -> str:
    if document["state"] in ("unreachable", "failed"):
        return f"{document['state']}: {' '.join(document['reason'].split())}"
    counts = Counter(row["role"] for row in document["diagnoses"])
    said = [f"{count} {role}{'s' if count > 1 else ''}" for role, count in counts.items()]
    symptom = f" for {document['symptom']}" if document["symptom"] else ""
    return (", ".join(said) or "nothing found") + symptom + f" (read: {', '.join(document['read'])})"


def _diagnosis(number: int, row: Row, limit: str) -> list[str]:
    because = f", because of {', '.join(row['because_of'])}" if row["because_of"] else ""
    other = ", not behind the symptom" if row["fits_symptom"] is False else ""
    lines = [f"  {number}. {row['id']} ({row['likelihood']}{because}{other}): {row['cause']}"]
    lines += [_cell("found", f"{one['source']}: {one['text']}") for one in row["evidence"]]
    lines.append(_cell("check", row["question"] + (f"  $ {row['look']}" if row["look"] else "")))
    lines.append(_cell("remedy", row["remedy"]))
    if row["stage"]:
        lines.append(_cell("run", command(row["stage"], limit)))
    return lines


def _questions(document: Row) -> list[str]:
    if not document["questions"]:
        return []
    lines = [f"  Nothing found explains {document['symptom']}. Look further, the likeliest first:"]
    return lines + [_cell(row["id"], f"{row['question']}  $ {row['look']}", 26) for row in document["questions"]]


def _cell(label: str, value: str, width: int = 8) -> str:
    return f"{INDENT}{label.ljust(width)} {value}"
