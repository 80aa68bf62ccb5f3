"""From a ROCm version and an operating system to everything that apt needs to know.

The result is plain data, made anew on each call::

    version, requested, stream, kind, released, status, source, build, prefix
    os         {id, version_id, codename} of the system that the host is built on
    sources    [{name, file, uri, suite, components, architectures, keyring}] in the order of writing
    keys       [{name, url, path, fingerprint}]
    pin        {file, origin, priority} or null
    packages   {default, driver, former_drivers, prerequisites, driver_prerequisites, versioned, shadowed, conflicting,
                per_gfx, per_gfx_only}: versioned names stay with their release; per_gfx maps a GPU target to the
                packages with its code alone, null in the legacy stream; per_gfx_only: there are no others
    driver     {version, dkms_module, build, kernels, fails_on, status}
    kernels    [{series, flavour, points, preview, only, without, package, note, status}] that AMD lists here;
               only and without limit a row to some GPUs, package installs a kernel that is not the default one
    gfx        GPU targets that the release supports on any system
    ld_so      {file, directories} or null
    path       directories for PATH
    warnings   [{id, message}]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import doubts, systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import base_addresses
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import (
    Row,
    applies,
    drivers,
    find_driver,
    find_release,
    gfx_targets,
    in_family,
    releases,
    table,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

SUITE_UBUNTU_LAST = Version(5, 2, 3)  # one suite called `ubuntu` for every Ubuntu release up to here
COMPATIBILITY_PATHS_END = Version(6, 0)  # /opt/rocm/opencl/bin and other per-component directories until here
DRIVER_OWN_NUMBER = Version(30, 0)  # from here on 30.30.4 is .30300400- in package versions
SOURCE_FILES = {"rocm": paths.ROCM_SOURCE, "graphics": paths.GRAPHICS_SOURCE, "amdgpu": paths.AMDGPU_SOURCE}
PIN_ORIGIN = "repo.radeon.com"
PIN_PRIORITY = 600

_FINGERPRINT = re.compile(r"[0-9A-F]{40}")


def resolve_release(
    version: object,
    os: Mapping[str, object],
    mirrors: Mapping[str, object] | None = None,
    fingerprints: Mapping[str, object] | None = None,
    driver: object = None,
) -> dict[str, Any]:
    """Resolve a release for a system; the module docstring shows the result.

    ``driver`` is the number of a driver release to have instead of the one that belongs to the release.

    Raises DecisionError with id `release-unknown`, `driver-unknown`, `os-unsupported`, `os-release-mismatch`,
    `release-preview` (a preview without any apt repository) or `wish-invalid` (a mirror or fingerprint that cannot be
    used).
    """
    number, release = find_release(version)
    if driver is not None and driver != "":
        release = MappingProxyType({**release, "driver": find_driver(driver)["version"]})
    system = systems.find_system(os, number)
    repository = _repository(number, release)
    _check_published(number, system)
    bases = base_addresses(mirrors)
    fingerprints = fingerprints or {}
    keys = _keys(repository, bases, fingerprints)
    return {
        "version": number.full,
        "requested": str(version),
        "stream": repository["stream"],
        "kind": release.get("kind", "production"),
        "released": release.get("released"),
        "status": release["status"],
        "source": list(release["source"]),
        "os": {"id": system["id"], "version_id": system["version"], "codename": system["codename"]},
        "build": number.build if _legacy(repository) else None,
        "prefix": f"/opt/rocm-{number.full}" if _legacy(repository) else f"/opt/rocm/core-{number.line}",
        "sources": _sources(number, release, repository, system, bases, keys),
        "keys": keys,
        "pin": _pin() if _legacy(repository) else None,
        "packages": _packages(number, repository, system),
        "driver": _driver(number, release, system),
        "kernels": _kernels(number, system),
        "gfx": list(gfx_targets(number)),
        "ld_so": _ld_so() if _legacy(repository) else None,
        "path": _path(number),
        "warnings": doubts.warnings(
            [
                *doubts.of_release(number, release, system),
                *doubts.of_shadows(_shadowed(number, repository)),
                *doubts.of_keys([key["name"] for key in keys], repository["base"], _given(fingerprints)),
            ]
        )
        + _derivative_warning(os, system),
    }


def _legacy(repository: Row) -> bool:
    return bool(repository["stream"] == "legacy")


def _repository(number: Version, release: Row) -> Row:
    """The repository row of a release; a preview that only came as archives and wheels has none."""
    name = release.get("repository", "radeon")
    for row in table("releases")["repositories"]:
        if row["name"] == name:
            found: Row = row
            return found
    raise DecisionError(
        "release-preview",
        f"ROCm {number} is a technology preview without a known apt repository",
        "a release that is published for apt",
        "choose a production release, for example '7.2.4'",
    )


def _check_published(number: Version, system: Row) -> None:
    """Refuse a release that AMD never published for this system."""
    if systems.kernel_rows(number, system["codename"]):
        return
    here = [version.directory for version in systems.releases_for(system["codename"])]
    raise DecisionError(
        "os-release-mismatch",
        f"ROCm {number} is not published for {systems.label(system)} ({system['codename']})",
        f"one of its systems: {', '.join(systems.systems_of(number))}",
        f"choose a release that {systems.label(system)} has ({', '.join(here)}), or another system",
    )


def _sources(
    number: Version,
    release: Row,
    repository: Row,
    system: Row,
    bases: Mapping[str, str],
    keys: list[dict[str, str]],
) -> list[dict[str, Any]]:
    """User space, graphics where the release has it, driver: the order in which the files are written."""
    own_key, radeon_key = keys[0]["path"], keys[-1]["path"]
    path = repository["path"].format(directory=number.directory, system=system["directory"])
    radeon_suite = _radeon_suite(number, system)
    suite = radeon_suite if _legacy(repository) else "stable"
    sources = [_source("rocm", bases[repository["base"]] + path, suite, own_key)]
    if "graphics" in release:
        graphics = f"{bases['radeon']}/graphics/{release['graphics']}/ubuntu"
        sources.append(_source("graphics", graphics, radeon_suite, radeon_key))
    driver = f"{bases['radeon']}/amdgpu/{release['driver']}/ubuntu"
    # The driver tree always went by codename; only user space had the one suite `ubuntu`.
    sources.append(_source("amdgpu", driver, system["suite"], radeon_key))
    return sources


def _radeon_suite(number: Version, system: Row) -> str:
    suite: str = system["suite"]
    return "ubuntu" if number <= SUITE_UBUNTU_LAST else suite


def _source(name: str, uri: str, suite: str, keyring: str) -> dict[str, Any]:
    return {
        "name": name,
        "file": SOURCE_FILES[name],
        "uri": uri,
        "suite": suite,
        "components": ["main"],
        "architectures": ["amd64"],
        "keyring": keyring,
    }


def _keys(repository: Row, bases: Mapping[str, str], fingerprints: Mapping[str, object]) -> list[dict[str, str]]:
    """The key of the user space first, the one of the driver last; in the legacy stream they are one."""
    rows = {row["name"]: row for row in table("keys")["keys"]}
    for name in fingerprints:
        if name not in rows:
            raise _bad_fingerprint(f"the key name {name!a} is not known", f"one of {', '.join(rows)}")
        _fingerprint(rows[name], fingerprints)
    radeon = rows["radeon"]
    keys = [_key(radeon, bases[radeon["base"]] + radeon["url"], fingerprints)]
    if repository["key"] != "radeon":
        address = bases[repository["base"]] + repository["key_path"]
        keys.insert(0, _key(rows[repository["key"]], address, fingerprints))
    return keys


def _given(fingerprints: Mapping[str, object]) -> list[str]:
    """Names of the keys whose fingerprint the operator chose (None and '' mean: not chosen)."""
    return [name for name, value in fingerprints.items() if value is not None and value != ""]


def _key(row: Row, url: str, fingerprints: Mapping[str, object]) -> dict[str, str]:
    return {"name": row["name"], "url": url, "path": row["path"], "fingerprint": _fingerprint(row, fingerprints)}


def _fingerprint(row: Row, fingerprints: Mapping[str, object]) -> str:
    """The operator's fingerprint of a key, else the pinned one."""
    fingerprint: str = row["fingerprint"]
    if row["name"] in _given(fingerprints):
        given = fingerprints[row["name"]]
        # People paste what gpg prints: groups of four, perhaps in lower case.
        fingerprint = given.replace(" ", "").upper() if isinstance(given, str) else ""
        if not _FINGERPRINT.fullmatch(fingerprint):
            raise _bad_fingerprint(f"the fingerprint of key {row['name']} is {given!a}", "40 hex digits")
    return fingerprint


def _bad_fingerprint(found: str, expected: str) -> DecisionError:
    return DecisionError("wish-invalid", found, expected, "correct rocm_key_fingerprints")


def _pin() -> dict[str, Any]:
    """AMD's origin first: Ubuntu's packages of the same name have higher version numbers."""
    return {"file": paths.ROCM_PIN, "origin": PIN_ORIGIN, "priority": PIN_PRIORITY}


def _ld_so() -> dict[str, Any]:
    return {"file": paths.LD_SO_CONF, "directories": ["/opt/rocm/lib", "/opt/rocm/lib64"]}


def _path(number: Version) -> list[str]:
    """Without a version in it: /opt/rocm is switched by update-alternatives."""
    opencl = ["/opt/rocm/opencl/bin"] if number < COMPATIBILITY_PATHS_END else []
    return ["/opt/rocm/bin", *opencl]


def _packages(number: Version, repository: Row, system: Row) -> dict[str, Any]:
    """Package names; `shadowed`: AMD's names that the distribution uses too, `conflicting`: its libraries."""
    packages = table("packages")
    stream = packages["streams"][repository["stream"]]
    shadowed = _shadowed(number, repository)
    default = [name.format(line=number.line) for name in stream["default"]]
    endings = next((row for row in packages["gpu_suffixes"] if row["repository"] == repository["name"]), None)
    return {
        "default": default,
        "driver": list(stream["driver"]),
        "former_drivers": list(packages["former_drivers"]),
        "prerequisites": [name for row in stream["prerequisites"] if applies(row, number) for name in row["names"]],
        "driver_prerequisites": [
            name for row in packages["driver_prerequisites"] if row["system"] == system["id"] for name in row["names"]
        ],
        "versioned": [f"{name}{number.full}" for name in default] if _legacy(repository) else default,
        "shadowed": [row["name"] for row in shadowed if row["kind"] == "same-name"],
        "conflicting": [row["name"] for row in shadowed if row["kind"] == "library"],
        "per_gfx": _per_gfx(default, endings["values"], gfx_targets(number)) if endings else None,
        "per_gfx_only": bool(endings and endings["required"]),
    }


def _shadowed(number: Version, repository: Row) -> list[Row]:
    """Packages of the distribution that are in the way of the legacy stream; the names of the new one are its own."""
    return [row for row in table("packages")["shadowed"] if _legacy(repository) and applies(row, number)]


def _per_gfx(names: list[str], endings: list[str], targets: Iterable[str]) -> dict[str, list[str]]:
    """The packages of each GPU target that has some: gfx942 is served by the ending gfx942 or by its family, gfx94x."""
    found = ((gfx, ending) for gfx in targets for ending in endings if in_family(gfx, ending))
    return {gfx: [f"{name}-{ending}" for name in names] for gfx, ending in found}


def _driver(number: Version, release: Row, system: Row) -> dict[str, Any]:
    """The driver of a release. `kernels`: the series that AMD lists for it here, null where it lists none."""
    driver = drivers()[parse(release["driver"])]
    series = dict.fromkeys(
        row["series"] for row in systems.kernel_rows(_listed_with(driver, number), system["codename"])
    )
    series.pop(None, None)
    return {
        "version": driver["version"],
        "dkms_module": driver["module"],
        "build": driver_build(driver),
        "kernels": sorted(series, key=lambda text: parse(text)) or None,
        "fails_on": _failures(driver["version"]),
        "status": driver["status"],
    }


def _listed_with(driver: Row, number: Version) -> Version:
    """The release whose kernels AMD lists for a driver: the wanted one if they belong together, else the newest."""
    releases_of = [version for version, row in releases().items() if row["driver"] == driver["version"]]
    return number if number in releases_of or not releases_of else releases_of[-1]


def driver_build(driver: Row) -> str | None:
    """The build field in a driver's package versions: given, ROCm's own for 5.3 to 6.4, later the driver's number."""
    number = parse(driver["version"])
    if "build" in driver:
        given: str | None = driver["build"]
        return given
    if number >= DRIVER_OWN_NUMBER:
        return str(number.major * 1_000_000 + number.minor * 10_000 + number.patch * 100)
    return number.build if Version(5, 3) <= number < Version(7, 0) else None


def _failures(driver: str) -> list[dict[str, Any]]:
    """Kernels on which a driver is known not to build; abi_from null means every ABI number of the series."""
    return [
        {"series": row["series"], "abi_from": row.get("abi_from"), "status": row["status"]}
        for row in table("drivers")["failures"]
        if driver in row["drivers"]
    ]


def _kernels(number: Version, system: Row) -> list[dict[str, Any]]:
    group_status = systems.support_group(number)["status"]
    return [
        {
            "series": row["series"],
            "flavour": row.get("flavour"),
            "points": list(row["points"]),
            "preview": row.get("preview", False),
            "only": list(row.get("only", ())),
            "without": list(row.get("without", ())),
            "package": row.get("package"),
            "note": row.get("note"),
            "status": row.get("status", group_status),
        }
        for row in systems.kernel_rows(number, system["codename"])
    ]


def _derivative_warning(os: Mapping[str, object], system: Row) -> list[dict[str, str]]:
    if not systems.is_derivative(os, system):
        return []
    message = (
        f"{os['id']!a} is built on {systems.label(system)}; AMD supports {systems.label(system)} itself,"
        " so prefer the driver that comes with the kernel"
    )
    return [{"id": "os-derivative", "message": message}]
