"""The files of a report on the controller: one for each host, and those about the whole fleet."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import controller, report
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import DATA
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_fleet import SCHEMA, fleet_document
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_html import page
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_junit import junit
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_prometheus import prometheus

Fleet = Mapping[str, Any]
# A folder of its own: no host can have a name that means one of these files.
FILES = {
    "json": "fleet/report.json",
    "html": "fleet/report.html",
    "junit": "fleet/report.xml",
    "prometheus": "fleet/report.prom",
}
DEFAULT_FORMATS = ("json", "html")
WRITERS: dict[str, Callable[[Fleet], str]] = {
    "json": lambda fleet: json.dumps(fleet, indent=1) + "\n",
    "html": page,
    "junit": junit,
    "prometheus": prometheus,
}


@dataclass(frozen=True)
class Place:
    """Where a report goes: ``folder``, what stands before the ending of each name, and the files about the fleet.

    ``files`` replaces names of FILES; a name may be a path, and one that does not begin with / is below ``folder``.
    """

    folder: Path
    suffix: str = ""
    formats: Sequence[str] = DEFAULT_FORMATS
    files: Mapping[str, str] = field(default_factory=dict)

    def path(self, kind: str) -> Path:
        """The file of one format: ``report.html``, with a suffix ``report.plan.html``."""
        path = self.folder / Path({**FILES, **self.files}[kind]).expanduser()
        return path.with_name(f"{path.stem}{self.suffix}{path.suffix}")


def place(folder: Path, suffix: str, formats: Any, files: Any) -> Place:
    """The place as variables say it; raises ValueError where they say what there is not."""
    formats = list(DEFAULT_FORMATS) if formats is None else formats
    files = files or {}
    for name, value, kind in (("rocm_report_formats", formats, list), ("rocm_report_files", files, dict)):
        if not isinstance(value, kind) or not set(map(str, value)) <= set(FILES):
            raise ValueError(
                f"found {name} {value!r}; expected a {kind.__name__} with formats of {', '.join(FILES)}. "
                f"Next: correct {name}."
            )
    return Place(folder.expanduser(), suffix, tuple(map(str, formats)), {k: str(v) for k, v in files.items()})


def publish(
    fleet: Fleet, where: Place, check_mode: bool, inventory: Collection[str], now: datetime.datetime | None = None
) -> tuple[bool, list[str]]:
    """Write everything; return whether the document of a host changed, and the files about the fleet.

    Raises OSError where a file cannot be written.
    """
    changed = controller.write_documents(fleet, where.folder, where.suffix)
    # A plan and a check are no state of the fleet, which is what is monitored.
    state = fleet["kind"] == "report" and not check_mode
    formats = [kind for kind in FILES if kind in where.formats and (state or kind != "prometheus")]
    if not formats:
        return changed, []
    time = (now or datetime.datetime.now(datetime.UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    latest = where.path("json")
    previous = read_previous(latest)
    document = fleet_document(fleet, time, check_mode, inventory, previous)
    if previous and "json" in formats:
        _write(latest.with_name(f"{latest.stem}.previous{latest.suffix}"), WRITERS["json"](previous))
    written = [where.path(kind) for kind in formats]
    for kind, path in zip(formats, written, strict=True):
        _write(path, WRITERS[kind](document))
    return changed, [str(path) for path in written]


def read_previous(path: Path) -> dict[str, Any] | None:
    """The last document of the fleet; None where there is none that this version could have written."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not _is_known(document, "fleet", SCHEMA) or not isinstance(document["hosts"], dict):
        return None
    known = all(_is_known(host, "report", report.SCHEMA) for host in document["hosts"].values())
    return document if known else None


def _is_known(document: Any, schema: str, version: int) -> bool:
    """Whether a document has the version and the fields of this schema; fields may be added within a version."""
    return isinstance(document, dict) and document.get("schema") == version and _required(schema) <= document.keys()


@cache
def _required(schema: str) -> frozenset[str]:
    return frozenset(json.loads((DATA / f"{schema}.schema.json").read_text(encoding="utf-8"))["required"])


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    controller.write_text(path, text)
