"""The release resolver against the addresses that AMD publishes, and its refusals."""

from __future__ import annotations

import copy
import json
import pickle
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix, systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import parse
from hypothesis import given, settings
from hypothesis import strategies as st

UBUNTU = {"bionic": "18.04", "focal": "20.04", "jammy": "22.04", "noble": "24.04", "resolute": "26.04"}
DEBIAN = {"bookworm": "12", "trixie": "13"}
ADDRESSES = yaml.safe_load((Path(__file__).parent / "published_addresses.yml").read_text(encoding="utf-8"))
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
        for codename in ("jammy", "noble", "resolute", "bookworm", "trixie")
        if directory_of(codename) in row["systems"]
    ]
    if (directory_of := lambda name: matrix_directory(name))  # noqa: E731
    else [],
)
def test_core_addresses(row: dict[str, Any], codename: str) -> None: ...
