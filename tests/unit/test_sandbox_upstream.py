"""The stand-in servers publish what the matrix names: addresses, suites, keys, wheels."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.torch_wheels import resolve_torch
from sandbox.upstream import amdgpu, amdrocm, debs, rocm, shelf, wheels
from sandbox.upstream.debs import Package

FOCAL = {"id": "ubuntu", "version_id": "20.04", "codename": "focal"}
JAMMY = {"id": "ubuntu", "version_id": "22.04", "codename": "jammy"}
NOBLE = {"id": "ubuntu", "version_id": "24.04", "codename": "noble"}
DEBIAN = {"id": "debian", "version_id": "12", "codename": "bookworm"}
PUBLISHED = [
    ("5.7", [FOCAL, JAMMY]),
    ("6.0", [JAMMY]),
    ("6.0.2", [JAMMY]),
    ("6.4.2", [JAMMY, NOBLE, DEBIAN]),
    ("7.1.1", [JAMMY, NOBLE, DEBIAN]),
    ("7.2.4", [JAMMY, NOBLE, DEBIAN]),
    ("7.14", [JAMMY, NOBLE, DEBIAN]),
    ("10.0", [JAMMY, NOBLE, DEBIAN]),
]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and versions need no package of the distribution."""
    monkeypatch.setattr("sandbox.upstream.donors.fetch", lambda _names: {})
    shelf.archives.cache_clear()


def packages(path: str, suite: str) -> dict[str, Package]:
    """The packages of one suite by name."""
    (found,) = [item for item in shelf.archives()[path].suites if item.name == suite]
    return {package.name: package for package in found.packages}


@pytest.mark.parametrize(
    ("version", "os"), [(version, os) for version, systems in PUBLISHED for os in systems], ids=lambda value: str(value)
)
def test_every_source_of_a_release_is_published_with_its_packages(version: str, os: dict[str, str]) -> None:
    release = resolve_release(version, os)
    offered: dict[str, Package] = {}
    for source in release["sources"]:
        path = source["uri"].removeprefix("https://").rstrip("/")
        offered |= packages(path, source["suite"])
    assert set(release["packages"]["default"]) <= set(offered)
    assert set(release["packages"]["driver"]) <= set(offered)
    build = release["driver"]["build"]
    assert build is None or f".{build}-" in offered["amdgpu-dkms"].version
    module = release["driver"]["dkms_module"]
    assert module is None or offered["amdgpu-dkms"].version.startswith(f"1:{module}.")
    default = offered[release["packages"]["default"][0]].version
    assert default.startswith(f"{release['version']}." if release["build"] else f"{release['version']}-")
    assert all(key["url"].removeprefix("https://") in key_places() for key in release["keys"])


def key_places() -> set[str]:
    return {"repo.radeon.com/rocm/rocm.gpg.key", *amdrocm.key_paths()}


@pytest.mark.parametrize("version", ["5.7", "6.0", "6.4.2", "7.1.1", "7.2.4", "7.14", "10.0"])
def test_default_wheels_of_every_release_are_published(version: str) -> None:
    data: dict[str, Any] = yaml.safe_load(wheels.DATA.read_text())
    wanted = resolve_torch(version, "3.11")
    name = f"rocm{wanted['rocm_index']}"
    found = list(wheels.torch_wheels(name, data["indexes"][name], wheels.wheel_sets(data)[wanted["torch"]], []))
    assert wanted["torch"] in data["indexes"][name]["torch"]
    assert {f"{wheel.project}=={wheel.version}" for wheel in found if "cp311" in wheel.tag} >= set(wanted["pins"])


@pytest.mark.parametrize(("python", "tag"), [("3.9", "cp39-cp39"), ("3.11", "cp311-cp311"), ("3.13t", "cp313-cp313t")])
def test_wheel_tags(python: str, tag: str) -> None:
    assert wheels.python_tag(python) == tag


def test_dependencies_on_amd_packages_can_be_met_inside_each_suite() -> None:
    ours = {name for archive in shelf.archives().values() for suite in archive.suites for name in names(suite.packages)}
    for archive in shelf.archives().values():
        if "/rocm/" not in archive.path:
            continue
        for suite in archive.suites:
            here = names(suite.packages)
            for package in suite.packages:
                wanted = {item.split()[0] for item in package.depends if "|" not in item}
                assert not (wanted & ours) - here, package.name


def names(found: tuple[Package, ...]) -> set[str]:
    return {package.name for package in found}


def test_new_stream_is_signed_by_its_own_key_and_names_its_origin() -> None:
    for archive in amdrocm.archives():
        (suite,) = archive.suites
        assert (suite.name, suite.origin) == ("stable", "AMD ROCm")
        assert "repo.amd.com" in suite.signer


def test_versions_of_one_release_end_alike() -> None:
    data = rocm.load()
    table = rocm.versions(data, "7.2.4", data["releases"]["7.2.4"], "noble")
    assert table["rocm-core"] == "7.2.4.70204-93~24.04"
    assert all(version.endswith(".70204-93~24.04") for version in table.values())


def test_graphics_left_the_driver_archive_in_7() -> None:
    found = {archive.path: archive for archive in amdgpu.archives()}
    assert "libdrm2-amdgpu" in names(found["repo.radeon.com/amdgpu/6.4.2/ubuntu"].suites[0].packages)
    assert "libdrm2-amdgpu" not in names(found["repo.radeon.com/amdgpu/30.30.4/ubuntu"].suites[0].packages)
    assert "libdrm2-amdgpu" in names(found["repo.radeon.com/graphics/7.2.4/ubuntu"].suites[0].packages)


def test_packages_are_well_formed(tmp_path: Any) -> None:
    """Read back with dpkg's own tool."""
    from sandbox.shell import run

    package = Package("sample", "1.0-1", ("libc6",), scripts={"postinst": "#!/bin/sh\nexit 0\n"}, fill=one_file)
    file = debs.build(package, tmp_path)
    assert run(["dpkg-deb", "--field", file, "Package", "Version", "Depends"]).stdout.split("\n")[:3] == [
        "Package: sample",
        "Version: 1.0-1",
        "Depends: libc6",
    ]
    assert "root/root" in run(["dpkg-deb", "--contents", file]).stdout
    unpacked = debs.unpack(file, tmp_path / "out")
    assert (unpacked / "opt/x").read_text() == "x\n"


def one_file(root: Any) -> None:
    (root / "opt").mkdir()
    (root / "opt/x").write_text("x\n")
