"""Warnings that keep uncertain facts of the matrix visible in every answer that uses them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import UPSTREAM
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row, drivers, gfx_targets, table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

Warning = dict[str, str]

CERTAIN = "confirmed"

_MEANING = {
    "inferred": "follows from other releases and was not seen itself",
    "conflicting": "is told differently by two sources",
    "unconfirmed": "could not be checked",
    "third-party": "was only seen outside AMD's own pages",
}


class Doubt(NamedTuple):
    """A field of a row that is less certain than the row itself."""

    field: str
    status: str
    note: str | None


def doubts(row: Row) -> list[Doubt]:
    """The doubts of a row: each is written as a status or as `{status, note}`."""
    found = []
    for field, value in row.get("doubts", {}).items():
        doubt = value if isinstance(value, Mapping) else {"status": value}
        found.append(Doubt(field, doubt["status"], doubt.get("note")))
    return found


def warning(status: str, subject: str, note: str | None = None) -> Warning:
    """One warning `fact-<status>` about a subject such as 'driver 31.60'."""
    message = f"{subject} {_MEANING[status]}"
    return {"id": f"fact-{status}", "message": f"{message}: {note}" if note else message}


def row_warnings(row: Row, subject: str) -> list[Warning]:
    """What is uncertain about a row: its fields, and the row as a whole unless a field says it already."""
    fields = [warning(status, f"the field {field} of {subject}", note) for field, status, note in doubts(row)]
    whole = row["status"] != CERTAIN and row["status"] not in (status for _, status, _ in doubts(row))
    return [*([warning(row["status"], subject, row.get("note"))] if whole else []), *fields]


def release_warnings(number: Version, release: Row, system: Row) -> list[Warning]:
    """Doubts about a release on a system: its own fields, its driver, its kernels, its GPU targets."""
    subject = f"ROCm {number}"
    warnings = row_warnings(release, subject)
    warnings += row_warnings(drivers()[parse(release["driver"])], f"driver {release['driver']}")
    warnings += _kernel_warnings(number, f"{subject} on {systems.label(system)}", system)
    warnings += row_warnings(system, systems.label(system))
    unsure = [gfx for gfx, sure in gfx_targets(number).items() if not sure]
    if unsure:
        warnings.append(warning("unconfirmed", f"the field gfx of {subject}", f"this concerns {', '.join(unsure)}"))
    return warnings


def _kernel_warnings(number: Version, subject: str, system: Row) -> list[Warning]:
    """One warning per status among the kernels that are listed for the system."""
    group = systems.support_group(number)
    notes: dict[str, list[str]] = {}
    for row in systems.kernel_rows(number, system["codename"]):
        note = row["note"] if "status" in row else group.get("note")
        notes.setdefault(row.get("status", group["status"]), []).extend([note] if note else [])
    return [
        warning(status, f"the field kernels of {subject}", "; ".join(dict.fromkeys(texts)))
        for status, texts in notes.items()
        if status != CERTAIN
    ]


def key_warnings(names: Collection[str], base: str, given: Collection[str]) -> list[Warning]:
    """Doubts about the pinned keys `names`, and reports against them for the repository at `base`.

    Keys in `given` have a fingerprint that the operator chose, so the matrix is not asked about them.
    """
    warnings = []
    for row in table("keys")["keys"]:
        if row["name"] not in names or row["name"] in given:
            continue
        warnings += row_warnings(row, f"the fingerprint of key {row['name']}")
        for report in row.get("reports", ()):
            if report["base"] == base:
                subject = f"a signature of {UPSTREAM[base]} by {report['signed_by']} instead of {row['fingerprint']}"
                warnings.append(warning(report["status"], subject, report["note"]))
    return warnings
