"""The page of decisions, and README's table of variables from the role's argument specification."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from docs.tables import NOTICE, page, table

ROOT = Path(__file__).resolve().parents[1]
SPECIFICATION = ROOT / "roles" / "rocm_plan" / "meta" / "argument_specs.yml"
VARIABLES = re.compile(r"(<!-- variables: .*? -->\n).*?(<!-- end of variables -->)", re.S)


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
            "found, what was expected and what to do next.",
            table(["Id", "Kind", "Override", "Cause"], rows),
        ]
    )


def readme() -> str:
    """README with its table of variables renewed."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = table(["Variable", "Default", "Meaning"], (_cells(*item) for item in _wishes().items()))
    return VARIABLES.sub(lambda match: f"{match[1]}\n{lines}\n\n{match[2]}", text)


def _wishes() -> dict[str, dict[str, Any]]:
    """The operator's variables; those of the role itself are not wishes."""
    options: dict[str, dict[str, Any]] = yaml.safe_load(SPECIFICATION.read_text(encoding="utf-8"))["argument_specs"][
        "main"
    ]["options"]
    return {name: row for name, row in options.items() if not name.startswith("rocm_plan_")}


def _cells(name: str, row: dict[str, Any]) -> list[str]:
    default = row["default"]
    shown = {"": "-", "[]": "-", "{}": "-"}.get(
        str(default), f"`{str(default).lower() if default in (True, False) else default}`"
    )
    choices = f" One of {', '.join(row['choices'])}." if "choices" in row else ""
    return [f"`{name}`", shown, re.sub(r"C\((.*?)\)", r"`\1`", row["description"]).strip() + choices]
