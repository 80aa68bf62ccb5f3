"""What evidence means: causes before their consequences, those before remarks, the likely ones first."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.evidence import Evidence
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table

CAUSE, CONSEQUENCE, REMARK = ROLES = ("cause", "consequence", "remark")
LIKELIHOODS = ("often", "sometimes", "seldom", "remark")
# Of each id; more of the same tells nothing new.
EVIDENCE_LIMIT = 5
QUESTIONS = 5
ANYWHERE = "HOST"
Row = Mapping[str, Any]


def rows() -> Mapping[str, Row]:
    """The table of diagnoses, by id."""
    found: Mapping[str, Row] = table("diagnoses")["diagnoses"]
    return found


@cache
def causes(symptom: str) -> tuple[str, ...]:
    """The ids that can be behind a symptom, the likeliest first."""
    return tuple(id for group in table("diagnoses")["symptoms"][symptom]["causes"] for id in group)


def because_of(id: str, found: Collection[str]) -> list[str]:
    """Which of the ids that were found bring this one about: directly, or over one step that left no trace."""
    direct = rows()[id].get("after", ())
    hidden = [further for one in direct if one not in found for further in rows()[one].get("after", ())]
    return [one for one in dict.fromkeys([*direct, *hidden]) if one in found and one != id]


def check_symptom(symptom: str) -> None:
    """Raise DecisionError for a symptom that is none of the table; empty stands for no particular one."""
    known = table("diagnoses")["symptoms"]
    if symptom and symptom not in known:
        raise DecisionError(
            "wish-invalid", f"diagnose_symptom is {symptom!r}", f"one of {', '.join(known)}", "correct diagnose_symptom"
        )


def ranked(evidence: Iterable[Evidence], symptom: str = "", host: str = ANYWHERE) -> list[dict[str, Any]]:
    """The diagnoses for this evidence, the likeliest cause first. Without evidence there is none."""
    check_symptom(symptom)
    by_id: dict[str, list[Evidence]] = {}
    for row in evidence:
        by_id.setdefault(row.id, []).append(row)
    asked = causes(symptom) if symptom else ()
    result = [_diagnosis(id, found, set(by_id), asked, host) for id, found in by_id.items()]
    return sorted(result, key=lambda row: _order(row, asked))


def _order(row: Row, asked: Sequence[str]) -> tuple[int, int, int, int]:
    place = asked.index(row["id"]) if row["id"] in asked else len(asked)
    return (
        ROLES.index(row["role"]),
        place,
        LIKELIHOODS.index(row["likelihood"]),
        list(rows()).index(row["id"]),
    )


def _diagnosis(
    id: str, found: Sequence[Evidence], all: Collection[str], asked: Sequence[str], host: str
) -> dict[str, Any]:
    row = rows()[id]
    because = because_of(id, all)
    stage = row.get("stage")
    unique = {(one.source, one.shown()): one for one in found}
    advice = next((one.remedy for one in found if one.remedy), "")
    return {
        "id": id,
        "role": _role(row, because, id in asked),
        "because_of": because,
        "fits_symptom": id in asked if asked else None,
        "likelihood": row["likelihood"],
        "cause": decisions()[id]["cause"],
        "evidence": [{"source": one.source, "text": text} for (_, text), one in unique.items()][:EVIDENCE_LIMIT],
        "question": row["question"],
        "look": row.get("look", ""),
        "remedy": advice or row["remedy"],
        "stage": stage,
        "fixed_by": f"gpufleet.rocm.rocm_{stage}" if stage else None,
        "command": command(stage, host) if stage else "",
        "safe": bool(row.get("safe")),
    }


def _role(row: Row, because: Sequence[str], asked: bool) -> str:
    if row["likelihood"] == REMARK and not asked:
        return REMARK
    return CONSEQUENCE if because else CAUSE


def command(stage: str, host: str) -> str:
    """What runs one part of site.yml on a host, for a shell."""
    only = json.dumps({"rocm_plan_stages": [stage]})
    limit = host if host == ANYWHERE else shlex.quote(host)
    return f"ansible-playbook site.yml --limit {limit} -e {shlex.quote(only)}"


def open_questions(symptom: str, diagnoses: Sequence[Row]) -> list[dict[str, str]]:
    """Where nothing explains the symptom: what to look at next, the likeliest cause first."""
    if not symptom or any(row["fits_symptom"] and row["role"] == CAUSE for row in diagnoses):
        return []
    known = {row["id"] for row in diagnoses}
    asked = [(id, rows()[id]) for id in causes(symptom) if id not in known]
    with_look = [(id, row) for id, row in asked if "look" in row]
    return [{"id": id, "question": row["question"], "look": row["look"]} for id, row in with_look[:QUESTIONS]]
