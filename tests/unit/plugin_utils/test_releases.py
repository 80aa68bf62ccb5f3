"""The release resolver against the addresses that AMD publishes, and its refusals."""

from __future__ import annotations

import copy
import json
import pickle
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix, systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.doubts import fields_in_doubt
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

UBUNTU = {"bionic": "18.04", "focal": "20.04", "jammy": "22.04", "noble": "24.04", "resolute": "26.04"}
DEBIAN = {"bookworm": "12", "trixie": "13"}
ADDRESSES = yaml.safe_load((Path(__file__).parent / "published_addresses.yml").read_text(encoding="utf-8"))
DIRECTORY = {codename: f"ubuntu{UBUNTU[codename].replace('.', '')}" for codename in ("jammy", "noble", "resolute")}
DIRECTORY |= {codename: f"debian{number}" for codename, number in DEBIAN.items()}
TABLES = yaml.safe_load((Path(__file__).parent / "published_tables.yml").read_text(encoding="utf-8"))
DOUBTS = TABLES["doubts"]
LEGACY = [row for row in ADDRESSES["releases"] if "suites" in row]
CORE = [row for row in ADDRESSES["releases"] if "systems" in row]


def host(codename: str) -> dict[str, str]:
    """Identity of a plain Ubuntu or Debian host."""
    if codename in UBUNTU:
        return {"id": "ubuntu", "version_id": UBUNTU[codename], "codename": codename}
    return {"id": "debian", "version_id": DEBIAN[codename], "codename": codename}


def sources(release: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Name to (uri, suite), in the order of writing."""
    return {source["name"]: (source["uri"], source["suite"]) for source in release["sources"]}


def refusal(version: object, os: Any, **options: Any) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        resolve_release(version, os, **options)
    return caught.value


@pytest.mark.parametrize(
    ("row", "codename"),
    [
        pytest.param(row, codename, id=f"{row['version']}-{codename}")
        for row in LEGACY
        for codename in [*row["suites"], *[name for name in DEBIAN if DEBIAN[name] in row.get("debian", {})]]
    ],
)
def test_legacy_addresses(row: dict[str, Any], codename: str) -> None:
    release = resolve_release(row["version"], host(codename))
    ubuntu_name = row["debian"][DEBIAN[codename]] if codename in DEBIAN else codename
    expected = {"rocm": (row["rocm"], row.get("suite", ubuntu_name))}
    if row["graphics"]:
        expected["graphics"] = (row["graphics"], ubuntu_name)
    expected["amdgpu"] = (row["driver"], ubuntu_name)
    assert sources(release) == expected
    assert list(sources(release)) == list(expected)
    assert release["prefix"] == row["prefix"]
    assert release["stream"] == "legacy"
    assert release["build"] == parse(row["version"]).build
    assert [key["name"] for key in release["keys"]] == ["radeon"]
    assert release["pin"] == {
        "file": "/etc/apt/preferences.d/rocm-pin-600",
        "origin": "repo.radeon.com",
        "priority": 600,
    }


@pytest.mark.parametrize(
    ("row", "codename"),
    [
        pytest.param(row, codename, id=f"{row['version']}-{codename}")
        for row in CORE
        for codename in DIRECTORY
        if DIRECTORY[codename] in row["systems"]
    ],
)
def test_core_addresses(row: dict[str, Any], codename: str) -> None:
    release = resolve_release(row["version"], host(codename))
    driver_suite = {"bookworm": "jammy", "trixie": "noble"}.get(codename, codename)
    assert sources(release) == {
        "rocm": (row["rocm"].format(system=DIRECTORY[codename]), "stable"),
        "amdgpu": (row["driver"], driver_suite),
    }
    assert [source["keyring"] for source in release["sources"]] == [
        "/etc/apt/keyrings/amdrocm.asc",
        "/etc/apt/keyrings/rocm.asc",
    ]
    assert [key["name"] for key in release["keys"]] == ["amd", "radeon"]
    assert release["keys"][0]["url"] == TABLES["key_files"][row["version"]]
    assert release["prefix"] == row["prefix"]
    assert (release["stream"], release["build"], release["pin"], release["ld_so"]) == ("core", None, None, None)
    assert release["packages"]["versioned"] == [f"amdrocm-core-sdk{row['prefix'].rpartition('-')[2]}"]
    assert release["packages"]["shadowed"] == []


@pytest.mark.parametrize("number", matrix.releases(), ids=str)
def test_every_release_resolves_on_exactly_its_systems(number: Version) -> None:
    published = {row["system"] for row in systems.support_group(number)["kernels"]}
    for codename in (*UBUNTU, *DEBIAN):
        if codename not in published:
            error = refusal(number.full, host(codename))
            assert error.id in ("os-release-mismatch", "release-preview")
            continue
        release = resolve_release(number.full, host(codename))
        assert release["version"] == number.full
        assert release["gfx"]
        assert release["os"] == host(codename)
        json.dumps(release)  # plain data only
        for text in (*strings(release["sources"]), *strings(release["keys"])):
            assert "{" not in text
            assert "None" not in text


def strings(value: Any) -> list[str]:
    """All texts inside plain data."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in strings(item)]


def test_the_first_customer() -> None:
    release = resolve_release("6.0", host("jammy"))
    assert release == {
        "version": "6.0.0",
        "requested": "6.0",
        "stream": "legacy",
        "kind": "production",
        "released": "2023-12-15",
        "status": "confirmed",
        "source": ["versions", "iol60", "compat63", "snap60"],
        "os": {"id": "ubuntu", "version_id": "22.04", "codename": "jammy"},
        "build": "60000",
        "prefix": "/opt/rocm-6.0.0",
        "sources": [
            {
                "name": "rocm",
                "file": "/etc/apt/sources.list.d/rocm.sources",
                "uri": "https://repo.radeon.com/rocm/apt/6.0",
                "suite": "jammy",
                "components": ["main"],
                "architectures": ["amd64"],
                "keyring": "/etc/apt/keyrings/rocm.asc",
            },
            {
                "name": "amdgpu",
                "file": "/etc/apt/sources.list.d/amdgpu.sources",
                "uri": "https://repo.radeon.com/amdgpu/6.0/ubuntu",
                "suite": "jammy",
                "components": ["main"],
                "architectures": ["amd64"],
                "keyring": "/etc/apt/keyrings/rocm.asc",
            },
        ],
        "keys": [
            {
                "name": "radeon",
                "url": "https://repo.radeon.com/rocm/rocm.gpg.key",
                "path": "/etc/apt/keyrings/rocm.asc",
                "fingerprint": "CA8BB4727A47B4D09B4EE8969386B48A1A693C5C",
            }
        ],
        "pin": {
            "file": "/etc/apt/preferences.d/rocm-pin-600",
            "origin": "repo.radeon.com",
            "priority": 600,
        },
        "packages": {
            "default": ["rocm-hip-sdk"],
            "driver": ["amdgpu-dkms", "amdgpu-dkms-firmware"],
            "former_drivers": ["rock-dkms", "rock-dkms-firmware"],
            "prerequisites": [],
            "driver_prerequisites": ["linux-headers-{kernel}", "linux-modules-extra-{kernel}"],
            "versioned": ["rocm-hip-sdk6.0.0"],
            "shadowed": ["rocminfo", "rocm-cmake", "rocm-device-libs", "hipcc"],
            "conflicting": ["libamdhip64-5", "libhsa-runtime64-1"],
            "per_gfx": None,
            "per_gfx_only": False,
        },
        "driver": {
            "version": "6.0",
            "dkms_module": "6.3.6",
            "build": "60000",
            "kernels": ["5.19", "6.2", "6.6"],
            "fails_on": [],
            "status": "confirmed",
        },
        "kernels": [
            kernel("6.6", "22.04.4", preview=True),
            kernel("6.2", "22.04.3"),
            kernel("5.19", "22.04.2"),
        ],
        "gfx": ["gfx942", "gfx90a", "gfx908", "gfx906", "gfx1030", "gfx1100"],
        "ld_so": {
            "file": "/etc/ld.so.conf.d/rocm.conf",
            "directories": ["/opt/rocm/lib", "/opt/rocm/lib64"],
        },
        "path": ["/opt/rocm/bin"],
        "warnings": [
            {
                "id": "fact-third-party",
                "message": "only seen outside AMD's own pages: module of driver 6.0; fingerprint of key radeon "
                "(AMD prints no fingerprint; the pin is what several independent scripts agree on)",
            },
            {
                "id": "fact-inferred",
                "message": "follows from other releases and was not seen itself: the distribution's hipcc in the way; "
                "the distribution's libamdhip64-5 in the way; the distribution's libhsa-runtime64-1 in the way",
            },
        ],
    }


def kernel(series: str, point: str, *, preview: bool = False) -> dict[str, Any]:
    """A kernel row of a hardware enablement stack."""
    return {
        "series": series,
        "flavour": "hwe",
        "points": [point],
        "preview": preview,
        "only": [],
        "without": [],
        "package": None,
        "note": None,
        "status": "confirmed",
    }


@pytest.mark.parametrize(
    ("requested", "version"),
    [("7.2", "7.2.0"), ("7.2.0", "7.2.0"), ("6.4", "6.4.0"), ("6.4.1", "6.4.1"), (6.0, "6.0.0"), (7.2, "7.2.0")],
)
def test_spellings_of_one_release(requested: object, version: str) -> None:
    assert resolve_release(requested, host("jammy"))["version"] == version


@pytest.mark.parametrize(
    ("version", "driver", "module", "build"),
    [
        ("5.2.3", "22.20.3", None, "50203"),
        ("6.0.2", "6.0.2", None, "60002"),
        ("6.4.2", "6.4.2", "6.12.12", "60402"),
        ("7.0.0", "30.10", "6.14.14", "30100000"),
        ("7.2.0", "30.30", "6.16.13", "30300000"),
        ("7.2.2", "30.30.1", "6.16.13", "30300100"),
        ("7.2.4", "30.30.4", "6.16.13", "30300400"),
        ("7.14.0", "31.40", "6.19.14", "31400000"),
        ("10.0.0", "31.50", "7.1.3", "31500000"),
        ("10.1.0", "31.60", None, "31600000"),
    ],
)
def test_driver_numbers(version: str, driver: str, module: str | None, build: str | None) -> None:
    codename = "focal" if version.startswith("5") else "jammy"
    resolved = resolve_release(version, host(codename))["driver"]
    assert (resolved["version"], resolved["dkms_module"], resolved["build"]) == (driver, module, build)


def test_known_build_failures_come_with_the_driver() -> None:
    def failures(version: str) -> list[tuple[str, int | None]]:
        rows = resolve_release(version, host("jammy"))["driver"]["fails_on"]
        return [(row["series"], row["abi_from"]) for row in rows]

    assert failures("6.1") == [("6.8", None)]
    assert failures("6.2") == [("6.8", 44)]
    assert failures("6.2.1") == []
    assert failures("6.4.1") == [("6.13", None), ("6.14", None)]


def test_kernels_are_unknown_rather_than_empty_where_nothing_is_listed() -> None:
    assert resolve_release("6.1.5", host("jammy"))["driver"]["kernels"] is None


@pytest.mark.parametrize(
    ("version", "codename", "id"),
    [
        ("6.0", "noble", "os-release-mismatch"),
        ("6.4", "focal", "os-release-mismatch"),
        ("5.0", "jammy", "os-release-mismatch"),
        ("6.3", "bookworm", "os-release-mismatch"),
        ("7.0.1", "trixie", "os-release-mismatch"),
        ("7.2.4", "resolute", "os-release-mismatch"),
        ("10.0", "focal", "os-release-mismatch"),
        ("7.10", "noble", "release-preview"),
        ("6.5", "noble", "release-unknown"),
        ("6.0.1", "jammy", "release-unknown"),
        ("6.4.3.1", "jammy", "release-unknown"),
        ("8.0", "jammy", "release-unknown"),
    ],
)
def test_refusals(version: str, codename: str, id: str) -> None:
    error = refusal(version, host(codename))
    assert error.id == id
    assert "\n" not in str(error)


def test_an_unknown_release_lists_the_known_ones() -> None:
    error = refusal("7.2.9", host("noble"))
    listed = error.expected.removeprefix("one of ").split(", ")
    assert listed == [number.directory for number in matrix.releases()]
    assert "'7.2.4'" in error.remedy


def test_a_version_that_never_was_says_why() -> None:
    assert "Azure Linux" in refusal("7.0.3", host("noble")).found
    assert "over 7.14 to 10.0" in refusal("9.0", host("noble")).found


def test_a_number_that_only_the_driver_has_brings_the_user_space_that_it_belongs_to() -> None:
    release = resolve_release("6.4.2.1", host("noble"))
    assert (release["requested"], release["version"], release["prefix"]) == ("6.4.2.1", "6.4.2", "/opt/rocm-6.4.2")
    assert sources(release) == {
        "rocm": ("https://repo.radeon.com/rocm/apt/6.4.2", "noble"),
        "amdgpu": ("https://repo.radeon.com/amdgpu/6.4.2.1/ubuntu", "noble"),
    }
    assert said(release, "fact-third-party", "driver 6.4.2.1")


@pytest.mark.parametrize(("wanted", "suggested"), [("6.3.9", "6.3.3"), ("6.4.9", "6.4.3"), ("7.13.5", "7.2.4")])
def test_only_releases_of_amds_history_are_suggested(wanted: str, suggested: str) -> None:
    assert f"'{suggested}'" in refusal(wanted, host("noble")).remedy


def test_a_mismatch_offers_releases_that_the_system_has() -> None:
    error = refusal("6.0", host("noble"))
    assert error.found == "ROCm 6.0.0 is not published for Ubuntu 24.04 (noble)"
    assert "Ubuntu 22.04" in error.expected
    assert "(6.2, 6.2.1," in error.remedy


@pytest.mark.parametrize(
    "os",
    [
        {"id": "ubuntu", "version_id": "25.10", "codename": "questing"},
        {"id": "ubuntu", "version_id": "22.10", "codename": "kinetic"},
        {"id": "debian", "version_id": "11", "codename": "bullseye"},
        {"id": "linuxmint", "version_id": "6", "codename": "faye"},
        {"id": "rhel", "version_id": "9.4", "codename": ""},
        {"id": "debian", "version_id": "12", "codename": "jammy"},
        {"id": "debian", "version_id": "13", "codename": "bookworm"},
        {"id": "ubuntu", "version_id": "24.04", "codename": "jammy"},
        {"id": "linuxmint", "version_id": "22", "codename": "wilma"},
        {"id": "ubuntu", "version_id": True, "codename": ""},
        {"id": "ubuntu", "version_id": "22.04", "codename": "jammy\nx"},
        {"id": None, "version_id": 22.04, "codename": 1},
        {},
        "jammy",
        None,
    ],
    ids=str,
)
def test_systems_that_amd_does_not_publish_for(os: Any) -> None:
    assert refusal("6.0", os).id == "os-unsupported"


@pytest.mark.parametrize(
    ("os", "codename"),
    [
        ({"id": "ubuntu", "version_id": "22.04", "codename": ""}, "jammy"),
        ({"id": "ubuntu", "version_id": "22.04.4"}, "jammy"),
        ({"id": "ubuntu", "version_id": 22.04}, "jammy"),
        ({"id": "debian", "version_id": 12}, "bookworm"),
        ({"id": "debian", "version_id": "12.5", "codename": None}, "bookworm"),
        ({"id": "ubuntu", "version_id": "21.1", "codename": "jammy"}, "jammy"),
    ],
)
def test_the_system_is_found_by_codename_or_version(os: dict[str, Any], codename: str) -> None:
    release = resolve_release("6.4", os)
    assert release["os"] == host(codename)
    assert "os-derivative" not in [warning["id"] for warning in release["warnings"]]


def test_a_derivative_gets_its_base_and_a_word_of_caution() -> None:
    release = resolve_release("6.4", {"id": "pop", "version_id": "22.04", "codename": "jammy"})
    assert release["os"] == host("jammy")
    assert [warning["id"] for warning in release["warnings"]].count("os-derivative") == 1


def test_mirrors_replace_every_address() -> None:
    mirrors = {
        "radeon": "http://10.77.0.1:8600/repo.radeon.com/",
        "amd": "https://mirror.example/amd",
        "amd_stable": "https://mirror.example/stable",
        "pytorch": "",
    }
    for version in ("6.0", "7.2.4", "7.14", "10.0"):
        release = resolve_release(version, host("jammy"), mirrors)
        for address in [source["uri"] for source in release["sources"]] + [key["url"] for key in release["keys"]]:
            assert address.startswith(("http://10.77.0.1:8600/repo.radeon.com/", "https://mirror.example/"))
            assert "//" not in address.split("://")[1]
    legacy = resolve_release("6.0", host("jammy"), mirrors)
    assert legacy["sources"][0]["uri"] == "http://10.77.0.1:8600/repo.radeon.com/rocm/apt/6.0"
    assert legacy["pin"]["origin"] == "repo.radeon.com"


@pytest.mark.parametrize(
    "value",
    [
        "mirror.example",
        "ftp://mirror.example",
        "http://",
        "http://[",
        "http://a:99999/",
        "http://mirror.example/a b",
        "http://mirror.example/\nSigned-By: /tmp/x",
        "http://mirror.example/?a=b",
        "http://user:secret@mirror.example/",
        42,
    ],
    ids=str,
)
def test_mirrors_that_cannot_be_used(value: object) -> None:
    error = refusal("6.0", host("jammy"), mirrors={"radeon": value})
    assert error.id == "wish-invalid"
    assert "secret" not in str(error)


def test_unknown_mirror_and_key_names_are_refused() -> None:
    assert refusal("6.0", host("jammy"), mirrors={"radeno": "http://x"}).id == "wish-invalid"
    assert refusal("6.0", host("jammy"), fingerprints={"radeno": "A" * 40}).id == "wish-invalid"


def test_fingerprints_override_the_pinned_ones() -> None:
    pasted = "0123 4567 89ab cdef 0123  4567 89ab cdef 0123 4567"
    release = resolve_release("10.0", host("noble"), fingerprints={"amd": pasted, "radeon": None})
    assert [key["fingerprint"] for key in release["keys"]] == [
        "0123456789ABCDEF0123456789ABCDEF01234567",
        "CA8BB4727A47B4D09B4EE8969386B48A1A693C5C",
    ]


@pytest.mark.parametrize("value", ["short", "G" * 40, "A" * 41, 40])
def test_broken_fingerprints_are_refused(value: object) -> None:
    assert refusal("6.0", host("jammy"), fingerprints={"radeon": value}).id == "wish-invalid"


@pytest.mark.parametrize(
    ("version", "codename", "expected"),
    [
        ("5.0", "focal", ("fact-conflicting", "suite of ROCm 5.0.0")),
        ("6.1", "jammy", ("fact-third-party", "module of driver 6.1")),
        ("6.1.3", "jammy", ("fact-third-party", "driver 6.1.3")),
        ("6.4", "noble", ("fact-unconfirmed", "support of gfx1101 by ROCm 6.4.0")),
        ("6.4.4", "noble", ("fact-third-party", "ROCm 6.4.4")),
        ("6.4.4", "noble", ("fact-inferred", "driver 6.4.4")),
        ("7.12", "noble", ("fact-inferred", "ROCm 7.12.0")),
        ("10.1", "resolute", ("fact-inferred", "suite of Ubuntu 26.04")),
        ("10.1", "jammy", ("fact-third-party", "kernels of ROCm 10.1.0 on Ubuntu 22.04")),
        ("10.1", "jammy", ("fact-inferred", "kernels of ROCm 10.1.0 on Ubuntu 22.04")),
    ],
)
def test_doubts_stay_visible(version: str, codename: str, expected: tuple[str, str]) -> None:
    assert said(resolve_release(version, host(codename)), *expected)


def said(release: dict[str, Any], id: str, subject: str) -> bool:
    """Whether the warning with this id names the subject; kernels may be named with their system."""
    pattern = rf"(: |; ){re.escape(subject)}( on \w+ [\d.]+)?( \(|;|$)"
    return any(warning["id"] == id and re.search(pattern, warning["message"]) for warning in release["warnings"])


@pytest.mark.parametrize("version", DOUBTS)
def test_every_published_doubt_is_a_warning(version: str) -> None:
    number = parse(version)
    for codename in {row["system"] for row in systems.support_group(number)["kernels"]}:
        release = resolve_release(version, host(codename))
        for field, status in DOUBTS[version].items():
            subject = {
                "driver": f"driver {release['driver']['version']}",
                "module": f"module of driver {release['driver']['version']}",
            }.get(field, f"{field} of ROCm {version}")
            assert said(release, f"fact-{status}", subject), (codename, subject)


@pytest.mark.parametrize("number", [number for number in matrix.releases() if matrix.releases()[number]["driver"]])
def test_a_row_in_doubt_is_never_silent(number: Version) -> None:
    """Nothing less than confirmed in the release, its driver and its kernels goes without a warning of that kind."""
    row = matrix.releases()[number]
    driver = matrix.drivers()[parse(row["driver"])]
    for codename in {kernel["system"] for kernel in systems.support_group(number)["kernels"]}:
        release = resolve_release(number.full, host(codename))
        found = {warning["id"] for warning in release["warnings"]}
        wanted = {kernel["status"] for kernel in release["kernels"]} | {row["status"], driver["status"]}
        wanted |= {status for _, status, _ in (*fields_in_doubt(row), *fields_in_doubt(driver))}
        assert {f"fact-{status}" for status in wanted - {"confirmed"}} <= found


def test_keys_that_amd_does_not_print_are_warned_about_unless_the_operator_chose_them() -> None:
    chosen = {"radeon": "A" * 40, "amd": "B" * 40}
    for version in ("6.0", "7.14", "10.0"):
        assert said(resolve_release(version, host("jammy")), "fact-third-party", "fingerprint of key radeon")
        messages = resolve_release(version, host("jammy"), fingerprints=chosen)["warnings"]
        assert not [warning for warning in messages if "key" in warning["message"]]


@pytest.mark.parametrize(
    ("version", "server"), [("7.14", "https://repo.amd.com"), ("10.0", "https://stable.repo.amd.com"), ("7.2.4", None)]
)
def test_reports_of_another_signing_key_are_told_where_its_server_is_used(version: str, server: str | None) -> None:
    release = resolve_release(version, host("noble"))
    other = "C367239A86C9B62AF49C921EFA296B056C5BB456"
    pinned = "D0F004A0025A1145C7807FCD0701EAC4D5E02107"
    told = said(release, "fact-third-party", f"signatures of {server} by {other} instead of {pinned}")
    assert told == (server is not None)
    mirrored = resolve_release(version, host("noble"), {"amd": "http://a.example", "amd_stable": "http://b.example"})
    assert mirrored["warnings"] == release["warnings"], "a mirror passes signatures on"


def test_a_reason_belongs_to_its_doubt() -> None:
    messages = [warning["message"] for warning in resolve_release("10.1", host("noble"))["warnings"]]
    assert not [message for message in messages if "rocm-smi" in message]


@pytest.mark.parametrize("version", ["6.0", "7.2.4", "10.0"])
def test_every_file_is_one_that_the_product_owns(version: str) -> None:
    release = resolve_release(version, host("jammy"))
    files = [source["file"] for source in release["sources"]] + [key["path"] for key in release["keys"]]
    files += [release[part]["file"] for part in ("pin", "ld_so") if release[part]]
    assert set(files) <= set(paths.OWNED_FILES)
    assert {source["keyring"] for source in release["sources"]} == {key["path"] for key in release["keys"]}


def test_previews_and_deltas_are_marked() -> None:
    kinds = {version: resolve_release(version, host("noble"))["kind"] for version in ("7.2.2", "7.12", "6.2.3", "7.14")}
    assert kinds == {"7.2.2": "delta", "7.12": "preview", "6.2.3": "radeon-only", "7.14": "production"}


def test_a_radeon_only_release_supports_no_data_centre_gpu() -> None:
    assert resolve_release("6.2.3", host("jammy"))["gfx"] == ["gfx906", "gfx1030", "gfx1100"]


@pytest.mark.parametrize(
    ("version", "codename", "series", "gpu", "listed"),
    [
        ("6.1", "jammy", "5.15", "Instinct MI300X", True),
        ("6.1", "jammy", "6.5", "Instinct MI300X", False),
        ("6.2.1", "jammy", "6.8", "Instinct MI300X", False),
        ("6.4", "bookworm", "6.1", "Instinct MI300X", True),
        ("6.4", "bookworm", "6.1", "Instinct MI250", False),
        ("7.0", "bookworm", "6.1", "Instinct MI210", True),
        ("7.0", "bookworm", "6.1", "Instinct MI100", False),
        ("7.0.2", "trixie", "6.12", "Instinct MI300X", True),
        ("7.0.2", "trixie", "6.12", "Instinct MI355X", False),
        ("7.0.2", "trixie", "6.12", "Radeon PRO V620", False),
        ("7.2.4", "trixie", "6.12", "Instinct MI100", False),
        ("7.14", "bookworm", "6.1", "Instinct MI250", True),
        ("7.14", "trixie", "6.12", "Instinct MI250", False),
        ("7.14", "bookworm", "6.1", "Instinct MI300A", True),
        ("7.14", "trixie", "6.12", "Instinct MI300A", False),
        ("7.14", "bookworm", "6.1", "Instinct MI350P", False),
        ("7.14", "trixie", "6.12", "Instinct MI350P", True),
        ("10.0", "bookworm", "6.1", "Instinct MI210", False),
        ("10.0", "bookworm", "6.1", "Instinct MI100", False),
        ("10.0", "noble", "6.8", "Radeon PRO W7900", False),
        ("10.0", "noble", "6.17", "Radeon PRO W7900", True),
        ("10.1", "trixie", "6.12", "Radeon PRO W7900", False),
    ],
)
def test_gpus_that_amd_lists_on_a_system(version: str, codename: str, series: str, gpu: str, listed: bool) -> None:
    family = gpu.partition(" ")[0].lower()
    rows = [row for row in resolve_release(version, host(codename))["kernels"] if row["series"] == series]
    assert rows
    named = {gpu, family}
    allowed = [
        row for row in rows if named.isdisjoint(row["without"]) and (not row["only"] or named & set(row["only"]))
    ]
    assert bool(allowed) == listed


def test_the_kernel_of_processors_with_gpu_is_named() -> None:
    packages = {kernel["package"]: kernel["only"] for kernel in resolve_release("7.14", host("noble"))["kernels"]}
    assert packages["linux-oem-24.04c"] == ["ryzen"]


@pytest.mark.parametrize(
    ("version", "codename", "prerequisites"),
    [
        ("6.2.4", "jammy", []),
        ("6.3", "jammy", ["python3-setuptools", "python3-wheel"]),
        ("10.0", "noble", ["libatomic1", "libquadmath0"]),
    ],
)
def test_prerequisites_follow_the_release(version: str, codename: str, prerequisites: list[str]) -> None:
    assert resolve_release(version, host(codename))["packages"]["prerequisites"] == prerequisites


def test_debian_has_no_package_of_extra_modules() -> None:
    packages = resolve_release("6.4", host("bookworm"))["packages"]
    assert packages["driver_prerequisites"] == ["linux-headers-{kernel}"]


def test_a_limit_of_a_kernel_row_is_in_the_answer() -> None:
    (kernel,) = resolve_release("6.3.1", {"codename": "bookworm"})["kernels"]
    assert "single node" in kernel["note"]


@pytest.mark.parametrize("driver", [0, False, [], {}])
def test_an_empty_driver_of_another_type_is_no_default(driver: object) -> None:
    with pytest.raises(DecisionError):
        resolve_release("6.4.0", {"codename": "noble"}, driver=driver)


def test_old_releases_have_the_opencl_directory() -> None:
    assert resolve_release("5.7.1", host("jammy"))["path"] == ["/opt/rocm/bin", "/opt/rocm/opencl/bin"]


def test_answers_are_fresh_and_the_matrix_stays_untouched() -> None:
    first = resolve_release("6.0", host("jammy"))
    kept = copy.deepcopy(first)
    scribble(first)
    assert resolve_release("6.0", host("jammy")) == kept
    with pytest.raises(TypeError):
        matrix.table("releases")["releases"][0]["version"] = "x"


def scribble(value: Any) -> None:
    """Destroy every list and mapping inside."""
    if isinstance(value, dict):
        for item in value.values():
            scribble(item)
        value["scribble"] = True
    elif isinstance(value, list):
        for item in value:
            scribble(item)
        value.append("scribble")


def test_a_call_takes_less_than_two_milliseconds() -> None:
    resolve_release("6.0", host("jammy"))
    best = min(timed() for _ in range(20))
    assert best < 0.002


def timed() -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    resolve_release("7.2.4", host("noble"))
    return time.perf_counter() - start


def test_the_error_survives_a_worker_process() -> None:
    error = refusal("6.5", host("jammy"))
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.id, copied.remedy) == (str(error), error.id, error.remedy)


VERSION_LIKE = st.from_regex(r"[0-9.v x-]{0,12}", fullmatch=True)


def outcome(*arguments: Any) -> str:
    """'resolved' or the id of the refusal; any other exception fails the test."""
    try:
        release = resolve_release(*arguments)
    except DecisionError as error:
        return error.id if str(error) else "silent"
    return "resolved" if all(text.isprintable() for text in strings(release)) else "unprintable"


@settings(max_examples=150)
@given(st.one_of(st.text(), VERSION_LIKE, st.floats(), st.none(), st.integers(), st.lists(st.integers())))
def test_any_version_resolves_or_is_refused(version: object) -> None:
    refusals = ("release-unknown", "release-preview", "os-release-mismatch")
    assert outcome(version, host("jammy")) in ("resolved", *refusals)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["id", "version_id", "codename"]), st.one_of(st.text(), st.integers())))
def test_any_system_resolves_or_is_refused(os: dict[str, object]) -> None:
    assert outcome("6.4", os) in ("resolved", "os-unsupported", "os-release-mismatch")


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(["radeon", "amd"]), st.one_of(st.text(), st.integers(), st.none())))
def test_any_mirror_is_used_or_refused(mirrors: dict[str, object]) -> None:
    assert outcome("6.0", host("jammy"), mirrors) in ("resolved", "wish-invalid")
