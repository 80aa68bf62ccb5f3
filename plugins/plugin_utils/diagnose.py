"""Diagnoses as documents: of a host, of a text alone, and of a fleet.

Shape of a document (``HOST.diagnose.json``)::

    schema: 1
    kind: diagnosis
    host: name in the inventory, or of the file that the text came from
    state: found | clear | failed | unreachable; reason: why, of the last two
    symptom: what was asked for, or empty
    read: [what the evidence was looked for in]
    diagnoses: [{id, role, because_of, fits_symptom, likelihood, cause, evidence: [{source, text}], question, look,
                 remedy, stage, fixed_by, command, safe}]        # the likeliest cause first, see ranking.py
    questions: [{id, question, look}]  # where nothing explains the symptom
    repair: {stages, actions, left} or null                      # what remedy=apply may run, see repair.py
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis import fleet_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.host import evidence_of
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.ranking import REMARK, open_questions, ranked
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.repair import repairs
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.texts import kinds, read_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import LOST, PREFIXES

SCHEMA = 1
Document = dict[str, Any]


def diagnose_host(
    name: str, facts: Mapping[str, Any], plan: Mapping[str, Any], texts: Sequence[Mapping[str, Any]], symptom: str = ""
) -> Document:
    """The document of a host, from its facts, its plan and what rocm_diagnose read there."""
    diagnoses = ranked(evidence_of(facts, plan, texts), symptom, name)
    read = ["facts", "plan", *(row["source"] for row in texts)]
    return _document(name, symptom, read, diagnoses, repairs(diagnoses, plan))


def diagnose_text(name: str, text: str, symptom: str = "") -> Document:
    """The document of a text that somebody gave, whatever kind of output it is."""
    diagnoses = ranked(read_text(text, name), symptom)
    return _document(name, symptom, kinds(text) or ["text of no kind that is known here"], diagnoses, None)


def _document(
    name: str, symptom: str, read: Sequence[str], diagnoses: list[dict[str, Any]], repair: dict[str, Any] | None
) -> Document:
    found = any(row["role"] != REMARK for row in diagnoses)
    return {
        "schema": SCHEMA,
        "kind": "diagnosis",
        "host": name,
        "state": "found" if found else "clear",
        "reason": "",
        "symptom": symptom,
        "read": list(dict.fromkeys(read)),
        "diagnoses": diagnoses,
        "questions": open_questions(symptom, diagnoses),
        "repair": repair,
    }


def _without(name: str, state: str, reason: str, symptom: str) -> Document:
    """The document of a host that nothing can be said about."""
    return {**_document(name, "", [], [], None), "state": state, "reason": reason, "symptom": symptom}


def fleet_diagnosis(
    hosts: Mapping[str, Mapping[str, Any]], lost: Collection[str] = (), symptom: str = ""
) -> dict[str, Any]:
    """``{schema, kind, hosts: {name: document}, outcome, table}`` from what the run left for each host.

    That is ``diagnosis`` or ``failure``. Of ``outcome``, what is found counts as refused: it ends the run with 3.
    """
    documents: dict[str, Document] = {}
    for name in sorted(hosts, key=natural):
        document = _of_host(name, hosts[name], name in lost, symptom)
        documents[document["host"]] = document

    def names(state: str) -> list[str]:
        return [name for name, document in documents.items() if document["state"] == state]

    return {
        "schema": SCHEMA,
        "kind": "diagnosis",
        "hosts": documents,
        "outcome": {
            "unreachable": names("unreachable"),
            "failed": names("failed"),
            "refused": names("found"),
            "pending": [],
        },
        "table": fleet_text.text(documents),
    }


def _of_host(name: str, host: Mapping[str, Any], lost: bool, symptom: str) -> Document:
    failure = host.get("failure")
    if failure:
        state = "unreachable" if failure["kind"] == "unreachable" else "failed"
        return _without(name, state, PREFIXES.sub("", failure["message"]), symptom)
    if lost or not host.get("diagnosis"):
        return _without(name, "unreachable", LOST, symptom)
    return dict(host["diagnosis"])
