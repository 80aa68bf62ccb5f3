"""Differences between hosts that nobody asked for: the same wishes, and yet other versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Finding
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural, shortened

ID = "fleet-inconsistent"
Plan = Mapping[str, Any]


@dataclass(frozen=True)
class Aspect:
    """Something that hosts with the same ``wishes`` should share; ``value`` is None for a host that it is not about."""

    name: str
    value: Callable[[Plan], str | None]
    wishes: tuple[str, ...]
    remedy: str


ASPECTS = (
    Aspect(
        "ROCm",
        lambda plan: plan["release"]["version"],
        ("version",),
        "write rocm_version in full in the inventory",
    ),
    Aspect(
        "driver mode",
        # A host without an AMD GPU has nothing to drive.
        lambda plan: plan["driver_mode"] if plan["gpus"] else None,
        ("driver_mode", "packages"),
        "set rocm_driver_mode for each kind of host, or find out why these hosts differ",
    ),
    Aspect(
        "driver",
        lambda plan: plan["release"]["driver"]["version"] if plan["driver_mode"] == "dkms" else None,
        ("version", "driver_mode", "driver_version", "packages"),
        "set rocm_version to a release whose driver is the same on all of their systems",
    ),
    Aspect(
        "PyTorch",
        # None is a value here where PyTorch is wished: a host that goes without it differs from one that has it.
        lambda plan: plan["torch"]["torch"] if plan["torch"] else "none" if plan["wishes"].get("pytorch") else None,
        ("version", "pytorch", "pytorch_version"),
        "set rocm_pytorch_version to one that all of them can have, or give them the same Python",
    ),
)


@dataclass(frozen=True)
class Inconsistency:
    """One aspect in which hosts with the same wishes differ: each value with its hosts."""

    aspect: Aspect
    values: Mapping[str, tuple[str, ...]]

    def as_dict(self) -> dict[str, Any]:
        """``{id, what, values: [{value, hosts}], found, expected, remedy, message}``."""
        values = [{"value": value, "hosts": list(hosts)} for value, hosts in self.values.items()]
        return {"what": self.aspect.name, "values": values, **self.finding()}

    def finding(self) -> dict[str, str]:
        """The same as a warning of each host concerned."""
        found = "; ".join(f"{self.aspect.name} {value} on {shortened(hosts)}" for value, hosts in self.values.items())
        expected = f"the same {self.aspect.name} on hosts with the same wishes"
        return Finding(ID, found, expected, self.aspect.remedy).as_dict()


def inconsistencies(plans: Mapping[str, Plan]) -> list[Inconsistency]:
    """Every aspect in which hosts of the fleet differ although the wishes that decide it are the same.

    ``plans`` is host name to plan. Refused hosts get nothing and are left out.
    """
    return [
        Inconsistency(aspect, values) for aspect in ASPECTS for values in _by_wishes(aspect, plans) if len(values) > 1
    ]


def _by_wishes(aspect: Aspect, plans: Mapping[str, Plan]) -> Iterator[dict[str, tuple[str, ...]]]:
    """For each set of equal wishes: value to hosts, both in natural order."""
    groups: dict[str, dict[str, list[str]]] = {}
    for host in sorted(plans, key=natural):
        plan = plans[host]
        value = None if plan["state"] == "refused" else aspect.value(plan)
        if value is not None:
            wishes = json.dumps([plan["asked"].get(name) for name in aspect.wishes], sort_keys=True, default=str)
            groups.setdefault(wishes, {}).setdefault(value, []).append(host)
    for values in groups.values():
        yield {value: tuple(values[value]) for value in sorted(values, key=natural)}
