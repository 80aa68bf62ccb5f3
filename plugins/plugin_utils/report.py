"""What operators see: the plan of a fleet before a run, its outcome after, and one report per host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SCHEMA = 1
# Up to this many hosts each has a row of its own; above, hosts with the same outcome share one.
GROUP_ABOVE = 20
NAMES_SHOWN = 4

Host = Mapping[str, Any]


def plan_text(hosts: Mapping[str, Host]) -> str:
    """The plan of the fleet as an aligned table, then every refusal and warning with the hosts it concerns."""
    rows = {}
    for name, host in hosts.items():
        plan = host.get("plan")
        if not plan:
            rows[name] = ["no plan", "", "", "", ""]
            continue
        rows[name] = [
            {"change": "will change", "in-sync": "in sync", "refused": "refused"}[plan["state"]],
            _gpu_text(plan["gpus"]) if plan["release"] else "-",
            plan["release"]["version"] if plan["release"] else str(plan["wishes"].get("version", "")),
            _driver_text(plan),
            _change_text(plan),
        ]
    table = _table(["HOST", "PLAN", "AMD GPUS", "ROCM", "DRIVER", "CHANGES"], rows)
    return "\n".join([*table, *_finding_lines(hosts)])


def fleet_report(hosts: Mapping[str, Host]) -> dict[str, Any]:
    """Per-host reports and the result table: ``{schema, hosts: {name: report}, table: str}``."""
    reports = {name: _host_report(name, host) for name, host in hosts.items()}
    rows = {}
    for name, report in reports.items():
        actual, checks = report["actual"], report["verification"]
        rows[name] = [
            report["state"],
            actual.get("rocm") or "-",
            actual.get("driver") or "-",
            actual.get("torch") or "-",
            _check_text(checks),
            report["reason"].splitlines()[0] if report["reason"] else "",
        ]
    table = _table(["HOST", "RESULT", "ROCM", "DRIVER", "TORCH", "CHECKS", "REASON"], rows)
    notes = [
        f"  {check['id']}: {check['status']}: {check['evidence']}  [{_names(names)}]"
        for check, names in _checks_by_text(reports)
    ]
    text = "\n".join([*table, *(["", "Checks that did not pass:", *notes] if notes else [])])
    return {"schema": SCHEMA, "hosts": reports, "table": text}


def _host_report(name: str, host: Host) -> dict[str, Any]:
    before, after = host.get("plan"), host.get("after") or host.get("plan")
    verification = (host.get("verification") or {}).get("checks", [])
    state, reason = _outcome(host)
    return {
        "schema": SCHEMA,
        "host": name,
        "state": state,
        "reason": reason,
        "wanted": {
            "rocm": before["release"]["version"] if before and before["release"] else None,
            "driver": before["release"]["driver"]["version"] if before and before["release"] else None,
            "driver_mode": before["driver_mode"] if before else None,
            "torch": before["torch"]["packages"]["torch"] if before and before["torch"] else None,
        },
        "actual": after["actual"] if after else {},
        "gpus": after["gpus"] if after else [],
        "actions": before["actions"] if before else [],
        "reboot_required": bool(after and after["reboot"]),
        "refusals": before["refusals"] if before else [],
        "warnings": after["warnings"] if after else [],
        "allowed": before["allowed"] if before else [],
        "verified_as": (host.get("verification") or {}).get("user"),
        "verification": verification,
    }


def _outcome(host: Host) -> tuple[str, str]:
    """The host's state in a word or two, and why."""
    plan, failure = host.get("plan"), host.get("failure")
    checks = (host.get("verification") or {}).get("checks", [])
    if not plan:
        return "no plan", "unreachable, or reading and planning failed; the reason is above"
    failed = [check for check in checks if check["status"] == "failed"]
    if failed:
        return "failed", "\n".join(f"{check['id']}: {check['evidence']}" for check in failed)
    if failure:
        return "failed", f"{failure['task']}: {failure['message']}"
    refusals = "\n".join(finding["message"] for finding in plan["refusals"])
    if not checks:
        without = {"refused": ("refused", refusals), "change": ("would change", "")}
        return without.get(plan["state"], ("not verified", ""))
    now = host.get("after") or plan
    if not now["in_sync"]:
        return "drift", refusals or f"works, and site.yml would change {len(plan['actions'])} things"
    if now["reboot"]:
        return "reboot required", "the installed driver is not the loaded one"
    return ("in sync", "") if plan["in_sync"] else ("done", "")


def _gpu_text(gpus: Sequence[Mapping[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for gpu in gpus:
        label = f"{gpu['name'].replace('Instinct ', '')} {gpu['gfx']}" if gpu["name"] else f"1002:{gpu['device']}"
        counts[label] = counts.get(label, 0) + 1
    return ", ".join(f"{count} x {label}" for label, count in counts.items()) or "none"


def _driver_text(plan: Mapping[str, Any]) -> str:
    if plan["driver_mode"] is None:
        return ""
    if plan["driver_mode"] == "dkms":
        return f"dkms {plan['release']['driver']['version']}"
    return str(plan["driver_mode"])


def _change_text(plan: Mapping[str, Any]) -> str:
    if plan["state"] == "refused":
        return ", ".join(finding["id"] for finding in plan["refusals"])
    counts: dict[str, int] = {}
    for action in plan["actions"]:
        counts[action["stage"]] = counts.get(action["stage"], 0) + 1
    text = ", ".join(f"{stage} {count}" for stage, count in counts.items())
    return f"{text}; reboot" if plan["reboot"] else text


def _check_text(checks: Sequence[Mapping[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for check in checks:
        counts[check["status"]] = counts.get(check["status"], 0) + 1
    return ", ".join(f"{counts[status]} {status}" for status in ("passed", "failed", "not run") if status in counts)


def _finding_lines(hosts: Mapping[str, Host]) -> list[str]:
    lines: list[str] = []
    for kind in ("refusals", "warnings"):
        by_message: dict[str, list[str]] = {}
        for name, host in hosts.items():
            for finding in (host.get("plan") or {}).get(kind, []):
                by_message.setdefault(finding["message"], []).append(name)
        if by_message:
            lines += ["", kind.capitalize() + ":"]
            lines += [f"  {message}  [{_names(names)}]" for message, names in by_message.items()]
    return lines


def _checks_by_text(
    reports: Mapping[str, Mapping[str, Any]],
) -> list[tuple[Mapping[str, Any], list[str]]]:
    """Checks that did not pass, each once, with the hosts that had it."""
    groups: dict[tuple[str, str, str], tuple[Mapping[str, Any], list[str]]] = {}
    for name, report in reports.items():
        for check in report["verification"]:
            if check["status"] != "passed":
                key = (check["id"], check["status"], check["evidence"])
                groups.setdefault(key, (check, []))[1].append(name)
    return list(groups.values())


def _names(names: Sequence[str]) -> str:
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"


def _table(header: list[str], rows: Mapping[str, list[str]]) -> list[str]:
    """Aligned columns; a large fleet is grouped by identical outcome, with counts."""
    if len(rows) > GROUP_ABOVE:
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, row in rows.items():
            groups.setdefault(tuple(row), []).append(name)
        lines = [
            [f"{len(names)} hosts: {_names(names)}" if len(names) > 1 else names[0], *row]
            for row, names in groups.items()
        ]
    else:
        lines = [[name, *row] for name, row in rows.items()]
    cells = [header, *lines]
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
