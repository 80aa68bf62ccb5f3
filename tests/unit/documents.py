"""Plans as the tests of reports need them, and the schemas that every document of a host and of a fleet must fit."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from referencing import Registry, Resource

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from tests.unit.facts_builder import answers, bare_server, wishes

SCHEMA = json.loads((matrix.DATA / "report.schema.json").read_text(encoding="utf-8"))
FLEET_SCHEMA = json.loads((matrix.DATA / "fleet.schema.json").read_text(encoding="utf-8"))
REGISTRY: Registry[Any] = Registry().with_resource("report.schema.json", Resource.from_contents(SCHEMA))


def validate(document: dict[str, Any]) -> None:
    """Raise where a document is not what its schema says."""
    jsonschema.Draft202012Validator(SCHEMA).validate(document)


def validate_fleet(document: dict[str, Any]) -> None:
    """Raise where a document of a fleet is not what its schema says."""
    jsonschema.Draft202012Validator(FLEET_SCHEMA, registry=REGISTRY).validate(document)


def plan_of(host: dict[str, Any], **asked: Any) -> dict[str, Any]:
    """The plan for these facts, with healthy servers."""
    first = make_plan(host, wishes(**asked))
    return make_plan(host, wishes(**asked), answers(first) if first["release"] else None)


def planned(**facts: Any) -> dict[str, Any]:
    """The plan for a bare server with these facts."""
    return plan_of(bare_server(**facts))
