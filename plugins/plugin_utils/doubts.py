"""Warnings that keep uncertain facts of the matrix visible in every answer that uses them."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import DOUBTFUL, Row, drivers, gfx_targets
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

Warning = dict[str, str]

# What is written to the host or decides which tree is read: here even a third-party source is worth a word.
_WRITTEN = ("driver", "graphics", "repository", "suite")

_MEANING = {
    "inferred": "follows from other releases and was not seen itself",
    "conflicting": "is told differently by two sources",
    "unconfirmed": "could not be checked",
    "third-party": "was only seen outside AMD's own pages",
}


def release_warnings(number: Version, release: Row, system: Row) -> list[Warning]:
    """Doubts about a release on a system: its own fields, its driver, its kernels, its GPU targets."""
    subject = f"ROCm {number}"
    warnings = [
        warning(status, field, subject, release.get("note"))
        for field, status in release.get("doubts", {}).items()
        if status in DOUBTFUL or field in _WRITTEN
    ]
    if release["status"] in DOUBTFUL and not warnings:
        warnings.append(warning(release["status"], "release", subject, release.get("note")))
    warnings += _driver_warnings(release)
    warnings += _system_warnings(number, subject, system)
    unsure = [gfx for gfx, sure in gfx_targets(number).items() if not sure]
    if unsure:
        warnings.append(warning("unconfirmed", "gfx", subject, f"this concerns {', '.join(unsure)}"))
    return warnings


def _driver_warnings(release: Row) -> list[Warning]:
    driver = drivers()[parse(release["driver"])]
    subject = f"driver {driver['version']}"
    fields: Mapping[str, str] = driver.get("doubts", {})
    return [warning(status, f"driver.{field}", subject, None) for field, status in fields.items() if status in DOUBTFUL]


def _system_warnings(number: Version, subject: str, system: Row) -> list[Warning]:
    group = systems.support_group(number)
    statuses = {row.get("status", group["status"]) for row in systems.kernel_rows(number, system["codename"])}
    warnings = [
        warning(status, "kernels", f"{subject} on {systems.label(system)}", group.get("note"))
        for status in DOUBTFUL
        if status in statuses
    ]
    for field, status in system.get("doubts", {}).items():
        warnings.append(warning(status, field, systems.label(system), system.get("note")))
    return warnings


def warning(status: str, field: str, subject: str, note: str | None) -> Warning:
    """One warning `fact-<status>` whose message names the field."""
    message = f"the field {field} of {subject} {_MEANING[status]}"
    return {"id": f"fact-{status}", "message": f"{message}: {note}" if note else message}
