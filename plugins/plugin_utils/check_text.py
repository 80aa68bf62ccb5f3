"""Checks of a fleet as text for a terminal: one aligned block for each outcome, with the hosts that share it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import shortened

TITLE = "Checks that did not pass:"
Check = Mapping[str, Any]
Documents = Mapping[str, Mapping[str, Any]]


def reason(check: Check) -> str:
    """A failed check on one line: its id, what is wrong, what was seen, what to do."""
    text = ": ".join(part for part in (check["id"], check.get("finding"), check["evidence"]) if part)
    return f"{text}. Next: {check['remedy']}" if check.get("remedy") else text


def lines(documents: Documents) -> list[str]:
    """Every check that did not pass or has something to be known; hosts with the same outcome share a block."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, document in documents.items():
        outcome = tuple((row["id"], row["status"], row["finding"], row["remedy"]) for row in _noted(document))
        if outcome:
            groups.setdefault(outcome, []).append(name)
    found: list[str] = []
    for names in groups.values():
        found += [f"  {shortened(names, len(documents))}:", *_block(documents, names)]
    return [TITLE, *found] if found else []


def _noted(document: Mapping[str, Any]) -> list[Check]:
    return [row for row in document["verification"] if row["status"] != "passed" or row["finding"]]


def _block(documents: Documents, names: Sequence[str]) -> Iterator[str]:
    """Status, check and evidence in columns; evidence that differs from host to host is given once for each kind."""
    rows = list(_rows([_noted(documents[name]) for name in names]))
    status_width = max(len(_status(check)) for check, _, _ in rows)
    id_width = max(len(ids) for _, ids, _ in rows)
    indent = " " * (status_width + id_width + 8)
    for check, ids, column in rows:
        start = f"    {_status(check).ljust(status_width)}  {ids.ljust(id_width)}  "
        seen: dict[str, list[str]] = {}
        for name, evidence in zip(names, column, strict=True):
            seen.setdefault(evidence, []).append(name)
        for evidence, those in seen.items():
            hosts = f"  [{shortened(those, len(documents))}]" if len(seen) > 1 else ""
            first, *rest = evidence.strip().splitlines() or [""]
            yield start + (f"{check['finding']}: " if check["finding"] else "") + first + hosts
            yield from (indent + line for line in rest)
            start = indent
        if check["remedy"]:
            yield f"{indent}Next: {check['remedy']}"


def _status(check: Check) -> str:
    return {"failed": "FAILED", "passed": "noted"}.get(check["status"], str(check["status"]))


def _rows(hosts: Sequence[Sequence[Check]]) -> Iterator[tuple[Check, str, list[str]]]:
    """A check, its id and the last of those behind it that say the same, and its evidence host by host."""
    columns = [list(column) for column in zip(*hosts, strict=True)]
    while columns:
        column = columns.pop(0)
        last = column
        while columns and column[0]["status"] == "not run" and _same(columns[0], column):
            last = columns.pop(0)
        ids = column[0]["id"] if last is column else f"{column[0]['id']} ... {last[0]['id']}"
        yield column[0], ids, [check["evidence"] for check in column]


def _same(one: Sequence[Check], other: Sequence[Check]) -> bool:
    """Whether two checks of the same hosts differ in their names alone."""
    pairs = zip(one, other, strict=True)
    return all(all(a[part] == b[part] for part in ("status", "evidence", "remedy")) for a, b in pairs)
