"""Fleets of any size with hosts of every kind, as a site has them after a run, and the run before it."""

from __future__ import annotations

from functools import cache
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_plan, fleet_report
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_fleet import fleet_document
from tests.unit.documents import plan_of
from tests.unit.facts_builder import bare_server, booted, carried_out, gpu, wishes

YESTERDAY, TODAY = "2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z"
MARKUP = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>&amp;"\'\u202e\x1b\u2028'
CHECKS = ("groups", "session", "linker", "rocminfo", "hip-compile", "hip-run", "torch-import", "torch-gpus")
# Device ids of MI250X, MI300X and MI210, and how many a server has.
MODELS = (("740c", 4), ("74a1", 8), ("740f", 2))


@cache
def server(model: int) -> dict[str, Any]:
    """Facts of a bare server."""
    device, count = MODELS[model]
    gpus = [gpu(device, f"0000:{0x10 + 5 * number:02x}:00.0") for number in range(count)]
    return bare_server(gpus=gpus)


@cache
def plan(kind: str, model: int) -> dict[str, Any]:
    """The plan of a server that is bare, settled, or something is wrong with."""
    bare = server(model)
    todo = plan_of(bare)
    settled = booted(carried_out(bare, todo), todo)
    waiting = {**settled["driver"], "on_disk": {**settled["driver"]["on_disk"], "srcversion": "B" * 24}}
    facts = {
        "bare": bare,
        "settled": settled,
        "no user": {**bare, "users": {}},
        "secure boot": {**bare, "secure_boot": "enabled"},
        "reboot": {**settled, "driver": waiting},
        "no group": {**settled, "users": bare["users"]},
    }
    return plan_of(facts[kind])


def verified(number: int, failing: str = "") -> dict[str, Any]:
    """A verification whose evidence is different on every host."""
    checks = [
        {
            "id": name,
            "status": "failed" if name == failing else "passed",
            "evidence": f"{name}: unable to open /dev/kfd on node {number}: permission denied"
            if name == failing
            else f"{name} on node {number}: as expected, {number * 37 % 1000} MB free",
            "seconds": 0.4,
            "finding": "kfd-permission" if name == failing else None,
            "remedy": "log in again, or start the service again" if name == failing else "",
        }
        for name in CHECKS
    ]
    return {"checks": checks, "passed": not failing, "user": "ada"}


def host(number: int, day: int) -> dict[str, Any]:
    """What a run left behind for one host; on the second day some are worse and some are better."""
    model = number // 7 % len(MODELS)
    settled, bare = plan("settled", model), plan("bare", model)
    kind = (number + (day if number % 29 == 5 else 0)) % 24
    if kind == 1:
        return {"failure": {"kind": "unreachable", "task": "Read the host", "message": "ssh: connect: timed out"}}
    if kind == 2:
        message = f"amdgpu-dkms: bad exit status 10 at build {number}"
        return {"plan": bare, "failure": {"kind": "task", "task": "Install the driver", "message": message}}
    if kind in (3, 4):
        return {"plan": plan("no user" if kind == 3 else "secure boot", model)}
    if kind == 5:
        return {"plan": plan("reboot", model), "verification": verified(number)}
    if kind == 6:
        return {"plan": plan("no group", model), "verification": verified(number)}
    if kind == 7:
        return {"plan": settled, "verification": verified(number, "rocminfo")}
    if kind == 8:
        return {"plan": bare, "held": "1 of 2 hosts failed so far"}
    if kind in (9, 10, 11):
        return {"plan": bare, "after": settled, "verification": verified(number), "state": "done"}
    return {"plan": settled, "verification": verified(number)}


def fleet(size: int, kind: str = "report") -> dict[str, Any]:
    """A fleet document with the drift since the day before."""
    make, parts = (fleet_report, None) if kind == "report" else (fleet_plan, ("plan", "failure"))
    days = [
        {
            f"gpu{number:04}": {part: left for part, left in host(number, day).items() if not parts or part in parts}
            for number in range(day * 2, size + day * 2)
        }
        for day in (0, 1)
    ]
    before = fleet_document(make(days[0]), YESTERDAY)
    return fleet_document(make(days[1]), TODAY, previous=before)


def hostile() -> dict[str, Any]:
    """A fleet in which every text that comes from a host or an inventory is markup."""
    finding = dict.fromkeys(("found", "expected", "remedy", "message"), MARKUP)
    bad = plan_of(bare_server(users={}), **wishes())
    for row in (*bad["refusals"], *bad["warnings"]):
        row.update(finding)
    for row in (*bad["gpus"], *bad["actions"]):
        row.update({key: MARKUP for key in ("name", "gfx", "target", "reason") if key in row})
    bad["actual"] = dict.fromkeys(bad["actual"], MARKUP)
    checks = verified(1, "rocminfo")
    for check in checks["checks"]:
        check["evidence"] = MARKUP
    failure = {"kind": "unreachable", "task": MARKUP, "message": MARKUP}
    hosts = {MARKUP: {"plan": bad}, f"b{MARKUP}": {"failure": failure}, "c": {"plan": bad, "verification": checks}}
    before = fleet_document(fleet_report({f"z{MARKUP}": {"failure": failure}, "c": {"plan": bad}}), YESTERDAY)
    return fleet_document(fleet_report(hosts), TODAY, inventory=[f"z{MARKUP}", *hosts], previous=before)
