"""AMD's driver and graphics archives, from data/amdgpu.yml and the module source in dkms/."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from sandbox.upstream.apt_tree import Suite
from sandbox.upstream.debs import Package
from sandbox.upstream.rocm import Archive

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "amdgpu.yml"
SOURCE = HERE / "dkms"
SCRIPTS = ("postinst", "prerm")


def archives() -> Iterator[Archive]:
    """Every release of the data file."""
    data: dict[str, Any] = yaml.safe_load(DATA.read_text())
    for spec in data["releases"]:
        directory = spec["path"].split("/")[1]
        known = {**spec, "line": ".".join(directory.split(".")[:2])}
        suites = tuple(
            Suite(
                name,
                tuple(
                    _package(package, row, {**known, "os": data["systems"][name]})
                    for package, row in data["packages"].items()
                    if row["part"] in spec["parts"]
                ),
                version=directory,
            )
            for name in spec["suites"]
        )
        yield Archive(f"repo.radeon.com/{spec['path']}/ubuntu", suites)


def _package(name: str, row: dict[str, Any], words: dict[str, Any]) -> Package:
    kind = row.get("payload")
    return Package(
        name=name,
        version=row["version"].format_map(words),
        depends=tuple(item.format_map(words) for item in row["depends"]),
        architecture=row["architecture"],
        section=row["section"],
        description=row["description"],
        maintainer="Advanced Micro Devices (AMD) <gpudriverdevsupport@amd.com>",
        fill={"dkms": _dkms, "firmware": _firmware}[kind](words) if kind else None,
        scripts={item: _script(item, words) for item in SCRIPTS} if kind == "dkms" else {},
    )


def module_version(words: dict[str, Any]) -> str:
    """What dkms calls the version: 6.3.6-1697589.22.04."""
    return "{module}-{build}.{os}".format_map(words)


def _replace(text: str, words: dict[str, Any]) -> str:
    """Fill in the text's @NAMES@. A row with `older_kernels: false` is a driver that needs Linux 6.4 to build."""
    values = {
        "VERSION": module_version(words),
        "MODULE_VERSION": words["module"],
        "OLDER_KERNELS": int(words.get("older_kernels", True)),
    }
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def _script(name: str, words: dict[str, Any]) -> str:
    return _replace((SOURCE / name).read_text(), words)


def _dkms(words: dict[str, Any]) -> Callable[[Path], None]:
    def fill(root: Path) -> None:
        target = root / f"usr/src/amdgpu-{module_version(words)}"
        target.mkdir(parents=True)
        for name in ("dkms.conf", "Makefile", "amdgpu.c"):
            (target / name).write_text(_replace((SOURCE / name).read_text(), words))
        rules = root / "etc/udev/rules.d"
        rules.mkdir(parents=True)
        shutil.copy2(SOURCE / "70-amdgpu.rules", rules)

    return fill


def _firmware(_words: dict[str, Any]) -> Callable[[Path], None]:
    def fill(root: Path) -> None:
        target = root / "lib/firmware/updates/amdgpu"
        target.mkdir(parents=True)
        (target / "README").write_text("Stand-in of the gpufleet sandbox: no firmware is here.\n")

    return fill
