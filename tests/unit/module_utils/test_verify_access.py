"""The first checks: devices, KFD nodes, tools, settings, rocminfo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import verify_access
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import Report
from tests.unit.module_utils.logins import Answers, ToldLogin
from tests.unit.module_utils.tree import MakeHost

CAPTURES = Path(__file__).resolve().parents[2] / "captures" / "rocminfo"
DEVICES = {"/dev/kfd": "", "/dev/dri/renderD128": "", "/dev/dri/card0": ""}
ADDRESSES = ["0000:2f:00.0", "0000:32:00.0"]


def node(location: int, domain: int = 0) -> str:
    return (
        f"simd_count 416\nsimd_per_cu 4\ngfx_target_version 90402\ndevice_id 29857\nlocation_id {location}\n"
        f"domain {domain}\ndrm_render_minor 128\n"
    )


def topology(*nodes: str) -> dict[str, str]:
    base = "/sys/class/kfd/kfd/topology/nodes"
    rows = {f"{base}/{number}/properties": text for number, text in enumerate(nodes, start=1)}
    return {f"{base}/0/properties": "cpu_cores_count 64\nsimd_count 0\n", **rows}


def only(report: Report) -> dict[str, Any]:
    (check,) = report.checks
    return check


ACCESS: list[tuple[str, dict[str, str], Answers, str, str | None, str]] = [
    ("open", DEVICES, {}, "passed", None, "opens /dev/kfd and render nodes: 1"),
    ("no driver", {}, {}, "failed", "kfd-missing", "/dev/kfd does not exist"),
    ("no render node", {"/dev/kfd": ""}, {}, "failed", "driver-probe-failed", "no render node"),
    (
        "another vendor's node does not count",
        {**DEVICES, "/sys/class/drm/renderD128/device/vendor": "0x10de\n"},
        {},
        "failed",
        "driver-probe-failed",
        "no render node",
    ),
    (
        "group",
        DEVICES,
        {
            "exec 3": (0, "sh: 1: cannot create /dev/kfd: Permission denied\nrefused: /dev/kfd"),
            "id -nG": (0, "ada sudo"),
        },
        "failed",
        "kfd-permission",
        "/dev/kfd is -",
    ),
    (
        "container's device rules",
        DEVICES,
        {"exec 3": (0, "sh: 1: cannot create /dev/kfd: Operation not permitted\nrefused: /dev/kfd")},
        "failed",
        "kfd-open-failed",
        "Operation not permitted",
    ),
    (
        "no GPU accepted",
        DEVICES,
        {"exec 3": (0, "sh: 1: cannot create /dev/kfd: Cannot allocate memory\nrefused: /dev/kfd")},
        "failed",
        "kfd-no-usable-device",
        "Cannot allocate",
    ),
]


@pytest.mark.parametrize(
    ("tree", "answers", "status", "finding", "evidence"), [row[1:] for row in ACCESS], ids=[row[0] for row in ACCESS]
)
def test_devices(
    make_host: MakeHost, tree: dict[str, str], answers: Answers, status: str, finding: str | None, evidence: str
) -> None:
    report = Report()
    verify_access.check_devices(report, ToldLogin(answers), "", make_host(tree))
    check = only(report)
    assert (check["status"], check["finding"]) == (status, finding)
    assert evidence in check["evidence"]
    assert bool(check["remedy"]) is (status == "failed")


KFD: list[tuple[str, list[str], str, str | None, str, int]] = [
    ("all", [node(0x2F00), node(0x3200)], "passed", None, "2 GPUs on the PCI bus, 2 in KFD", 2),
    (
        "partitions",
        [node(0x2F00 + part) for part in range(8)] + [node(0x3200 + part) for part in range(8)],
        "passed",
        None,
        "2 in KFD, 16 nodes (8 partitions each)",
        16,
    ),
    ("one lacks", [node(0x2F00)], "failed", "kfd-device-failed", "not there: 0000:32:00.0", 1),
    ("none", [], "failed", "kfd-no-usable-device", "0 in KFD", 0),
    ("another domain", [node(0x2F00), node(0x3200, 1)], "failed", "kfd-device-failed", "0000:32:00.0", 2),
]


@pytest.mark.parametrize(
    ("nodes", "status", "finding", "evidence", "count"), [row[1:] for row in KFD], ids=[row[0] for row in KFD]
)
def test_kfd_nodes(
    make_host: MakeHost, nodes: list[str], status: str, finding: str | None, evidence: str, count: int
) -> None:
    report = Report()
    report.passed("device-access", "")
    assert verify_access.check_kfd(report, ADDRESSES, make_host(topology(*nodes))) == count
    check = report.checks[-1]
    assert (check["status"], check["finding"]) == (status, finding)
    assert evidence in str(check["evidence"])


def test_kfd_nodes_count_although_the_user_may_not_open_the_device(make_host: MakeHost) -> None:
    host = make_host(topology(node(0x2F00)))
    for finding, status in (("kfd-permission", "passed"), ("kfd-missing", "not run")):
        report = Report()
        report.failed("device-access", "", finding)
        verify_access.check_kfd(report, ADDRESSES[:1], host)
        assert report.checks[-1]["status"] == status


PLANNED = ["/opt/rocm/bin"]
OURS = "/opt/rocm/bin/rocminfo\n/opt/rocm/bin/hipcc"
PATHS: list[tuple[str, list[str], bool, str, str, str]] = [
    ("as planned", PLANNED, True, OURS, "passed", ""),
    (
        "the distribution's first",
        PLANNED,
        True,
        "/usr/bin/rocminfo\n/opt/rocm/bin/hipcc",
        "failed",
        "first on the PATH",
    ),
    ("nothing", PLANNED, True, "", "failed", "install rocminfo and hipcc"),
    ("no compiler", PLANNED, True, "/opt/rocm/bin/rocminfo", "failed", "install hipcc"),
    ("no compiler wanted", PLANNED, False, "/opt/rocm/bin/rocminfo", "passed", ""),
    (
        "unwanted compiler from elsewhere",
        PLANNED,
        False,
        "/opt/rocm/bin/rocminfo\n/usr/bin/hipcc",
        "failed",
        "first on",
    ),
    ("as found", [], False, "/usr/bin/rocminfo", "passed", ""),
    ("nothing found", [], False, "", "failed", "install rocminfo"),
]


@pytest.mark.parametrize(
    ("path", "compiler", "output", "status", "remedy"), [row[1:] for row in PATHS], ids=[row[0] for row in PATHS]
)
def test_path(path: list[str], compiler: bool, output: str, status: str, remedy: str) -> None:
    report = Report()
    verify_access.check_path(report, ToldLogin({"command -v": (0, output)}), path, compiler)
    check = only(report)
    assert check["status"] == status
    assert remedy in check["remedy"]


def test_tools_are_found_among_a_login_that_talks() -> None:
    answers = {"command -v": (0, f"/welcome to node 1\n{OURS}\n/usr/bin/cmake")}
    tools = verify_access.check_path(Report(), ToldLogin(answers), PLANNED, True)
    assert tools == {
        "rocminfo": "/opt/rocm/bin/rocminfo",
        "hipcc": "/opt/rocm/bin/hipcc",
        "cmake": "/usr/bin/cmake",
    }


@pytest.mark.parametrize(
    ("output", "finding"),
    [
        ("HSA_OVERRIDE_GFX_VERSION=10.3.0\nLD_LIBRARY_PATH=", "hsa-override-set"),
        ("HSA_OVERRIDE_GFX_VERSION=\nLD_LIBRARY_PATH=/opt/rocm/lib", "ld-library-path-set"),
        ("HSA_OVERRIDE_GFX_VERSION=\nLD_LIBRARY_PATH=/usr/lib/x\nHIP_VISIBLE_DEVICES=0", None),
        ("", None),
    ],
)
def test_settings_are_noted_and_fail_nothing(output: str, finding: str | None) -> None:
    report = Report()
    verify_access.check_settings(report, ToldLogin({"printf": (0, output)}))
    check = only(report)
    assert (check["status"], check["finding"], bool(check["remedy"])) == ("passed", finding, bool(finding))


def rocminfo_of(capture: str, code: int = 0, nodes: int = 1) -> tuple[dict[str, Any], list[str]]:
    report = Report()
    login = ToldLogin({"rocminfo": (code, (CAPTURES / capture).read_text())})
    agents = verify_access.check_rocminfo(report, login, nodes)
    return only(report), agents


def test_rocminfo_lists_the_agents() -> None:
    check, agents = rocminfo_of("11-mi300x-cpx-nps4-two-partitions.txt", nodes=2)
    assert (check["status"], check["evidence"], agents) == ("passed", "2 x gfx942", ["gfx942", "gfx942"])


def test_rocminfo_with_fewer_agents_than_nodes_fails() -> None:
    check, _ = rocminfo_of("11-mi300x-cpx-nps4-two-partitions.txt", nodes=3)
    assert (check["status"], check["finding"]) == ("failed", "hsa-init-failed")


@pytest.mark.parametrize(
    ("capture", "finding"),
    [("22-err-kfd-denied-not-member.txt", "kfd-permission"), ("25-err-kfd-missing.txt", "kfd-missing")],
)
def test_rocminfo_says_why_it_failed(capture: str, finding: str) -> None:
    check, agents = rocminfo_of(capture, code=1)
    assert (check["status"], check["finding"], agents) == ("failed", finding, [])


def test_what_depends_on_a_failed_check_names_it() -> None:
    report = Report()
    report.failed("device-access", "", "kfd-permission")
    assert verify_access.check_rocminfo(report, ToldLogin({}), 1) == []
    assert report.checks[-1]["evidence"] == "because of device-access"
    assert report.blocked("hip-run", "rocminfo")
    assert report.checks[-1]["evidence"] == "because of device-access"
    assert not report.good
