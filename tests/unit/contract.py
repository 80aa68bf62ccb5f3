"""The documented shape of the facts, as the samples in the module's RETURN block show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from ansible_collections.gpufleet.rocm.plugins.modules import rocm_facts

# Their keys are names of the host, not of the schema.
BY_NAME = ("packages", "files", "ldconfig", "users", "disk", "venvs[].packages")


def documented() -> dict[str, Any]:
    """The entries of `ansible_facts.rocm`."""
    returned: dict[str, Any] = yaml.safe_load(rocm_facts.RETURN)["ansible_facts"]["contains"]["rocm"]["contains"]
    return returned


def violations(facts: dict[str, Any]) -> list[str]:
    """Where facts and samples differ in keys or types; everything but a list may be null."""
    samples = {name: entry["sample"] for name, entry in documented().items()}
    return list(_compare("", samples, facts))


def _compare(place: str, sample: Any, value: Any) -> Iterator[str]:
    if sample is None or (value is None and not isinstance(sample, list)):
        return
    if type(value) is not type(sample):
        yield f"{place} is {type(value).__name__}, documented as {type(sample).__name__}"
    elif isinstance(value, list):
        for item in value if sample else []:
            yield from _compare(place + "[]", sample[0], item)
    elif isinstance(value, dict) and place in BY_NAME:
        shown = next(item for item in sample.values() if item is not None)
        for item in value.values():
            yield from _compare(place + ".*", shown, item)
    elif isinstance(value, dict):
        for key in sorted(set(value) ^ set(sample)):
            yield f"{place}.{key} is {'documented only' if key in sample else 'not documented'}"
        for key in sorted(set(value) & set(sample)):
            yield from _compare(f"{place}.{key}".lstrip("."), sample[key], value[key])
