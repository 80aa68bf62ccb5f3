"""AMD's user-space archive (rocm/apt/<directory>), from data/rocm.yml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.upstream import donors, payload
from sandbox.upstream.apt_tree import Suite
from sandbox.upstream.debs import Package

DATA = Path(__file__).resolve().parent / "data" / "rocm.yml"
HOMEPAGE = {"Homepage": "https://github.com/RadeonOpenCompute/ROCm"}


@dataclass(frozen=True)
class Archive:
    """One archive: the host name with the path below it, and its suites."""

    path: str
    suites: tuple[Suite, ...]


def load() -> dict[str, Any]:
    """The data file."""
    data: dict[str, Any] = yaml.safe_load(DATA.read_text())
    return data


def sources(data: dict[str, Any]) -> dict[str, Path]:
    """The unpacked packages of the distribution that the payload rows take files from."""
    return donors.fetch(payload.donors([row for rows in data["payload"].values() for row in rows]))


def archives() -> Iterator[Archive]:
    """Every release of the data file."""
    data = load()
    unpacked = sources(data)
    for release, spec in data["releases"].items():
        suites = tuple(
            Suite(name, tuple(_packages(data, release, spec, name, unpacked)), version=spec["directory"])
            for name in spec["suites"]
        )
        yield Archive(f"repo.radeon.com/rocm/apt/{spec['directory']}", suites)


def suffix(data: dict[str, Any], spec: dict[str, Any], system: str) -> str:
    """What follows the base in every version: 60000-91~22.04."""
    return f"{spec['number']}-{spec['build']}~{data['systems'][system]}"


def words(release: str, spec: dict[str, Any], prefix: str) -> dict[str, str]:
    """What replaces the {names} in bases and payload rows."""
    major, minor, patch = spec["hip"].split(".")
    return {
        "release": release,
        "number": spec["number"],
        "hip": spec["hip"],
        "hip_major": major,
        "hip_minor": minor,
        "hip_line": f"{major}.{minor}",
        "hip_patch": patch,
        "hip_hash": spec.get("hip_hash", "000000000"),
        "build": spec["build"],
        "info": f"{release}-{spec['build']}" if prefix.startswith("/opt/rocm-") else release,
        "clinfo": spec.get("clinfo", "bin/clinfo"),
        "prefix": prefix,
    }


def versions(data: dict[str, Any], release: str, spec: dict[str, Any], system: str) -> dict[str, str]:
    """Package name -> full version for one release and suite, metas included."""
    known = words(release, spec, "")
    newer = {name for other in data["releases"].values() for name in other.get("only", [])}
    absent = newer - set(spec.get("only", []))
    bases = {name: row["base"] for name, row in data["packages"].items()} | spec.get("bases", {})
    bases |= dict.fromkeys(data["metas"], "{release}")
    ending = suffix(data, spec, system)
    return {name: f"{base.format_map(known)}.{ending}" for name, base in bases.items() if name not in absent}


def _packages(
    data: dict[str, Any], release: str, spec: dict[str, Any], system: str, unpacked: dict[str, Path]
) -> Iterator[Package]:
    table = versions(data, release, spec, system)
    known = words(release, spec, f"/opt/rocm-{release}")
    ours = {*data["packages"], *data["metas"]}
    for name, version in table.items():
        meta = name in data["metas"]
        row = data["metas"][name] if meta else data["packages"][name]
        # A package of AMD's that this release does not have yet is left out; other names are the distribution's.
        wanted = [item for item in row["depends"] if item in table or item not in ours]
        rows = data["payload"].get(name, [])
        yield Package(
            name=name,
            version=version,
            depends=tuple(f"{item} (= {table[item]})" if meta and item in table else item for item in wanted),
            description="Radeon Open Compute (ROCm) Runtime software stack" if meta else f"ROCm component {name}",
            fields=HOMEPAGE,
            fill=payload.filler(rows, known["prefix"], known, unpacked) if rows else None,
            scripts=_alternatives(known) if row.get("alternatives") else {},
        )


def _alternatives(known: dict[str, str]) -> dict[str, str]:
    """/opt/rocm is an alternative, as AMD's rocm-core makes it; nothing else is registered."""
    priority = f"{known['number']}{int(known['build']):03d}"
    install = f"update-alternatives --install /opt/rocm rocm {known['prefix']} {priority}"
    remove = f"update-alternatives --remove rocm {known['prefix']}"
    return {
        "postinst": f'#!/bin/sh\nset -e\nif [ "$1" = configure ]; then\n    {install}\nfi\n',
        "prerm": f'#!/bin/sh\nset -e\ncase "$1" in\n    remove|upgrade|deconfigure) {remove} ;;\nesac\n',
    }
