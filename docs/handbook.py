"""The page of decisions, and the tables in pages written by hand: README's variables, the fields of a report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import DATA
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table as matrix_table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_prometheus import METRICS
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_stages import WORDS
from docs.tables import NOTICE, page, table

ROOT = Path(__file__).resolve().parents[1]
SPECIFICATION = ROOT / "roles" / "rocm_plan" / "meta" / "argument_specs.yml"


def decisions_page() -> str:
    """Every decision id with its kind and cause."""
    rows = []
    for name, row in sorted(decisions().items(), key=lambda item: (item[1]["kind"], item[0])):
        override = f"`rocm_allow: [{name}]`" if row.get("allow") else "none" if row["kind"] == "refusal" else "-"
        rows.append([f"`{name}`", row["kind"], override, row["cause"]])
    return page(
        [
            "# Decisions",
            NOTICE,
            "A refusal leaves the host untouched; a warning is said and the work goes on. Each message adds what was "
            "found, what was expected and what to do next. Where there is no override, going on would rest on a "
            "guess, be impossible, or damage the host.",
            table(["Id", "Kind", "Override", "Cause"], rows),
        ]
    )


def readme() -> str:
    """README with its table of variables renewed."""
    variables = table(["Variable", "Default", "Meaning"], (cells(*item) for item in _wishes().items()))
    return renewed("README.md", variables=variables)


def report_page() -> str:
    """docs/report.md with the tables of the JSON Schemas renewed."""
    schema, fleet = (
        json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8")) for name in ("report", "fleet")
    )
    states = ([f"`{row['const']}`", row["description"]] for row in schema["properties"]["state"]["oneOf"])
    return renewed(
        "docs/report.md",
        states=table(["State", "Meaning"], states),
        fields=table(["Field", "Type", "Meaning"], _fields(schema, schema["properties"], "")),
        fleet=table(["Field", "Type", "Meaning"], _fields(fleet, fleet["properties"], "")),
        words=table(
            ["Word", "Meaning"],
            ([f"`{word}`", f"{meaning[0].upper()}{meaning[1:]}."] for word, meaning in WORDS.items()),
        ),
        metrics=table(["Metric", "Meaning"], _metrics()),
    )


def _metrics() -> Iterator[list[str]]:
    for metric, (labels, meaning) in METRICS.items():
        yield [f"`{metric}{{{', '.join(labels)}}}`" if labels else f"`{metric}`", meaning]


def diagnose_page() -> str:
    """docs/diagnose.md with its tables of symptoms and diagnoses renewed."""
    symptoms = (
        [f"`{name}`", row["title"], ", ".join(f"`{id}`" for group in row["causes"] for id in group)]
        for name, row in matrix_table("diagnoses")["symptoms"].items()
    )
    return renewed(
        "docs/diagnose.md",
        symptoms=table(["Symptom", "Seen", "Causes, the likeliest first"], symptoms),
        diagnoses=table(
            ["Id", "Likely", "Question", "Look", "Remedy", "Part of site.yml"],
            map(_diagnosis, sorted(matrix_table("diagnoses")["diagnoses"].items())),
        ),
    )


def _diagnosis(item: tuple[str, Mapping[str, Any]]) -> list[str]:
    id, row = item
    part = f"`{row['stage']}`{', safe' if row.get('safe') else ''}" if "stage" in row else "-"
    look = f"`{row['look']}`" if "look" in row else "-"
    return [f"`{id}`", row["likelihood"], row["question"], look, row["remedy"], part]


def renewed(name: str, **tables: str) -> str:
    """A page with the tables between its markers replaced."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for marker, lines in tables.items():
        start, end = re.search(rf"<!-- {marker}: .*? -->\n", text), f"<!-- end of {marker} -->"
        assert start is not None, f"{name} has no marker for {marker}"
        text = f"{text[: start.end()]}\n{lines}\n\n{text[text.index(end) :]}"
    return text


def _fields(schema: dict[str, Any], properties: dict[str, Any], parent: str) -> Iterator[list[str]]:
    """A row for each field of the schema, and below it those of the objects in it."""
    for name, row in properties.items():
        row = {**_target(schema, row), **row}
        yield [f"`{parent}{name}`", _type(row), row["description"]]
        inner, path = (row.get("items", {}), f"{parent}{name}[].") if "items" in row else (row, f"{parent}{name}.")
        inner = {**_target(schema, inner), **inner}
        yield from _fields(schema, inner.get("properties", {}), path)


def _target(schema: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """What a reference inside the schema leads to; nothing where the row is none."""
    _, inside, name = row.get("$ref", "").partition("#/$defs/")
    target: dict[str, Any] = schema["$defs"][name] if inside else {}
    return target


def _type(row: dict[str, Any]) -> str:
    """The type of a field, or the values that it can have."""
    values = row.get("enum", [row["const"]] if "const" in row else [])
    if values:
        return ", ".join(f"`{json.dumps(value).strip(chr(34))}`" for value in values)
    if "oneOf" in row:
        return "string"
    kinds = row["type"] if isinstance(row["type"], list) else [row["type"]]
    return " or ".join(kinds).replace("array", "list")


def _wishes() -> dict[str, dict[str, Any]]:
    """The operator's variables; those of the role itself are not wishes."""
    options: dict[str, dict[str, Any]] = yaml.safe_load(SPECIFICATION.read_text(encoding="utf-8"))["argument_specs"][
        "main"
    ]["options"]
    return {name: row for name, row in options.items() if not name.startswith("rocm_plan_")}


def cells(name: str, row: dict[str, Any]) -> list[str]:
    default = row["default"]
    shown = {"": "-", "[]": "-", "{}": "-"}.get(
        str(default), f"`{str(default).lower() if default in (True, False) else default}`"
    )
    choices = f" One of {', '.join(row['choices'])}." if "choices" in row else ""
    return [f"`{name}`", shown, re.sub(r"C\((.*?)\)", r"`\1`", row["description"]).strip() + choices]
