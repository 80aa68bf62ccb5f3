"""Whether unattended-upgrades may bring a kernel that the driver was not built for."""

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import dpkg, unattended
from tests.unit.module_utils.hosts import NEXT_RELEASE, TIMER, record, ubuntu
from tests.unit.module_utils.tree import MakeHost, Tree

UPGRADES = "/etc/apt/apt.conf.d/20auto-upgrades"


def gather(make_host: MakeHost, changes: Tree, without: str = "") -> dict[str, object]:
    tree = {name: text for name, text in {**ubuntu(), **changes}.items() if name != without}
    host = make_host(tree)
    return unattended.gather(host, dpkg.read(host), NEXT_RELEASE)


def test_as_ubuntu_installs_it(make_host: MakeHost) -> None:
    assert gather(make_host, {}) == {"installed": True, "enabled": True, "kernel_excluded": False, "file": UPGRADES}


@pytest.mark.parametrize(
    ("changes", "file"),
    [
        ({UPGRADES: 'APT::Periodic::Unattended-Upgrade "0";'}, UPGRADES),
        ({UPGRADES: ""}, None),
        ({"/etc/apt/apt.conf.d/99off": 'APT::Periodic::Unattended-Upgrade "0";'}, "/etc/apt/apt.conf.d/99off"),
        ({"/etc/apt/apt.conf.d/99off": 'APT::Periodic::Enable "0";'}, UPGRADES),
        ({"/etc/systemd/system/apt-daily-upgrade.timer": "-> /dev/null"}, UPGRADES),
        ({TIMER: "", "/etc/systemd/system/timers.target.wants/fstrim.timer": ""}, UPGRADES),
        ({"/var/lib/dpkg/status": record("linux-image-generic", "6.8.0-44.44")}, UPGRADES),
        ({"/var/lib/dpkg/status": record("unattended-upgrades", "2", "deinstall ok config-files")}, UPGRADES),
    ],
    ids=["zero", "unset", "later-file", "master-switch", "masked", "disabled", "absent", "removed"],
)
def test_switched_off(make_host: MakeHost, changes: Tree, file: str | None) -> None:
    fact = gather(make_host, changes)
    assert (fact["enabled"], fact["file"]) == (False, file)


def test_a_host_without_systemd_has_cron_for_it(make_host: MakeHost) -> None:
    assert gather(make_host, {}, without=TIMER)["enabled"] is True


@pytest.mark.parametrize(
    ("patterns", "excluded"),
    [
        (["linux-"], True),
        (["linux-image-generic"], True),
        (["linux-image"], True),
        ([r"linux-image-\d+"], True),
        (["libc6$", "linux-image-.*-generic$"], True),
        (["linux-image-6.8.0-44-generic"], False),
        (["linux-headers-"], False),
        (["image"], False),
        (["linux-generic$"], False),
        (["linux-image-(", "amdgpu"], False),
        ([], False),
    ],
)
def test_blacklist(make_host: MakeHost, patterns: list[str], excluded: bool) -> None:
    text = "".join(f'Unattended-Upgrade::Package-Blacklist:: "{pattern}";\n' for pattern in patterns)
    assert gather(make_host, {"/etc/apt/apt.conf.d/51local": text})["kernel_excluded"] is excluded


@pytest.mark.parametrize(
    ("rows", "excluded"),
    [
        ({"linux-image-generic": "hold"}, True),
        ({"linux-image-generic": "hold", "linux-image-generic-hwe-24.04": "install"}, False),
        ({"linux-generic": "hold", "linux-image-generic": "install"}, False),
        ({"linux-image-amd64": "install"}, False),
        ({"linux-image-6.8.0-44-generic": "install", "linux-image-unsigned-6.8.0-44-generic": "install"}, True),
    ],
    ids=["hold", "one-of-two", "other-metapackage", "debian", "no-metapackage"],
)
def test_holds(make_host: MakeHost, rows: dict[str, str], excluded: bool) -> None:
    status = "".join(record(name, "1", f"{want} ok installed") for name, want in rows.items())
    assert gather(make_host, {"/var/lib/dpkg/status": status})["kernel_excluded"] is excluded
