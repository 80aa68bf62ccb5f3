"""What is told about a fleet: one document per host, one text for a terminal, and what the exit status depends on.

The document is the JSON artifact; ``data/report.schema.json`` describes it, and ``docs/report.md`` does so for people.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import check_text, fleet_text, rollout
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.consistency import Inconsistency, inconsistencies
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.wishes import said

SCHEMA = 1
GPU_FIELDS = ("address", "device", "name", "gfx", "driver", "integrated", "supported")
# Found neither by a plan nor by a caught failure: Ansible took the host out of the run.
LOST = "it stopped answering or failed outside of the roles; the reason is in the output above"
# No role of the collection ran for it, and no earlier run left a report.
UNTOLD = (
    "found nothing about this host: neither this run nor an earlier one left a result; expected a run before the "
    "report. Next: run playbooks/verify.yml or site.yml, or set rocm_report_dir to the folder of an earlier run"
)
# A gate gives its own reason.
CUT_SHORT = "the run ended when it had lost every host of a batch"
# Ansible says what it found in a variable and what it expected.
CORRECT = "Next: correct the variable in the inventory (README, Variables)"
# What ansible-core 2.19 and later put before a message.
PREFIXES = re.compile(r"^((Task|Action|Module) failed: )+")


@dataclass(frozen=True)
class Earlier:
    """The document of a host that an earlier run left, and the day since which it is as it is."""

    document: Mapping[str, Any]
    day: str


# What playbooks and roles left behind for a host, each optional: plan, after (the plan after the run), verification,
# failure, and of a rollout state, held (why its batch must not start) and drained.
Host = Mapping[str, Any]


def fleet_plan(hosts: Mapping[str, Host], lost: Collection[str] = (), width: int = fleet_text.WIDTH) -> dict[str, Any]:
    """What a run would do to each host; see `_fleet` for the result.

    ``lost`` are hosts that left the run, ``width`` is that of the table.
    """
    documents = _documents("plan", hosts, lost)
    differing = _add_inconsistencies(documents, hosts)
    return _fleet("plan", documents, differing, {}, fleet_text.plan_text(documents, width))


def fleet_report(
    hosts: Mapping[str, Host],
    lost: Collection[str] = (),
    batches: Sequence[str] = (),
    command: str = "",
    earlier: Mapping[str, Earlier] | None = None,
    width: int = fleet_text.WIDTH,
) -> dict[str, Any]:
    """What a run did to each host and what it verified; see `_fleet` for the result.

    ``batches`` are the sizes of a rollout's batches, empty for a run that is none; ``command`` is what to run again.
    ``earlier`` is what earlier runs left of hosts that this one has nothing of.
    """
    documents = _documents("report", hosts, lost, rolled=bool(batches))
    told = {name: row for name, row in (earlier or {}).items() if row.document.get("reason") != UNTOLD}
    for name, row in told.items():
        documents[name] = {**documents[name], **row.document}
    differing = _add_inconsistencies(documents, hosts)
    rolling = bool(batches) and list(batches) != rollout.ONE_BATCH
    days = {name: row.day for name, row in told.items()}
    text = fleet_text.report_text(documents, rolling, command, days, width)
    return _fleet("report", documents, differing, days, text)


def untold(hosts: Mapping[str, Host], lost: Collection[str]) -> list[str]:
    """The hosts that a run has nothing of and did not lose either."""
    return [name for name, host in hosts.items() if not host and name not in lost]


def _fleet(
    kind: str,
    documents: Mapping[str, dict[str, Any]],
    differing: Sequence[Inconsistency],
    days: Mapping[str, str],
    text: str,
) -> dict[str, Any]:
    """``{schema, kind, hosts: {name: document}, inconsistent: [...], days: {...}, outcome: {...}, table: str}``.

    ``days`` are those of the hosts whose document is of an earlier run. ``outcome`` lists the hosts that the exit
    status depends on: ``{unreachable, failed, refused, pending}``.
    """
    return {
        "schema": SCHEMA,
        "kind": kind,
        "hosts": documents,
        "inconsistent": [row.as_dict() for row in differing],
        "days": dict(days),
        "outcome": {
            "unreachable": _in_state(documents, "unreachable"),
            "failed": _in_state(documents, "failed"),
            "refused": _in_state(documents, "refused"),
            "pending": [name for name, row in documents.items() if fleet_text.pending(row)],
        },
        "table": text,
    }


def _documents(
    kind: str, hosts: Mapping[str, Host], lost: Collection[str], rolled: bool = False
) -> dict[str, dict[str, Any]]:
    gone = frozenset(lost)
    return {name: _document(kind, name, hosts[name], name in gone, rolled) for name in sorted(hosts, key=natural)}


def _add_inconsistencies(documents: Mapping[str, dict[str, Any]], hosts: Mapping[str, Host]) -> list[Inconsistency]:
    """Warn of each difference on the hosts that it is about; return the differences."""
    differing = inconsistencies({name: host["plan"] for name, host in hosts.items() if host.get("plan")})
    for row in differing:
        for name in itertools.chain.from_iterable(row.values.values()):
            documents[name]["warnings"].append(row.finding())
    return differing


def _in_state(documents: Mapping[str, Mapping[str, Any]], state: str) -> list[str]:
    return [name for name, document in documents.items() if document["state"] == state]


def _document(kind: str, name: str, host: Host, lost: bool, rolled: bool) -> dict[str, Any]:
    before = host.get("plan") or {}
    after = host.get("after") or before
    verification = host.get("verification") or {}
    state, reason = _outcome(kind, host, lost)
    progress = rollout.progress(host) if rolled else None
    return {
        "schema": SCHEMA,
        "kind": kind,
        "host": name,
        "state": state,
        "reason": reason or (CUT_SHORT if progress == "waiting" else ""),
        "rollout": progress,
        "drained": host.get("drained", before.get("drained", False)),
        "wanted": _wanted(before),
        "actual": {part: after["actual"][part] if after else None for part in ("rocm", "driver", "torch")},
        "gpus": [{field: gpu[field] for field in GPU_FIELDS} for gpu in after.get("gpus", [])],
        "stages": [name for name, stage in before.get("stages", {}).items() if not stage.get("skipped")],
        "actions": before.get("actions", []),
        "reboot_required": after.get("reboot", False),
        "reboot_allowed": after.get("wishes", {}).get("reboot_ok") is True,
        "refusals": before.get("refusals", []),
        "warnings": _warnings(before, after),
        "allowed": list(dict.fromkeys(before.get("allowed", []))),
        "verified_as": verification.get("user"),
        "verification": [{"finding": None, "remedy": "", **check} for check in verification.get("checks", [])],
    }


def _wanted(plan: Mapping[str, Any]) -> dict[str, str | None]:
    release, torch = plan.get("release"), plan.get("torch")
    asked = said(plan.get("asked", {}).get("version"))
    return {
        "rocm": release["version"] if release else None if asked is None else str(asked),
        "driver_mode": plan.get("driver_mode"),
        "driver": release["driver"]["version"] if release and plan["driver_mode"] == "dkms" else None,
        "torch": torch["packages"]["torch"] if torch else None,
    }


def _outcome(kind: str, host: Host, lost: bool) -> tuple[str, str]:
    """The host's state in a word or two, and why."""
    checks = (host.get("verification") or {}).get("checks", []) if kind == "report" else []
    failed = [check_text.reason(check) for check in checks if check["status"] == "failed"]
    if failed:
        return "failed", "\n".join(failed)
    if host.get("failure"):
        return _failed(**host["failure"])
    if lost:
        return "unreachable", LOST
    if not host.get("plan"):
        return "failed", UNTOLD
    before, after = host["plan"], host.get("after") or host["plan"]
    refusals = "\n".join(finding["message"] for finding in after["refusals"])
    if not after["in_sync"]:
        if checks:
            return "drift", refusals or f"works, and site.yml would change {len(after['actions'])} things"
        return ("refused", refusals) if refusals else ("will change", host.get("held", ""))
    if kind == "report" and not checks:
        return "not verified", ""
    if after["reboot"]:
        return "reboot required", "the installed driver is not the loaded one"
    # A host that was only rebooted or given back needed no other change.
    return ("in sync" if before["in_sync"] and host.get("state") != "done" else "done"), ""


def _failed(kind: str, task: str, message: str) -> tuple[str, str]:
    """The outcome of a host that could not be reached, planned, changed or verified."""
    message = masked(PREFIXES.sub("", message))
    if kind == "unreachable":
        return "unreachable", message
    if kind == "arguments":
        return "failed", f"invalid arguments: {message}\n{CORRECT}"
    return "failed", f"{task}: {message}"


def _warnings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What holds after the run, and what an override let pass before it."""
    now = list(after.get("warnings", []))
    passed = [row for row in before.get("warnings", []) if row["id"] in before.get("allowed", []) and row not in now]
    return passed + now
