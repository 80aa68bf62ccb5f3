"""Operating systems: which one a host is built on, and which kernels a release lists for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row, releases, table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse


def find_system(os: object, release: Version | None = None) -> Row:
    """The row of os.yml for `{id, version_id, codename}`. Raises DecisionError `os-unsupported`.

    The message calls the host by `name` where that is given, and names the systems of the wanted `release`.

    The codename decides, because a derivative keeps its own id and version number above Ubuntu's codename.
    Without a codename, id and version do; a point release (22.04.4, 12.5) counts as its release. A host whose codename
    is not the one of its own id and version contradicts itself and is refused.
    """
    if not isinstance(os, Mapping):
        raise _refuse(f"the operating system is given as {type(os).__name__}", release)
    codename, id, version = (_text(os.get(key)) for key in ("codename", "id", "version_id"))
    rows: Sequence[Row] = table("os")["systems"]
    named = next((row for row in rows if row["codename"] == codename), None)
    numbered = next((row for row in rows if row["id"] == id and f"{version}.".startswith(f"{row['version']}.")), None)
    foreign = id not in {row["id"] for row in rows}
    if named and (foreign or named["id"] == id) and numbered in (None, named):
        return named
    if numbered and not codename:
        return numbered
    own = os.get("name")
    described = ascii(own)[1:-1] if isinstance(own, str) and own else " ".join(filter(None, (id, version, codename)))
    contradiction = ", whose codename belongs to another release" if named else ""
    raise _refuse(f"the host runs {described or 'an unnamed operating system'}{contradiction}", release)


def is_derivative(os: Mapping[str, object], system: Row) -> bool:
    """Whether the host's own id differs from the system it is built on (Linux Mint, Pop!_OS)."""
    return _text(os.get("id")) not in ("", system["id"])


@cache
def support_group(version: Version) -> Row:
    """The group of os.yml that speaks about a release."""
    return _groups()[version]


@cache
def kernel_rows(version: Version, codename: str) -> tuple[Row, ...]:
    """Kernels listed for a release on a system, in AMD's order; empty where the system has no such release."""
    return tuple(row for row in support_group(version)["kernels"] if row["system"] == codename)


def releases_for(codename: str) -> list[Version]:
    """Releases that are published for a system, oldest number first."""
    return [version for version in releases() if kernel_rows(version, codename)]


def systems_of(version: Version) -> list[str]:
    """Systems that a release is published for, as people write them: 'Ubuntu 22.04'."""
    published = {row["system"] for row in support_group(version)["kernels"]}
    return [label(row) for row in table("os")["systems"] if row["codename"] in published]


def label(system: Row) -> str:
    """'Ubuntu 22.04', 'Debian 12'."""
    return f"{system['id'].capitalize()} {system['version']}"


@cache
def _groups() -> Mapping[Version, Row]:
    groups = {parse(name): group for group in table("os")["support"] for name in group["releases"]}
    return MappingProxyType(groups)


def _text(value: object) -> str:
    """Lower-case printable text; YAML makes a number of an unquoted 22.04, anything else counts as missing."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = str(value).strip().lower() if number or isinstance(value, str) else ""
    return text if text.isprintable() else ascii(text)


def _refuse(found: str, release: Version | None) -> DecisionError:
    systems = systems_of(release) if release else [label(row) for row in table("os")["systems"]]
    wanted = f"one that ROCm {release} is published for" if release else "a system built on one of"
    return DecisionError(
        "os-unsupported",
        found,
        f"{wanted}: {', '.join(systems)}",
        "use one of these, AMD publishes no ROCm for the one that was found; for a derivative give the codename "
        "underneath (UBUNTU_CODENAME in /etc/os-release)",
    )
