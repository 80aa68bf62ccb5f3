"""AMD's packaging from 7.14 on (amdrocm*), from data/amdrocm.yml; the files inside are those of data/rocm.yml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sandbox.upstream import keys, payload, rocm
from sandbox.upstream.apt_tree import Suite
from sandbox.upstream.debs import Package
from sandbox.upstream.rocm import Archive

DATA = Path(__file__).resolve().parent / "data" / "amdrocm.yml"
ORIGIN = "AMD ROCm"
HOMEPAGE = {"Homepage": "https://github.com/ROCm/ROCm"}
MAINTAINER = "ROCm Dev Support <rocm-dev.support@amd.com>"

Row = dict[str, Any]


def load() -> dict[str, Any]:
    """The data file."""
    data: dict[str, Any] = yaml.safe_load(DATA.read_text())
    return data


def archives() -> Iterator[Archive]:
    """One archive for each release line and system; all publish the one suite `stable`."""
    data, legacy = load(), rocm.load()
    unpacked = rocm.sources(legacy)
    for line, spec in data["lines"].items():
        packages = tuple(_packages(data, legacy, line, spec, unpacked))
        suite = Suite("stable", packages, origin=ORIGIN, label=ORIGIN, signer=keys.AMD)
        for system in data["systems"]:
            yield Archive(spec["path"].format(system=system), (suite,))


def key_paths() -> list[str]:
    """Where the servers hand out their key."""
    return [spec["key_path"] for spec in load()["lines"].values()]


def _packages(
    data: dict[str, Any], legacy: dict[str, Any], line: str, spec: Row, unpacked: dict[str, Path]
) -> Iterator[Package]:
    known = rocm.words(spec["release"], spec, f"/opt/rocm/core-{line}")
    version = f"{spec['release']}-{spec['build']}"
    for name, row in data["packages"].items():
        for target in (None, *data["targets"]) if row.get("targets") else (None,):
            # The files are the same for every target, so that only the package without one ships them.
            rows = [item for old in row.get("of", ()) for item in legacy["payload"].get(old, ())]
            yield Package(
                name=package_name(name, line, target),
                version=version,
                depends=(*_own(data, line, row, target, version), *_foreign(legacy, row)),
                description=f"ROCm component {name.removeprefix('amdrocm-')}",
                maintainer=MAINTAINER,
                fields=HOMEPAGE,
                fill=payload.filler(rows, known["prefix"], known, unpacked) if rows else None,
                scripts=_scripts(line, known, row),
            )


def package_name(name: str, line: str, target: str | None) -> str:
    """amdrocm-blas10.0, or amdrocm-blas10.0-gfx942 for one GPU target."""
    return f"{name}{line}-{target}" if target else f"{name}{line}"


def _own(data: dict[str, Any], line: str, row: Row, target: str | None, version: str) -> Iterator[str]:
    for name in row.get("depends", ()):
        same = target if data["packages"][name].get("targets") else None
        yield f"{package_name(name, line, same)} (= {version})"


def _foreign(legacy: dict[str, Any], row: Row) -> Iterator[str]:
    """The distribution's packages that the taken-over files need, each once."""
    ours = {*legacy["packages"], *legacy["metas"]}
    needed = [item for old in row.get("of", ()) for item in legacy["packages"][old]["depends"] if item not in ours]
    yield from dict.fromkeys(needed)


def _scripts(line: str, known: dict[str, str], row: Row) -> dict[str, str]:
    """Maintainer scripts that register the alternatives of a package, none where it has none."""
    prefix = known["prefix"]
    wanted = [(f"/usr/bin/{tool}", tool, f"{prefix}/bin/{tool}") for tool in row.get("links", ())]
    wanted += [(f"/opt/rocm/{name}", f"rocm-{name}", f"{prefix}/{name}") for name in row.get("shown", ())]
    if row.get("core"):
        major = line.split(".")[0]
        wanted += [("/opt/rocm/core", "core", prefix), (f"/opt/rocm/core-{major}", f"core-{major}", prefix)]
    if not wanted:
        return {}
    install = "".join(
        f"    update-alternatives --quiet --install {link} {name} {path} {known['number']}\n"
        for link, name, path in wanted
    )
    remove = "".join(f"        update-alternatives --quiet --remove {name} {path}\n" for _, name, path in wanted)
    return {
        "postinst": f'#!/bin/sh\nset -e\nif [ "$1" = configure ]; then\n{install}fi\nexit 0\n',
        "prerm": f'#!/bin/sh\nset -e\ncase "$1" in\n    remove|deconfigure)\n{remove}        ;;\nesac\nexit 0\n',
    }
