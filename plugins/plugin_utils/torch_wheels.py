"""From a ROCm release and a Python version to one exact set of PyTorch wheels.

The nearest index at or below the host's ROCm wins, as far as the release's driver serves the ROCm inside the
wheels. The result is plain data, made anew on each call::

    torch, rocm_index, index_url
    pins          ['torch==2.3.0+rocm6.0', ...]
    packages      {torch: '2.3.0+rocm6.0', ...}
    python        Python versions that the set has wheels for
    trusted_host  'host:port' for a mirror over plain http, else null
    alternatives  [{url, form, gfx, torch, status, note}] AMD's own places of wheels for the release; form is how pip
                  takes the url (index-url or find-links), gfx null stands for all targets, torch is what AMD lists
    warnings      [{id, message}]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import base_addresses, trusted_host
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.doubts import Doubt, of_row, warnings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import (
    Row,
    applies,
    driver_serves,
    find_release,
    gfx_targets,
    in_family,
    table,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

PACKAGES = ("torch", "torchvision", "torchaudio")
EXTRA_INDEX_LAST = Version(1, 13, 1)  # up to here the install page adds the index instead of using it alone


def resolve_torch(
    release: Mapping[str, Any] | str | float,
    python_version: object,
    torch_version: object = None,
    mirrors: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Choose wheels for a resolved release, or the bare version of one; the module docstring has the result.

    torch_version None or '' takes the newest set that the nearest index has for this Python.
    Raises DecisionError with id `torch-no-index`, `python-no-wheel`, `release-unknown` or `wish-invalid`.
    """
    chosen = release if isinstance(release, Mapping) else {}
    number, row = find_release(chosen["version"] if chosen else release)
    # A resolved release may have another driver than the one that it came with.
    driver = chosen["driver"]["version"] if chosen.get("driver") else row["driver"]
    # 3.1 cannot be meant: it is what YAML makes of an unquoted 3.10.
    python = parse(
        python_version, what="Python version", error="python-no-wheel", example="'3.10'", known=_pythons()
    ).line
    bases = base_addresses(mirrors)
    wheels, index = _choose(number, driver, python, _wanted(torch_version))
    base = bases[table("pytorch")["indexes"]["base"]]
    index_url = base + table("pytorch")["indexes"]["path"].format(index=index.directory)
    packages = {name: f"{wheels[name]}+rocm{index.directory}" for name in PACKAGES}
    return {
        "torch": wheels["torch"],
        "rocm_index": index.directory,
        "index_url": index_url,
        "pins": [f"{name}=={version}" for name, version in packages.items()],
        "packages": packages,
        "python": list(wheels["python"]),
        "trusted_host": trusted_host(index_url),
        "alternatives": _alternatives(number, bases),
        "warnings": _warnings(number, driver, wheels, index),
    }


def _wanted(torch_version: object) -> Version | None:
    """The asked-for torch, None for the default."""
    if torch_version is None or torch_version == "":
        return None
    return parse(torch_version, what="PyTorch version", error="torch-no-index", example="'2.3.0'", known=_sets())


def _choose(number: Version, driver: str | None, python: str, wanted: Version | None) -> tuple[Row, Version]:
    """The wheel set and its index. Which of the two refusals applies depends on what is missing first."""
    usable = _usable_indexes(number, driver)
    if wanted is None:
        nearest = usable[:1]
        candidates = [(row, index) for index in nearest for row in _newest_first() if _on_index(row, index)]
        missing = f"no PyTorch index is published for ROCm {number} or older releases that its driver serves"
    else:
        row = _sets().get(wanted)
        candidates = [(row, index) for index in usable if row and _on_index(row, index)]
        missing = f"PyTorch {wanted} is not published for ROCm {number}"
    if not candidates:
        raise _refuse("torch-no-index", missing, number, usable)
    for row, index in candidates:
        if python in row["python"]:
            return row, index
    subject = f"PyTorch {wanted}" if wanted else f"the index rocm{candidates[0][1].directory}"
    raise _refuse("python-no-wheel", f"{subject} has no wheel for Python {python}", number, usable)


def _usable_indexes(number: Version, driver: str | None) -> list[Version]:
    """Indexes at or below the release whose ROCm the driver serves, nearest first."""
    below = [index for index in _indexes() if index <= number]
    return [index for index in reversed(below) if not driver or _serves(driver, index) is not False]


def _serves(driver: str, index: Version) -> bool | None:
    return driver_serves(driver, index.full)


def _on_index(row: Row, index: Version) -> bool:
    return index.directory in row["indexes"]


@cache
def _sets() -> Mapping[Version, Row]:
    """Wheel sets by torch version, oldest first."""
    return MappingProxyType({parse(row["torch"]): row for row in table("pytorch")["wheels"]})


def _newest_first() -> list[Row]:
    return [row for _, row in sorted(_sets().items(), reverse=True)]


@cache
def _indexes() -> tuple[Version, ...]:
    """ROCm versions that have an index, oldest first."""
    return tuple(sorted({parse(index) for row in table("pytorch")["wheels"] for index in row["indexes"]}))


@cache
def _pythons() -> frozenset[Version]:
    """Python versions that any set has wheels for; free-threaded builds (3.13t) do not count."""
    tags = {tag for row in table("pytorch")["wheels"] for tag in row["python"] if not tag.endswith("t")}
    return frozenset(parse(tag) for tag in tags)


def _refuse(id: str, found: str, number: Version, usable: Sequence[Version]) -> DecisionError:
    """A refusal that lists the combinations which do exist for this ROCm, newest torch first."""
    offers = []
    for row in _newest_first():
        indexes = " ".join(f"rocm{index.directory}" for index in usable if _on_index(row, index))
        if indexes:
            offers.append(f"{row['torch']} ({indexes}, Python {_span(row['python'])})")
    if offers:
        remedy = "set rocm_pytorch_version to a listed version, or make a listed Python available"
        return DecisionError(id, found, f"for ROCm {number} one of: {', '.join(offers)}", remedy)
    oldest = _indexes()[0].directory
    return DecisionError(id, found, f"ROCm {oldest} or newer, the oldest with an index", "choose a newer ROCm release")


def _span(tags: Sequence[str]) -> str:
    """'3.8-3.12' for the ordinary builds."""
    ordinary = [tag for tag in tags if not tag.endswith("t")]
    return f"{ordinary[0]}-{ordinary[-1]}"


def _listed_by_amd(number: Version) -> str | None:
    """The PyTorch versions that AMD's tables list for a release, such as '1.13, 2.0 to 2.3'; None where they do not."""
    rows = table("pytorch")["amd_listed"]
    return next((row["torch"] for row in rows if not {number.full, number.line}.isdisjoint(row["rocm"])), None)


def _among(torch: Version, listed: str) -> bool:
    """Whether AMD's list means a version: it counts lines (2.3 is any 2.3.x) unless it names a patch."""
    for part in listed.split(", "):
        first, _, last = part.partition(" to ")
        if not last and part.count(".") == 2:
            if torch == parse(part):
                return True
        elif parse(parse(first).line) <= parse(torch.line) <= parse(parse(last or first).line):
            return True
    return False


def _alternatives(number: Version, bases: Mapping[str, str]) -> list[dict[str, Any]]:
    listed = _listed_by_amd(number)
    return [
        {
            "url": bases[row["base"]] + row["path"].format(directory=number.directory, family=family),
            "form": row["form"],
            "gfx": gfx,
            "torch": listed,
            "status": row["status"],
            "note": row["note"],
        }
        for row in table("pytorch")["amd_indexes"]
        if applies(row, number)
        for family, gfx in _families(number, row)
    ]


def _families(number: Version, row: Row) -> list[tuple[str | None, list[str] | None]]:
    """GPU families that have a place of their own, with the release's targets in each; one None where all share it."""
    if "families" not in row:
        return [(None, None)]
    members = {
        family: [gfx for gfx in gfx_targets(number) if in_family(gfx, family.partition("-")[0].lower())]
        for family in row["families"]
    }
    return [(family, gfx) for family, gfx in members.items() if gfx]


def _warnings(number: Version, driver: str | None, wheels: Row, index: Version) -> list[dict[str, str]]:
    subject = f"PyTorch {wheels['torch']}"
    found = of_row(wheels, subject)
    if driver and _serves(driver, index) is None:
        found.append(Doubt(f"driver {driver} with user space {index.line}", "unconfirmed"))
    audio = _sets().get(parse(wheels["torchaudio"]))
    if audio and not _on_index(audio, index):
        found.append(Doubt(f"torchaudio {wheels['torchaudio']} built for ROCm {index.directory}", "inferred"))
    told = warnings(found)
    if index.line != number.line:
        message = (
            f"the wheels carry ROCm {index.directory}, the host has {number}: no nearer index has {subject}"
            " that the driver serves"
        )
        told.append({"id": "torch-index-older", "message": message})
    listed = _listed_by_amd(number)
    if listed and not _among(parse(wheels["torch"]), listed):
        message = f"{subject} is built by PyTorch for ROCm {index.directory}; AMD lists {listed} for ROCm {number}"
        told.append({"id": "torch-unlisted", "message": message})
    if parse(wheels["torch"]) <= EXTRA_INDEX_LAST:
        message = f"{subject} was documented with --extra-index-url: the index may lack its dependencies"
        told.append({"id": "torch-extra-index", "message": message})
    return told
