"""A fleet report as one HTML file that needs nothing else: tables that stand without a script, details with one.

Nothing from a host gets into the page but as text: the template escapes every value, and the script writes text alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.fleet_text import STATES
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural, shortened
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import DATA
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_details import LABELS, cut, details, printable
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_drift import gpu_text, was_read
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_fleet import KINDS, findings, hosts_of
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_stages import COLUMNS, WORDS, changes

Document = Mapping[str, Any]
Row = dict[str, Any]
# Colour class of everything that has one, and the mark that says the same without colour.
TONES = {
    "bad": ("unreachable", "failed", "refused", "blocked"),
    "warn": ("reboot required", "drift", "differs", "not verified", "unfinished", "after a reboot"),
    "todo": ("will change", "to do"),
    "good": ("done", "in sync", "ok", "changed", "passed", "as wanted"),
    "none": ("unknown", "not run"),
}
TONE = {word: tone for tone, words in TONES.items() for word in words}
MARKS = {"bad": "\u2715", "warn": "!", "todo": "\u2192", "good": "\u2713", "none": "\u2013"}
TITLES = {"plan": "Fleet plan", "report": "Fleet report"}
GROUPS = (
    ("Needs attention", "bad", ("unreachable", "failed", "refusal")),
    ("Allowed by rocm_allow", "warn", ("allowed",)),
    ("Warnings", "none", ("warning",)),
)
STAGE_NAMES = {"sdk": "SDK", "pytorch": "PyTorch"}
HEADINGS = (
    *("Host", "State", *(STAGE_NAMES.get(name, name.capitalize()) for name in COLUMNS)),
    *("ROCm version", "Driver version", "PyTorch version", "GPUs", "Findings"),
)
# More evidence of one finding than this is in the details of the hosts alone.
EVIDENCE = 3
# As many ids are shown in the row of a host, the worst and the rarest first; the filter knows them all.
IDS = 2


def page(fleet: Document) -> str:
    """The HTML file for a fleet document of `report_fleet`."""
    environment = Environment(
        loader=FileSystemLoader(DATA), autoescape=True, finalize=_finalized, undefined=StrictUndefined
    )
    style, script = ((DATA / f"report.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    schema = json.loads((DATA / "report.schema.json").read_text(encoding="utf-8"))
    meanings = {row["const"]: row["description"] for row in schema["properties"]["state"]["oneOf"]}
    hosts, rows = fleet["hosts"], list(_host_rows(fleet))
    return environment.get_template("report.html.j2").render(
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; "
        "form-action 'none'",
        # Our own files, whose hashes the policy has.
        style=Markup(style),
        script=Markup(script),
        data=_json(details([hosts[row["name"]] for row in rows])),
        title=("Check mode: " if fleet["check_mode"] else "") + TITLES[fleet["kind"]],
        headline=_headline(fleet["counts"]),
        time=fleet["time"],
        bar=_bar(fleet["counts"]),
        chips=[
            {"state": state, "count": count, "meaning": meanings[state], **_look(state)}
            for state, count in fleet["counts"].items()
            if count
        ],
        earlier=_named(list(fleet["earlier"]), len(hosts)) if fleet["earlier"] else None,
        findings=[_finding_group(fleet, *group) for group in GROUPS],
        any_finding=bool(fleet["findings"]),
        versions=[
            {**row, **_look(row["match"]), **_named(row["hosts"], len(hosts)), "what": LABELS[row["what"]]}
            for row in fleet["versions"]
        ],
        gpus=[{**row, "total": row["count"], **_named(row["hosts"], len(hosts))} for row in fleet["gpus"]],
        since=fleet["drift"]["since"] if fleet["drift"] else None,
        drift=list(_drift_rows(fleet["drift"])) if fleet["drift"] else [],
        columns=HEADINGS,
        hosts=rows,
        legend=[{"word": word, "meaning": meaning, **_look(word)} for word, meaning in WORDS.items()],
    )


def _finalized(value: Any) -> Any:
    return value if isinstance(value, Markup) else printable(str(value))


def _hash(text: str) -> str:
    """The source expression of a content security policy that lets exactly this text through."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(value: Any) -> Markup:
    """JSON that no text in it can break out of: ASCII without the characters of markup."""
    text = json.dumps(value, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def _look(word: str) -> dict[str, str]:
    tone = TONE[word]
    return {"tone": tone, "mark": MARKS[tone]}


def _named(names: Sequence[str], fleet: int) -> Row:
    return {"names": shortened(names, fleet), "count": len(names)}


def _headline(counts: Mapping[str, int]) -> str:
    total, troubled = sum(counts.values()), sum(counts[state] for state in TONES["bad"] if state in counts)
    return f"{total} host{'' if total == 1 else 's'}, {troubled or 'none'} in need of attention"


def _bar(counts: Mapping[str, int]) -> list[Row]:
    """Parts of a bar of 1000 units, in the order of the states."""
    total, start, parts = sum(counts.values()), 0.0, []
    for state, count in counts.items():
        if count:
            width = 1000 * count / total
            parts.append({"tone": TONE[state], "start": f"{start:.2f}", "width": f"{width:.2f}"})
            start += width
    return parts


def _finding_group(fleet: Document, title: str, tone: str, kinds: Sequence[str]) -> Row:
    size = len(fleet["hosts"])
    rows = [
        {
            **finding,
            **_named(hosts_of(finding), size),
            "evidence": [
                {"found": cut(row["found"]), **_named(row["hosts"], size)} for row in finding["evidence"][:EVIDENCE]
            ],
            "more": len(finding["evidence"][EVIDENCE:]),
        }
        for finding in fleet["findings"]
        if finding["kind"] in kinds
    ]
    return {"title": title, "tone": tone, "rows": rows, "open": tone != "none"}


def _drift_rows(drift: Mapping[str, Any]) -> Iterator[Row]:
    rows = [("Host", "appeared", drift["appeared"]), ("Host", "disappeared", drift["disappeared"])]
    for row in drift["changes"]:
        change = f"{row['before'] or 'none'} \u2192 {row['after'] or 'none'}"
        rows.append((LABELS[row["what"]], change, row["hosts"]))
    rows += [("Finding", f"new: {row['id']}", row["hosts"]) for row in drift["findings_new"]]
    rows += [("Finding", f"gone: {row['id']}", row["hosts"]) for row in drift["findings_gone"]]
    for what, change, names in rows:
        if names:
            yield {"what": what, "change": change, **_named(names, 0)}


def _host_rows(fleet: Document) -> Iterator[Row]:
    """What needs attention comes first, as in the table of a terminal."""
    # Of an id that is of two kinds the worse counts.
    rank = {row["id"]: (KINDS.index(row["kind"]), len(hosts_of(row)), row["id"]) for row in reversed(fleet["findings"])}
    order = sorted(fleet["hosts"].items(), key=lambda item: (STATES.index(item[1]["state"]), natural(item[0])))
    for name, document in order:
        ids = sorted({row["id"] for _, row in findings(document)}, key=rank.__getitem__)
        # The state of a host that failed or was lost says already what its id does.
        told = [id for id in ids if id != document["state"]]
        more = f" +{len(told) - IDS}" if len(told) > IDS else ""
        yield {
            "name": name,
            "state": document["state"],
            "rank": STATES.index(document["state"]),
            "earlier": fleet["earlier"].get(name),
            "extra": _extra(document),
            "cells": [_cell(document, stage, word) for stage, word in fleet["stages"][name].items()],
            "versions": [document["actual"][part] or "-" for part in ("rocm", "driver", "torch")],
            "gpus": gpu_text(document["gpus"]) if was_read(document) else "-",
            "ids": " ".join(ids),
            "shown_ids": ", ".join(told[:IDS]) + more or "-",
            **_look(document["state"]),
        }


def _extra(document: Document) -> str:
    """What stands behind the state of a host."""
    parts = [document["rollout"] if document["rollout"] not in ("done", "skipped", None) else ""]
    parts.append("drained" if document["drained"] else "")
    return "".join(f" {part}" for part in parts if part)


def _cell(document: Document, stage: str, word: str) -> Row:
    """One cell of the matrix: a word, which says what its colour does, and in how many places something differs."""
    count = changes(document, stage)
    return {"text": f"{word} {count}" if count else word, **_look(word)}
