"""The data matrix: read once per process, deeply read-only, and the look-ups that several modules need."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

Row = Mapping[str, Any]

DATA = Path(__file__).parent / "data"
# libyaml is about ten times as fast, but not every PyYAML is built with it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def table(name: str) -> Row:
    """The content of data/<name>.yml with every mapping and list frozen."""
    content = yaml.load((DATA / f"{name}.yml").read_text(encoding="utf-8"), Loader=_LOADER)
    frozen: Row = _freeze(content)
    return frozen


def read_all() -> None:
    """Read every table now, for all processes that this one forks."""
    for path in DATA.glob("*.yml"):
        table(path.stem)


@cache
def releases() -> Mapping[Version, Row]:
    """All ROCm releases by version, oldest number first."""
    rows = {parse(row["version"]): row for row in table("releases")["releases"]}
    return MappingProxyType(dict(sorted(rows.items())))


@cache
def drivers() -> Mapping[Version, Row]:
    """All driver releases by number."""
    return MappingProxyType({parse(row["version"]): row for row in table("drivers")["drivers"]})


@cache
def gpu_by_device(device: str) -> Row | None:
    """The GPU with this PCI device id (four hex digits, physical or virtual function), None if unknown.

    Cards that share an id share the target too; their names are joined.
    """
    wanted = device.lower().removeprefix("0x")
    rows = [row for row in table("gpus")["gpus"] if wanted in row.get("pci", ()) or wanted in row.get("vf", ())]
    if not rows:
        return None
    return MappingProxyType({**rows[0], "name": " or ".join(row["name"] for row in rows)})


@cache
def gfx_targets(version: Version) -> Mapping[str, bool]:
    """GPU targets that a release supports, data-centre GPUs first; the value is false where that is in doubt."""
    targets: dict[str, bool] = {}
    radeon_only = version in releases() and releases()[version].get("kind") == "radeon-only"
    for row in table("gpus")["gpus"]:
        if row["since"] is None or not applies(row, version) or (radeon_only and row["family"] != "radeon"):
            continue
        sure = row["status"] == "confirmed" and "since" not in row.get("doubts", {})
        sure = sure or ("sure_since" in row and version >= parse(row["sure_since"]))
        targets[row["gfx"]] = targets.get(row["gfx"], False) or sure
    return MappingProxyType(targets)


def in_family(gfx: str, family: str) -> bool:
    """Whether a GPU target is `family` itself or a member of it: gfx94x holds gfx942."""
    return family in (gfx, f"{gfx[:-1]}x")


def applies(row: Row, version: Version) -> bool:
    """Whether a row with optional `since` and `until` (the first release without it) applies to a release."""
    if "since" in row and version < parse(row["since"]):
        return False
    return "until" not in row or version < parse(row["until"])


def gfx_releases(gfx: str) -> list[Version]:
    """Releases that support a GPU target, oldest first; empty for a target that none supports."""
    return [version for version in releases() if gfx in gfx_targets(version)]


def driver_serves(driver: str, version: str) -> bool | None:
    """Whether a driver release serves a user space by AMD's table; None where the table says nothing.

    A driver always serves the release that it was published with.
    """
    number, user_space = parse(driver, what="driver version"), parse(version)
    row = releases().get(user_space)
    if row and row["driver"] and parse(row["driver"]) == number:
        return True
    matrix = table("compatibility")
    if user_space.line in (entry["line"] for entry in matrix["unlisted_user_space"]):
        return None
    for line in matrix["lines"]:
        if line["driver"] == number.line:
            return user_space.line in line["user_space"]
    return None


def renamed_package(name: str) -> str | None:
    """The package that took the place of an old package or tool name, None if the name is current."""
    row = _renamed().get(name)
    return row["package"] if row else None


def rename_answer(name: str) -> str | None:
    """One sentence on what answers an old name today, None if the name is current."""
    row = _renamed().get(name)
    return row["answer"] if row else None


@cache
def _renamed() -> Mapping[str, Row]:
    return MappingProxyType({row["name"]: row for row in table("packages")["renamed"]})


def find_release(version: object) -> tuple[Version, Row]:
    """The release that `version` names exactly: 6.4 is 6.4.0, and 6.4.2.1 is 6.4.2 with the driver of that number.

    Raises DecisionError `release-unknown`.
    """
    known = releases()
    number = parse(version, known=known)
    if number in known:
        return number, known[number]
    for row in table("releases")["driver_only"]:
        if parse(row["version"]) == number:
            release = parse(row["release"])
            return release, MappingProxyType({**known[release], "driver": row["version"]})
    reason = next((row["reason"] for row in table("releases")["unpublished"] if parse(row["version"]) == number), "")
    raise DecisionError(
        "release-unknown",
        f"ROCm {number} is not in the matrix" + (f" ({reason})" if reason else ""),
        "one of " + ", ".join(release.directory for release in known),
        f"set rocm_version to a listed release, for example '{_nearest(number, known).directory}'",
    )


def find_driver(version: object) -> Row:
    """The driver release that `version` names. Raises DecisionError `driver-unknown`."""
    number = parse(version, known=drivers(), what="driver version")
    if number in drivers():
        return drivers()[number]
    raise DecisionError(
        "driver-unknown",
        f"driver {number} is not in the matrix",
        "one of " + ", ".join(str(row["version"]) for row in drivers().values()),
        "set rocm_driver_version to a listed driver (docs/releases.md), or leave it empty",
    )


def older_driver(driver: str, version: str) -> str | None:
    """The newest driver below `driver` that surely exists and serves a user space, None where there is none."""
    wanted = parse(driver)
    older = [row["version"] for number, row in drivers().items() if number < wanted and row["status"] == "confirmed"]
    return next((number for number in reversed(older) if driver_serves(number, version)), None)


def _nearest(number: Version, known: Mapping[Version, Row]) -> Version:
    """The production release to suggest: newest of the same line, else newest below, else the oldest.

    What AMD's release history lacks has no date and is not suggested.
    """
    production = [version for version, row in known.items() if "kind" not in row and "released" in row]
    same_line = [version for version in production if version.line == number.line]
    below = [version for version in production if version < number]
    return (same_line or below or production[:1])[-1]


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: _freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    return value
