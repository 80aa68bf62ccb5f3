"""Checks in the terminal: one block for each outcome, aligned, with the hosts that share it."""

from __future__ import annotations

from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import check_text


def check(id: str, status: str, evidence: str = "", finding: str | None = None, remedy: str = "") -> dict[str, Any]:
    return {"id": id, "status": status, "evidence": evidence, "seconds": 0, "finding": finding, "remedy": remedy}


def document(*checks: dict[str, Any]) -> dict[str, Any]:
    return {"verification": list(checks)}


def denied(group: int = 0) -> dict[str, Any]:
    why = "because of device-access"
    return document(
        check("device-access", "failed", f"/dev/kfd is crw-------, group {group}", "kfd-permission", "name the user"),
        check("kfd-nodes", "passed", "2 GPUs"),
        *(check(name, "not run", why) for name in ("rocminfo", "hip-run", "torch-gpu")),
        check("hip-cmake", "not run", "cmake is not installed", None, "install cmake"),
    )


def test_hosts_with_the_same_outcome_share_an_aligned_block() -> None:
    good = document(check("rocminfo", "passed"))
    fleet = {"a1": denied(), "a2": denied(), "b": good}
    assert check_text.lines(fleet) == [
        "Checks that did not pass:",
        "  a1, a2:",
        "    FAILED   device-access           kfd-permission: /dev/kfd is crw-------, group 0",
        "                                     Next: name the user",
        "    not run  rocminfo ... torch-gpu  because of device-access",
        "    not run  hip-cmake               cmake is not installed",
        "                                     Next: install cmake",
    ]
    assert check_text.lines({"b": good}) == []


def test_evidence_that_differs_does_not_split_a_block() -> None:
    lines = check_text.lines({f"n{number}": denied(number % 2) for number in range(1, 401)})
    assert len(lines) == 8
    assert lines[1] == "  all 400 hosts:"
    assert "group 1  [" in lines[2]
    assert lines[3].strip().startswith("kfd-permission: /dev/kfd is crw-------, group 0  [")


def test_another_outcome_is_another_block() -> None:
    noted = document(check("login-settings", "passed", "without HSA_OVERRIDE_GFX_VERSION=10", "hsa-override-set"))
    lines = check_text.lines({"a": denied(), "b": noted})
    assert lines[-2:] == [
        "  b:",
        "    noted  login-settings  hsa-override-set: without HSA_OVERRIDE_GFX_VERSION=10",
    ]


def test_evidence_of_several_lines_stays_in_its_column() -> None:
    lines = check_text.lines({"a": document(check("hip-run", "failed", "exit 1:\nno device"))})
    assert lines[2:] == ["    FAILED  hip-run  exit 1:", "                     no device"]


def test_reason_of_a_failed_check() -> None:
    failed = check("device-access", "failed", "/dev/kfd", "kfd-permission", "name the user")
    assert check_text.reason(failed) == "device-access: kfd-permission: /dev/kfd. Next: name the user"
    assert check_text.reason({"id": "rocminfo", "status": "failed", "evidence": "because"}) == "rocminfo: because"
