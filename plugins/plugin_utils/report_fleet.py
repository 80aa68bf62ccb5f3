"""The whole fleet as one document: what ``report.json`` holds, and what the page, JUnit and Prometheus are made of.

``data/fleet.schema.json`` describes it, and ``docs/report.md`` does so for people.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.fleet_text import STATES
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.grouping import grouped
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_drift import drift
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_stages import stage_words

SCHEMA = 1
Document = Mapping[str, Any]
# What is compared with what is wanted, and the stage that brings it.
VERSIONED = {"rocm": "sdk", "driver": "driver", "torch": "pytorch"}
# What helps with a host that no decision speaks about.
REMEDIES = {
    "unreachable": "see that the host is up and lets Ansible in, then run again",
    "failed": "put right what was found, then run again: what is done already is not done twice",
}
# The worst first.
KINDS = ("unreachable", "failed", "refusal", "allowed", "warning")


def fleet_document(
    fleet: Mapping[str, Any],
    time: str,
    check_mode: bool = False,
    inventory: Collection[str] = (),
    previous: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The document for what `report.fleet_plan` or `report.fleet_report` returned.

    Hosts of the ``inventory`` that this run left out keep what the ``previous`` document says about them.
    """
    previous = previous or {}
    earlier = _earlier(fleet, inventory, previous)
    kept = {name: previous["hosts"][name] for name in earlier if name not in fleet["hosts"]}
    hosts = {**fleet["hosts"], **kept}
    hosts = {name: hosts[name] for name in sorted(hosts, key=natural)}
    stages = {name: stage_words(document) for name, document in hosts.items()}
    states = [document["state"] for document in hosts.values()]
    document = {
        "schema": SCHEMA,
        "kind": fleet["kind"],
        "check_mode": check_mode,
        "time": time,
        "counts": {state: states.count(state) for state in STATES},
        "gpus": gpu_rows(hosts),
        "versions": version_rows(hosts, stages),
        "stages": stages,
        "findings": finding_rows(hosts),
        "inconsistent": fleet["inconsistent"],
        "earlier": earlier,
        "hosts": hosts,
    }
    return {**document, "drift": drift(previous, document) if previous else None}


def _earlier(fleet: Mapping[str, Any], inventory: Collection[str], previous: Mapping[str, Any]) -> dict[str, str]:
    """Hosts whose document is of an earlier run, with the time of that run, or where that is lost its day."""
    before = {name: previous["earlier"].get(name, previous["time"]) for name in previous.get("hosts", ())}
    known = frozenset(inventory)
    left_out = {name: time for name, time in before.items() if name in known and name not in fleet["hosts"]}
    shown_again = {name: before.get(name, f"{day}T00:00:00Z") for name, day in fleet["days"].items()}
    return {**left_out, **shown_again}


def gpu_rows(hosts: Mapping[str, Document]) -> list[dict[str, Any]]:
    """Every kind of GPU with its number and its hosts, the most frequent first."""
    fields = ("name", "gfx", "device", "integrated", "supported")
    found = grouped(
        (tuple(gpu[field] for field in fields), name) for name, document in hosts.items() for gpu in document["gpus"]
    )
    rows = [
        {**dict(zip(fields, kind, strict=True)), "count": len(names), "hosts": list(dict.fromkeys(names))}
        for kind, names in found.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["device"]))


def version_rows(hosts: Mapping[str, Document], stages: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """For ROCm, driver and PyTorch each pair of wanted and actual with its hosts and what the two come to."""
    found = grouped(
        ((what, wanted, actual, _match(document, stages[name][stage], what)), name)
        for name, document in hosts.items()
        for what, stage in VERSIONED.items()
        for wanted, actual in [(_wanted(document, what), document["actual"][what])]
        if wanted or actual
    )
    rows = [
        {"what": what, "wanted": wanted, "actual": actual, "match": match, "hosts": names}
        for (what, wanted, actual, match), names in found.items()
    ]
    return sorted(rows, key=lambda row: (list(VERSIONED).index(row["what"]), row["match"] == "as wanted"))


def _wanted(document: Document, what: str) -> str | None:
    wanted = document["wanted"]
    if what != "driver":
        return str(wanted[what]) if wanted[what] else None
    return " ".join(part for part in (wanted["driver_mode"], wanted["driver"]) if part) or None


def _match(document: Document, word: str, what: str) -> str:
    """The stage decides: the module of driver release 6.0 has another number than the release."""
    if word in ("ok", "changed"):
        return "after a reboot" if what == "driver" and document["reboot_required"] else "as wanted"
    return "unknown" if word in ("unknown", "unfinished") else "differs"


def finding_rows(hosts: Mapping[str, Document]) -> list[dict[str, Any]]:
    """Every finding once, the worst first: its remedy, and each piece of evidence with its hosts."""
    found = grouped(
        ((kind, row["id"], row["expected"], row["remedy"]), (row["found"], name))
        for name, document in hosts.items()
        for kind, row in findings(document)
    )
    rows = [
        {
            "kind": kind,
            "id": id,
            "expected": expected,
            "remedy": remedy,
            "evidence": [{"found": text, "hosts": names} for text, names in grouped(evidence).items()],
        }
        for (kind, id, expected, remedy), evidence in found.items()
    ]
    return sorted(rows, key=lambda row: (KINDS.index(row["kind"]), -len(hosts_of(row))))


def hosts_of(finding: Mapping[str, Any]) -> list[str]:
    """The hosts of one row of `finding_rows`."""
    return sorted({name for row in finding["evidence"] for name in row["hosts"]}, key=natural)


def findings(document: Document) -> Iterator[tuple[str, Mapping[str, str]]]:
    """What one host needs attention for: kind, and ``id``, ``found``, ``expected``, ``remedy``."""
    failed = [check for check in document["verification"] if check["status"] == "failed"]
    for check in failed:
        yield "failed", _of_check(check)
    if document["state"] in ("failed", "unreachable") and not failed:
        yield document["state"], _plain(document["state"], document["reason"], REMEDIES[document["state"]])
    for row in document["refusals"]:
        yield "refusal", row
    for row in document["warnings"]:
        yield "allowed" if row["id"] in document["allowed"] else "warning", row
    for check in document["verification"]:
        if check not in failed and check["finding"]:
            yield "warning", _of_check(check)


def _of_check(check: Mapping[str, Any]) -> dict[str, str]:
    """The finding of a check, or the check itself where what is wrong has no id of its own."""
    found = f"{check['id']}: {check['evidence']}" if check["finding"] else check["evidence"]
    return _plain(check["finding"] or check["id"], found, check["remedy"] or REMEDIES["failed"])


def _plain(id: str, found: str, remedy: str) -> dict[str, str]:
    return {"id": id, "found": found, "expected": "", "remedy": remedy}
