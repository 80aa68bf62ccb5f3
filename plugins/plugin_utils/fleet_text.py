"""A fleet as text for a terminal, at three hosts as at a thousand: one table, then every message once, in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import check_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.alike import KERNELS, merged, skeleton
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.fleet_table import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import shortened

# Characters in a line of the table where nobody says how wide the terminal is.
WIDTH = 116
# Up to this many hosts each has a row of its own; above, hosts with the same outcome share one.
ROW_PER_HOST = 20
# What needs attention comes first.
STATES = (
    "unreachable",
    "failed",
    "refused",
    "reboot required",
    "drift",
    "will change",
    "not verified",
    "done",
    "in sync",
)

# Of a rollout: what tells more than the result.
UNFINISHED = ("waiting", "draining", "installing", "rebooting", "verifying", "restoring")

Document = Mapping[str, Any]
Documents = Mapping[str, Document]
Key = TypeVar("Key")
Value = TypeVar("Value")


def plan_text(documents: Documents, width: int = WIDTH) -> str:
    """What a run would do: the table, every finding with its hosts, and the changes in their order."""
    header = ["PLAN", "AMD GPUS", "ROCM", "DRIVER", "TORCH", "CHANGES"]
    table_lines = _table(header, _plan_row, documents, width)
    return _text(table_lines, *_finding_sections(documents), _change_lines(documents))


def report_text(
    documents: Documents,
    rolling: bool = False,
    command: str = "",
    earlier: Mapping[str, str] | None = None,
    width: int = WIDTH,
) -> str:
    """What a run did: the table, every finding with its hosts, the checks that did not pass, and how to resume.

    ``rolling`` is whether hosts were changed batch by batch, ``command`` what is to be run again, ``earlier`` the day
    of each host that this run has nothing of.
    """
    header = ["RESULT", "ROCM", "DRIVER", "TORCH", "CHECKS", "REASON"]
    row = _report_row
    # The result says all of a run in one batch that came to its end.
    if rolling or any(host["drained"] or host["rollout"] in UNFINISHED for host in documents.values()):
        header.insert(1, "STATE")
        row = _rolling_row
    sections = [*_finding_sections(documents), check_text.lines(documents), _drift_lines(documents)]
    sections += [_resume_lines(documents, command), _earlier_lines(documents, earlier or {})]
    return _text(_table(header, row, documents, width), *sections)


def _text(*sections: Sequence[str]) -> str:
    """Sections with a blank line between them, free of what would disturb a terminal or a YAML block."""
    lines = [line for section in sections if section for line in ("", *section)][1:]
    return "\n".join("".join(char if char.isprintable() else " " for char in line).rstrip() for line in lines)


def _plan_row(document: Document) -> list[str]:
    wanted = document["wanted"]
    driver = " ".join(part for part in (wanted["driver_mode"], wanted["driver"]) if part)
    gpus = _gpu_text(document["gpus"]) if wanted["driver_mode"] else "-"
    versions = [wanted["rocm"] or "-", driver or "-", wanted["torch"] or "-"]
    return [document["state"], gpus, *versions, _short_reason(document) or _change_count(document)]


def _report_row(document: Document) -> list[str]:
    actual = [document["actual"][part] or "-" for part in ("rocm", "driver", "torch")]
    counts = Counter(check["status"] for check in document["verification"])
    checks = ", ".join(f"{counts[status]} {status}" for status in ("passed", "failed", "not run") if status in counts)
    return [document["state"], *actual, checks, _short_reason(document)]


def _rolling_row(document: Document) -> list[str]:
    result, *more = _report_row(document)
    state = [document["rollout"] or "-", *(["drained"] if document["drained"] else [])]
    return [result, ", ".join(state), *more]


def _gpu_text(gpus: Sequence[Document]) -> str:
    names = (
        f"{gpu['name'].replace('Instinct ', '')} {gpu['gfx']}" if gpu["name"] else f"1002:{gpu['device']}"
        for gpu in gpus
    )
    return ", ".join(f"{count} x {name}" for name, count in Counter(names).items()) or "none"


def _change_count(document: Document) -> str:
    count = len(document["actions"])
    changes = f"{count} change{'s' if count > 1 else ''}" if count else ""
    return ", ".join(part for part in (changes, "reboot" if document["reboot_required"] else "") if part)


def _short_reason(document: Document) -> str:
    """The ids or the task behind the reason, which stands in full below the table."""
    if document["state"] in ("refused", "drift"):
        return ", ".join(dict.fromkeys(finding["id"] for finding in document["refusals"])) or _change_count(document)
    if document["state"] != "failed":
        return ""
    checks = [check["id"] for check in document["verification"] if check["status"] == "failed"]
    return ", ".join(checks) or str(document["reason"]).partition(": ")[0]


def _table(header: Sequence[str], row: Callable[[Document], list[str]], documents: Documents, width: int) -> list[str]:
    """Aligned columns, what needs attention first; a large fleet is grouped by equal rows."""
    ordered = sorted(documents.items(), key=lambda item: STATES.index(item[1]["state"]))
    if len(documents) <= ROW_PER_HOST:
        return table(["HOST", *header], [[name, *row(document)] for name, document in ordered], width)
    groups = _grouped((tuple(row(document)), name) for name, document in ordered)
    room = width // 3
    rows = [[str(len(names)), *group, shortened(names, len(documents), room)] for group, names in groups.items()]
    return table(["HOSTS", *header, "NAMES"], rows, width)


def _finding_sections(documents: Documents) -> list[list[str]]:
    """Reasons of lost hosts, then refusals, overrides and warnings: each message once, with its hosts."""
    kinds: dict[str, Callable[[Document], Iterable[Document]]] = {
        "Refused:": lambda document: document["refusals"],
        "Allowed by rocm_allow:": lambda document: _warnings(document, allowed=True),
        "Warnings:": lambda document: _warnings(document, allowed=False),
    }
    sections = [_reason_lines(documents, state) for state in ("unreachable", "failed")]
    for title, select in kinds.items():
        lines = _finding_lines(documents, select)
        sections.append([title, *lines] if lines else [])
    return sections


def _warnings(document: Document, allowed: bool) -> list[Document]:
    return [finding for finding in document["warnings"] if (finding["id"] in document["allowed"]) is allowed]


def _reason_lines(documents: Documents, state: str) -> list[str]:
    found = merged((row["reason"], name) for name, row in documents.items() if row["state"] == state)
    lines = [line for reason, names in found for line in _with_names(reason, names, documents)]
    return [f"{state.capitalize()}:", *lines] if lines else []


def _finding_lines(documents: Documents, select: Callable[[Document], Iterable[Document]]) -> list[str]:
    """One line where all hosts have the same evidence, else one line of evidence below the common part."""
    found = _grouped(
        ((finding["id"], *(skeleton(finding[part]) for part in ("expected", "remedy"))), (finding, name))
        for name, document in documents.items()
        for finding in select(document)
    )
    lines: list[str] = []
    for rows in found.values():
        common = {(finding["expected"], finding["remedy"]) for finding, _ in rows}
        if len({finding["message"] for finding, _ in rows}) == 1 or len(common) > 1:
            messages = merged((finding["message"], name) for finding, name in rows)
            lines += [line for text, names in messages for line in _with_names(text, names, documents)]
            continue
        lines.append("  {id}: expected {expected}. Next: {remedy}".format_map(rows[0][0]))
        for text, names in merged((finding["found"], name) for finding, name in rows):
            lines += ["  " + line for line in _with_names(f"found {text}", names, documents)]
    return lines


def _resume_lines(documents: Documents, command: str) -> list[str]:
    """Which hosts a rollout left behind, and how to go on from there."""
    rows = documents.items()
    waiting = [(row["reason"], name) for name, row in rows if row["rollout"] == "waiting"]
    drained = [name for name, row in rows if row["drained"]]
    lines = []
    for reason, names in _grouped(waiting).items():
        lines += _with_names(f"no further batch started: {reason}", names, documents)
    if drained:
        lines += _with_names("still drained; a run gives them back once their checks pass", drained, documents)
    if not lines:
        return []
    failed = [name for name, row in rows if row["rollout"] in ("failed", *UNFINISHED[1:])]
    repair = f"put right what is said above about {shortened(failed)}, then run" if failed else "run"
    again = f"  Next: {repair} the same command again; it skips the hosts that are finished:"
    return ["Left to do:", *lines, again, f"    {command}"]


def _change_lines(documents: Documents) -> list[str]:
    """What happens on the hosts that will change, once for each group with the same changes."""
    lines = _step_lines(documents, [name for name, document in documents.items() if pending(document)])
    return ["Changes, in this order:", *lines] if lines else []


def _drift_lines(documents: Documents) -> list[str]:
    """What differs on hosts that work and are not as wanted; why site.yml would refuse others is among the refusals."""
    drifted = [name for name, row in documents.items() if row["state"] == "drift" and not row["refusals"]]
    if not drifted:
        return []
    remedy = "  Next: run site.yml to bring them back, or put the inventory right where the hosts are."
    return ["Drifted; site.yml would change, in this order:", *_step_lines(documents, drifted), remedy]


def _step_lines(documents: Documents, names: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for steps, alike in merged((("\n".join(_steps(documents[name])), name) for name in names), KERNELS):
        lines.append(f"  {shortened(alike, len(documents))}:")
        lines += [f"    {number:2}. {step}" for number, step in enumerate(steps.splitlines(), start=1)]
    return lines


def _earlier_lines(documents: Documents, days: Mapping[str, str]) -> list[str]:
    """Hosts that are shown as an earlier run left them."""
    found = _grouped((day, name) for name, day in days.items())
    lines = [line for day in sorted(found) for line in _with_names(f"unchanged since {day}", found[day], documents)]
    remedy = "  Next: run playbooks/verify.yml to see how they are now."
    return ["As earlier runs left them; nothing ran for these hosts now:", *lines, remedy] if lines else []


def pending(document: Document) -> bool:
    """Whether a run of site.yml is left to do on the host: nothing is where one has just been."""
    if document["kind"] == "report":
        return bool(document["state"] == "drift")
    reboots = document["state"] == "reboot required" and document["reboot_allowed"]
    return bool(document["state"] == "will change" or reboots)


def _steps(document: Document) -> list[str]:
    steps = [(row["stage"], f"{row['action']} {row['target']} ({row['reason']})") for row in document["actions"]]
    if document["reboot_required"] and document["reboot_allowed"]:
        before = sum(stage in ("repo", "driver") for stage, _ in steps)
        steps.insert(before, ("reboot", "by the run, as rocm_reboot_ok allows"))
    elif document["reboot_required"]:
        steps.append(("reboot", "left to you"))
    width = max((len(stage) for stage, _ in steps), default=0)
    return [f"{stage.ljust(width)}  {text}" for stage, text in steps]


def _with_names(text: str, names: Sequence[str], documents: Documents) -> list[str]:
    """A message, of several lines maybe, with the hosts that it is about."""
    first, *more = text.strip().splitlines() or [""]
    return [f"  {first}  [{shortened(names, len(documents))}]", *(f"    {line}" for line in more)]


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
