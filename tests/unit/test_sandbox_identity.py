"""What a sandbox host passes for, run through a shell as at creation."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.errors import SandboxError
from sandbox.fleet import hosts, identity
from sandbox.shell import run


def written(system: str, root: Path) -> dict[str, str]:
    """The identity files that the script leaves below a folder that stands for the host's root."""
    (root / "usr/lib").mkdir(parents=True)
    (root / "etc").mkdir()
    (root / "usr/lib/os-release.distrib").write_text("ID=debian\n")
    (root / "etc/lsb-release").write_text("DISTRIB_CODENAME=jammy\n")
    text = identity.script(system).replace(" /usr/", f" {root}/usr/").replace(" /etc/", f" {root}/etc/")
    run(["sh", "-e"], stdin=text)
    return {path.name: path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("system", "version"), [("jammy", "22.04"), ("noble", "24.04"), ("focal", "20.04")])
def test_ubuntu(system: str, version: str, tmp_path: Path) -> None:
    files = written(system, tmp_path)
    assert f'VERSION_ID="{version}"' in files["os-release"].splitlines()
    assert f"UBUNTU_CODENAME={system}" in files["os-release"].splitlines()
    assert f"DISTRIB_CODENAME={system}" in files["lsb-release"].splitlines()
    assert "stand-in" in files["gpufleet-sandbox"]
    assert f"identity files of Ubuntu {version}" in files["gpufleet-sandbox"]


def test_debian_is_itself(tmp_path: Path) -> None:
    files = written("debian-12", tmp_path)
    assert files["os-release"] == "ID=debian\n"
    assert "lsb-release" not in files
    assert "stand-in" in files["gpufleet-sandbox"]


def test_unknown_system_names_the_known_ones() -> None:
    with pytest.raises(SandboxError, match="jammy, noble, focal, debian-12"):
        identity.script("sid")


def test_host_file_with_and_without_a_system(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yml"
    file.write_text("a: {address: 10.77.0.90, profile: cpu}\nb: {address: 10.77.0.91, profile: cpu, system: noble}\n")
    loaded = hosts.load(file)
    assert (loaded["a"].system, loaded["b"].system) == ("jammy", "noble")
    file.write_text("a: {adress: 10.77.0.90}\n")
    with pytest.raises(SandboxError, match="expected 'name:"):
        hosts.load(file)
