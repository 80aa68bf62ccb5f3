"""Warnings that keep uncertain facts of the matrix visible in every answer that uses them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import UPSTREAM
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import (
    Row,
    drivers,
    gfx_targets,
    gpu_by_device,
    table,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

CERTAIN = "confirmed"

_MEANING = {
    "inferred": "follows from other releases and was not seen itself",
    "conflicting": "told differently by two sources",
    "unconfirmed": "could not be checked",
    "third-party": "only seen outside AMD's own pages",
}


class Doubt(NamedTuple):
    """Something that is less than confirmed: a field of a row, or a subject such as 'driver 31.60'."""

    subject: str
    status: str
    note: str | None = None


def fields_in_doubt(row: Row) -> list[Doubt]:
    """Fields that are less certain than their row: each is written as a status or as `{status, note}`."""
    found = []
    for field, value in row.get("doubts", {}).items():
        doubt = value if isinstance(value, Mapping) else {"status": value}
        found.append(Doubt(field, doubt["status"], doubt.get("note")))
    return found


def warnings(doubts: Iterable[Doubt]) -> list[dict[str, str]]:
    """One warning `fact-<status>` per status, which names every subject: an operator reads few lines, not many."""
    subjects: dict[str, list[str]] = {}
    for subject, status, note in doubts:
        subjects.setdefault(status, []).append(f"{subject} ({note})" if note else subject)
    return [
        {"id": f"fact-{status}", "message": f"{_MEANING[status]}: {'; '.join(listed)}"}
        for status, listed in subjects.items()
    ]


def of_row(row: Row, subject: str) -> list[Doubt]:
    """What is uncertain about a row: its fields, and the row as a whole unless a field says it already."""
    fields = [Doubt(f"{field} of {subject}", status, note) for field, status, note in fields_in_doubt(row)]
    whole = row["status"] != CERTAIN and row["status"] not in (doubt.status for doubt in fields)
    return [*([Doubt(subject, row["status"], row.get("note"))] if whole else []), *fields]


def of_release(number: Version, release: Row, system: Row) -> list[Doubt]:
    """Doubts about a release on a system: its own fields, driver, kernels, GPU targets."""
    subject = f"ROCm {number}"
    unsure = [gfx for gfx, sure in gfx_targets(number).items() if not sure]
    return [
        *of_row(release, subject),
        *of_row(drivers()[parse(release["driver"])], f"driver {release['driver']}"),
        *_of_failures(release["driver"]),
        *_of_kernels(number, f"kernels of {subject} on {systems.label(system)}", system),
        *of_row(system, systems.label(system)),
        *([Doubt(f"support of {', '.join(unsure)} by {subject}", "unconfirmed")] if unsure else []),
    ]


def _of_failures(driver: str) -> list[Doubt]:
    """Kernels on which a driver is said not to build."""
    rows = [row for row in table("drivers")["failures"] if driver in row["drivers"] and row["status"] != CERTAIN]
    return [Doubt(f"driver {driver} not building on kernel {row['series']}", row["status"]) for row in rows]


def _of_kernels(number: Version, subject: str, system: Row) -> list[Doubt]:
    """One doubt per status among the kernels that are listed for the system."""
    group = systems.support_group(number)
    notes: dict[str, list[str]] = {}
    for row in systems.kernel_rows(number, system["codename"]):
        note = row["note"] if "status" in row else group.get("note")
        notes.setdefault(row.get("status", group["status"]), []).extend([note] if note else [])
    return [
        Doubt(subject, status, "; ".join(dict.fromkeys(texts))) for status, texts in notes.items() if status != CERTAIN
    ]


def of_gpus(devices: Iterable[str]) -> list[Doubt]:
    """Doubts about what the GPUs of a host are; from which release on they are supported is told by `of_release`."""
    rows = [row for row in map(gpu_by_device, dict.fromkeys(devices)) if row]
    return [doubt for row in rows for doubt in of_row(row, row["name"]) if not doubt.subject.startswith("since of ")]


def of_renamed(name: str) -> list[Doubt]:
    """Doubts about what answers an old name."""
    rows = (row for row in table("packages")["renamed"] if row["name"] == name)
    return [doubt for row in rows for doubt in of_row(row, f"{row['package']} in the place of {name}")]


def of_shadows(rows: Sequence[Row]) -> list[Doubt]:
    """Doubts about the distribution's packages that are said to be in the way."""
    found = [(row["name"], doubt.status) for row in rows for doubt in of_row(row, row["name"])]
    return [Doubt(f"the distribution's {name} in the way", status) for name, status in dict.fromkeys(found)]


def of_keys(names: Collection[str], base: str, given: Collection[str]) -> list[Doubt]:
    """Doubts about the pinned keys `names`, and reports against them for the repository at `base`.

    Keys in `given` have a fingerprint that the operator chose, so the matrix is not asked about them.
    """
    found = []
    for row in table("keys")["keys"]:
        if row["name"] not in names or row["name"] in given:
            continue
        found += of_row(row, f"fingerprint of key {row['name']}")
        for report in row.get("reports", ()):
            if report["base"] == base:
                subject = f"signatures of {UPSTREAM[base]} by {report['signed_by']} instead of {row['fingerprint']}"
                found.append(Doubt(subject, report["status"], report["note"]))
    return found
