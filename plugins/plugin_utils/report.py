"""What is told about a fleet: one document per host, one text for a terminal, and what the exit status depends on.

The document is the JSON artifact; ``data/report.schema.json`` describes it, and ``docs/report.md`` does so for people.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import fleet_text, rollout
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.consistency import inconsistencies
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural

SCHEMA = 1
GPU_FIELDS = ("address", "device", "name", "gfx", "driver", "integrated", "supported")
# Found neither by a plan nor by a caught failure: Ansible took the host out of the run.
LOST = "it stopped answering or failed outside of the roles; the reason is in the output above"
# A gate gives its own reason.
CUT_SHORT = "the run ended when it had lost every host of a batch"
# What ansible-core 2.19 and later put before a message.
PREFIXES = re.compile(r"^((Task|Action|Module) failed: )+")

# What playbooks and roles left behind for a host, each optional: plan, after (the plan after the run), verification,
# failure, and of a rollout state, held (why its batch must not start) and drained.
Host = Mapping[str, Any]


def fleet_plan(hosts: Mapping[str, Host], lost: Collection[str] = ()) -> dict[str, Any]:
    """What a run would do to each host; see `_fleet` for the result. ``lost`` are hosts that left the run."""
    return _fleet("plan", hosts, lost)


def fleet_report(
    hosts: Mapping[str, Host], lost: Collection[str] = (), batches: Sequence[str] = (), command: str = ""
) -> dict[str, Any]:
    """What a run did to each host and what it verified; see `_fleet` for the result.

    ``batches`` are the sizes of a rollout's batches, empty for a run that is none; ``command`` is what to run again.
    """
    return _fleet("report", hosts, lost, batches, command)


def _fleet(
    kind: str, hosts: Mapping[str, Host], lost: Collection[str], batches: Sequence[str] = (), command: str = ""
) -> dict[str, Any]:
    """``{schema, kind, hosts: {name: document}, inconsistent: [...], outcome: {...}, table: str}``.

    ``outcome`` lists the hosts that the exit status depends on: ``{unreachable, failed, refused, pending}``.
    """
    documents = {
        name: _document(kind, name, hosts[name], name in lost, bool(batches)) for name in sorted(hosts, key=natural)
    }
    differing = inconsistencies({name: host["plan"] for name, host in hosts.items() if host.get("plan")})
    for row in differing:
        for names in row.values.values():
            for name in names:
                documents[name]["warnings"].append(row.finding())
    rolling = bool(batches) and list(batches) != rollout.ONE_BATCH
    text = fleet_text.plan_text(documents) if kind == "plan" else fleet_text.report_text(documents, rolling, command)
    return {
        "schema": SCHEMA,
        "kind": kind,
        "hosts": documents,
        "inconsistent": [row.as_dict() for row in differing],
        "outcome": {
            "unreachable": _in_state(documents, "unreachable"),
            "failed": _in_state(documents, "failed"),
            "refused": _in_state(documents, "refused"),
            # After a run nothing is pending: what it could do is done.
            "pending": [name for name, row in documents.items() if fleet_text.pending(row)] if kind == "plan" else [],
        },
        "table": text,
    }


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
        "verification": verification.get("checks", []),
    }


def _wanted(plan: Mapping[str, Any]) -> dict[str, str | None]:
    release, torch = plan.get("release"), plan.get("torch")
    asked = plan.get("asked", {}).get("version")
    return {
        "rocm": release["version"] if release else None if asked is None else str(asked),
        "driver_mode": plan.get("driver_mode"),
        "driver": release["driver"]["version"] if release and plan["driver_mode"] == "dkms" else None,
        "torch": torch["packages"]["torch"] if torch else None,
    }


def _outcome(kind: str, host: Host, lost: bool) -> tuple[str, str]:
    """The host's state in a word or two, and why."""
    checks = (host.get("verification") or {}).get("checks", []) if kind == "report" else []
    failed = [f"{check['id']}: {check['evidence']}" for check in checks if check["status"] == "failed"]
    if failed:
        return "failed", "\n".join(failed)
    if host.get("failure"):
        return _failed(**host["failure"])
    if lost or not host.get("plan"):
        return "unreachable", LOST
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
    return "failed", f"{'invalid arguments' if kind == 'arguments' else task}: {message}"


def _warnings(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What holds after the run, and what an override let pass before it."""
    now = list(after.get("warnings", []))
    passed = [row for row in before.get("warnings", []) if row["id"] in before.get("allowed", []) and row not in now]
    return passed + now
