"""docs/tuning.md: its tables of settings and profiles are written from the data and the role."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from ansible_collections.gpufleet.rocm.plugins.module_utils.tuning_files import FILES
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table as data
from docs.handbook import ROOT, cells, renewed
from docs.tables import table

SPECIFICATION = ROOT / "roles" / "rocm_tuning" / "meta" / "argument_specs.yml"


def tuning_page() -> str:
    """The page with its tables renewed."""
    options = yaml.safe_load(SPECIFICATION.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
    return renewed(
        "docs/tuning.md",
        options=table(["Variable", "Default", "Meaning"], (cells(*item) for item in options.items())),
        files=table(["Setting", "File"], ([f"`{name}`", f"`{path}`"] for name, path in FILES.items())),
        profiles=table(["GPUs", "Setting", "Expected", "Status", "AMD's pages", "Note"], _rows()),
    )


def _rows() -> Iterator[list[str]]:
    pages = {page["id"]: page["url"] for page in data("performance")["pages"]}
    for profile in data("performance")["profiles"]:
        for row in profile["rows"]:
            links = ", ".join(f"[{name}]({pages[name]})" for name in row["source"])
            expected = _expected(row)
            yield [profile["name"], f"`{row['setting']}`", expected, row["status"], links, row.get("note", "-")]


def _expected(row: Row) -> str:
    value = row["expected"]
    if value is None:
        return "-"
    return f"`{value}`" if isinstance(value, str) else f"x{value['width']} at {value['speed']} GT/s"
