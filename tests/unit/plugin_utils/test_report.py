"""What operators see, for one host and for many."""

from __future__ import annotations

from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_report, plan_text
from tests.unit.facts_builder import answers, bare_server, carried_out, wishes


def planned(**facts: Any) -> dict[str, Any]:
    host = bare_server(**facts)
    return make_plan(host, wishes(), answers(make_plan(host, wishes())))


def check(status: str, name: str = "rocminfo") -> dict[str, Any]:
    return {"id": name, "status": status, "evidence": "because", "seconds": 0.1}


def verified(*checks: dict[str, Any]) -> dict[str, Any]:
    return {"checks": list(checks), "passed": all(row["status"] != "failed" for row in checks), "user": "ada"}


def in_sync() -> dict[str, Any]:
    host = bare_server()
    done = carried_out(host, planned())
    return make_plan(done, wishes(), answers(make_plan(done, wishes())))


def test_plan_of_a_small_fleet_has_a_row_per_host() -> None:
    text = plan_text({"a": {"plan": planned()}, "longer-name": {"plan": in_sync()}, "gone": {}})
    lines = text.splitlines()
    assert lines[0].split()[:2] == ["HOST", "PLAN"]
    assert lines[1].startswith("a            will change  2 x MI250")
    assert lines[2].startswith("longer-name  in sync")
    assert lines[3].startswith("gone         no plan")


def test_plan_of_a_large_fleet_is_grouped_by_outcome() -> None:
    hosts = {f"node{number:03}": {"plan": planned()} for number in range(400)}
    hosts["node399"] = {"plan": planned(users={"ada": None})}
    text = plan_text(hosts)
    assert "399 hosts: node000, node001, node002, node003 and 395 more" in text
    assert len(text.splitlines()) < 12
    assert text.count("user-unknown: ") == 1
    assert "[node399]" in text


def test_states() -> None:
    reports = fleet_report(
        {
            "fresh": {"plan": planned(), "after": in_sync(), "verification": verified(check("passed"))},
            "same": {"plan": in_sync(), "verification": verified(check("passed"), check("not run", "hip-run"))},
            "refused": {"plan": planned(users={"ada": None})},
            "broken": {"plan": planned(), "failure": {"task": "Install", "message": "no space"}},
            "wrong": {"plan": in_sync(), "verification": verified(check("failed"))},
            "dry": {"plan": planned()},
            "drifted": {"plan": planned(), "verification": verified(check("passed"))},
            "somebody's": {"plan": planned(users={"ada": None}), "verification": verified(check("passed"))},
            "away": {},
        }
    )["hosts"]
    assert {name: report["state"] for name, report in reports.items()} == {
        "fresh": "done",
        "same": "in sync",
        "refused": "refused",
        "broken": "failed",
        "wrong": "failed",
        "dry": "would change",
        "drifted": "drift",
        "somebody's": "drift",
        "away": "no plan",
    }
    assert reports["broken"]["reason"] == "Install: no space"
    assert reports["wrong"]["reason"] == "rocminfo: because"
    assert reports["refused"]["reason"].startswith("user-unknown: ")


def test_not_run_is_never_counted_as_passed() -> None:
    host = {"plan": in_sync(), "verification": verified(check("passed"), check("not run", "hip-run"))}
    table = fleet_report({"same": host})["table"]
    assert "1 passed, 1 not run" in table
    assert "hip-run: not run: because  [same]" in table


def test_pending_reboot_is_not_done() -> None:
    host = bare_server()
    done = carried_out(host, planned())
    disk = {"path": "/lib/modules/x/updates/dkms/amdgpu.ko", "version": "6.3.6", "srcversion": "AAA"}
    done["driver"] = {**done["driver"], "on_disk": disk}
    after = make_plan(done, wishes(), answers(make_plan(done, wishes())))
    reports = fleet_report({"a": {"plan": planned(), "after": after, "verification": verified(check("not run"))}})
    assert reports["hosts"]["a"]["state"] == "reboot required"
