"""Readings of a host against the profiles of its GPUs: a pure function from the module's answer to findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import COMPACTION, NUMA_BALANCING
from ansible_collections.gpufleet.rocm.plugins.module_utils.tuning_files import FILES
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Finding
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.iommu import passes_through
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.pcie import pcie_link
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.profiles import (
    CERTAIN,
    Gpu,
    Profile,
    pages,
    profiles_of,
    reason,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.said import Said, by_value

Readings = Mapping[str, Any]
# None: it could not be read. An empty list: it is as it should be.
Judge = Callable[[Readings, Sequence[Gpu], Row], "list[Said] | None"]

# What a guest sees of these is its hypervisor's affair.
BARE_METAL = ("iommu-passthrough", "iommu-off", "pcie-link", "power-cap", "cpu-governor", "partition-modes")
# Levels that hold the clocks down. Others are the driver's own choice or somebody's for a purpose.
SLOW_LEVELS = ("low", "profile_min_sclk", "profile_min_mclk")
MILLION = 1000000


class Advice(NamedTuple):
    """One finding and where it comes from."""

    setting: str
    finding: Finding
    row: Row

    def as_dict(self) -> dict[str, Any]:
        """The form in reports and on the terminal."""
        return {
            **self.finding.as_dict(),
            "setting": self.setting,
            "why": reason(self.row),
            "status": self.row["status"],
            "source": pages(self.row),
        }


@dataclass
class Outcome:
    """``fine`` and ``unknown`` are settings; ``skipped`` is why nothing was judged."""

    profiles: list[str] = field(default_factory=list)
    findings: list[Advice] = field(default_factory=list)
    fine: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    skipped: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, with `checks` for the report of a verification."""
        return {
            "profiles": self.profiles,
            "findings": [advice.as_dict() for advice in self.findings],
            "fine": self.fine,
            "unknown": self.unknown,
            "skipped": self.skipped,
            "checks": self._checks(),
        }

    def _checks(self) -> list[dict[str, Any]]:
        """Findings are to be known and fail no host: nothing of this keeps a program from running."""
        if self.skipped:
            return [_check("performance", "not run", self.skipped)]
        parts = [f"as asked for {', '.join(self.profiles)}: {', '.join(self.fine) or 'nothing'}"]
        parts += [f"not readable: {', '.join(self.unknown)}"] if self.unknown else []
        return [
            _check("performance", "passed", "; ".join(parts)),
            *(
                _check(
                    f"performance-{advice.setting}",
                    "passed",
                    f"{advice.finding.found}; expected {advice.finding.expected}",
                    advice.finding.id,
                    f"{advice.finding.remedy}. {reason(advice.row)}",
                )
                for advice in self.findings
            ),
        ]


def _check(name: str, status: str, evidence: str, finding: str | None = None, remedy: str = "") -> dict[str, Any]:
    return {"id": name, "status": status, "evidence": evidence, "seconds": 0.0, "finding": finding, "remedy": remedy}


def performance(readings: Readings, gpus: Sequence[Gpu], profiles: Sequence[Row] | None = None) -> Outcome:
    """Judge what the module read. ``gpus`` are those of the readings, ``profiles`` the table unless given."""
    found = profiles_of(gpus, profiles)
    why = unchangeable(readings) or ("" if found else "no AMD GPU that a profile is for")
    if why:
        return Outcome(skipped=why)
    outcome = Outcome([profile.name for profile in found])
    guest = readings["virtualization"]["kind"] == "vm"
    for profile in found:
        for row in profile.rows:
            _judge(readings, profile, row, guest, outcome)
    outcome.fine = [name for name in outcome.fine if name not in [advice.setting for advice in outcome.findings]]
    return outcome


def unchangeable(readings: Readings) -> str:
    """Why kernel and firmware are not this host's own; empty where they are."""
    name = readings["virtualization"]["name"]
    return {
        "container": f"a container ({name}) has the kernel of the machine below",
        "wsl": "Windows has the kernel and the GPUs of this host",
    }.get(readings["virtualization"]["kind"], "")


def _judge(readings: Readings, profile: Profile, row: Row, guest: bool, outcome: Outcome) -> None:
    setting = row["setting"]
    said = None if guest and setting in BARE_METAL else JUDGES[setting](readings, profile.gpus, row)
    place = outcome.unknown if said is None else outcome.fine
    if not said and setting not in place:
        place.append(setting)
    known = [(advice.setting, advice.finding.found) for advice in outcome.findings]
    for one in said or ():
        if (setting, one.found) not in known:
            finding = Finding(one.id, one.found, f"{one.expected} for {profile.name}", one.remedy)
            outcome.findings.append(Advice(setting, finding, row))


def _by_role(row: Row) -> str:
    more = "" if row["status"] == CERTAIN else " and rocm_tuning_unconfirmed: true"
    return f"set rocm_tuning_apply: [{row['setting']}]{more} and run playbooks/tuning.yml"


def _numa_balancing(readings: Readings, _gpus: Sequence[Gpu], row: Row) -> list[Said] | None:
    value = readings["values"].get(NUMA_BALANCING)
    if value is None:
        return None
    # With one node there is nowhere to move memory to.
    if value == row["expected"] or readings["numa_nodes"] == 1:
        return []
    return [Said("numa-balancing-on", f"kernel.numa_balancing is {value}", "0", _by_role(row))]


def _compaction(readings: Readings, _gpus: Sequence[Gpu], row: Row) -> list[Said] | None:
    values = [readings["values"].get(path) for path in COMPACTION]
    if not all(value and value.isdecimal() for value in values):
        return None
    proactive, unevictable = (int(str(value)) for value in values)
    if proactive >= int(row["expected"]) and unevictable:
        return []
    found = f"vm.compaction_proactiveness is {proactive}, vm.compact_unevictable_allowed is {unevictable}"
    return [Said("memory-compaction-off", found, f"{row['expected']} and 1", _by_role(row))]


def _hugepages(readings: Readings, _gpus: Sequence[Gpu], row: Row) -> list[Said] | None:
    value = readings["hugepages"]
    if value is None:
        return None
    found = f"transparent huge pages are used {value}"
    return [] if value == row["expected"] else [Said("transparent-hugepages-off", found, "always", _by_role(row))]


def _governor(readings: Readings, _gpus: Sequence[Gpu], row: Row) -> list[Said] | None:
    rows = readings["governors"]
    others = [f"{one['governor']} on {len(one['paths'])}" for one in rows if one["governor"] != row["expected"]]
    if not rows:
        return None
    total = sum(len(one["paths"]) for one in rows)
    found = f"governor {', '.join(others)} of {total} clock domains of the processors"
    return [Said("cpu-governor-slow", found, row["expected"], _by_role(row))] if others else []


def _passthrough(readings: Readings, gpus: Sequence[Gpu], row: Row) -> list[Said] | None:
    """The kernel's own word for each GPU goes before the command line, which it may not have followed."""
    kinds = [gpu["iommu"] for gpu in gpus if gpu["iommu"] is not None]
    if readings["cmdline"] is None and not kinds and readings["iommu_units"] is None:
        return None
    if all(kind == "identity" for kind in kinds) if kinds else passes_through(readings["cmdline"] or ""):
        return []
    if readings["iommu_units"] == 0:
        return []
    found = f"the IOMMU translates addresses ({', '.join(sorted(set(kinds))) or 'no iommu=pt on the command line'})"
    ours = readings["files"].get(FILES["iommu-passthrough"]) is not None
    remedy = "reboot when it suits; it is set for the next boot" if ours else f"{_by_role(row)}, then reboot"
    return [Said("iommu-passthrough-off", found, "iommu=pt", remedy)]


def _iommu_off(readings: Readings, _gpus: Sequence[Gpu], _row: Row) -> list[Said] | None:
    units = readings["iommu_units"]
    if units is None:
        return None
    remedy = "switch the IOMMU off in the BIOS, as the platform's vendor sets it up"
    return [Said("iommu-on", f"the kernel uses {units} IOMMUs", "none", remedy)] if units else []


def _power_cap(_readings: Readings, gpus: Sequence[Gpu], _row: Row) -> list[Said] | None:
    known = [gpu for gpu in gpus if gpu["power"]["cap"] is not None and gpu["power"]["default"] is not None]
    low = by_value(
        (f"{gpu['power']['cap'] // MILLION} W of {gpu['power']['default'] // MILLION} W", gpu["address"])
        for gpu in known
        if gpu["power"]["cap"] < gpu["power"]["default"]
    )
    if not known:
        return None
    remedy = "leave it where it was set on purpose, else set it with amd-smi set --gpu all --power-cap WATTS"
    return [Said("power-cap-low", f"power cap {low}", "the driver's default", remedy)] if low else []


def _level(_readings: Readings, gpus: Sequence[Gpu], _row: Row) -> list[Said] | None:
    known = [gpu for gpu in gpus if gpu["level"] is not None]
    slow = by_value((gpu["level"], gpu["address"]) for gpu in known if gpu["level"] in SLOW_LEVELS)
    if not known:
        return None
    remedy = "amd-smi set --gpu all --perf-level AUTO"
    return [Said("gpu-clock-limited", f"performance level {slow}", "auto", remedy)] if slow else []


def _modes(_readings: Readings, gpus: Sequence[Gpu], _row: Row) -> list[Said] | None:
    said, known = [], False
    for part, name in (("compute", "partition-count"), ("memory", "memory-partition-mixed")):
        modes = [(gpu[f"{part}_partition"], gpu["address"]) for gpu in gpus if gpu[f"{part}_partition"]]
        known = known or bool(modes)
        if len({mode for mode, _ in modes}) > 1:
            remedy = f"set one mode on all: amd-smi set --gpu all --{part}-partition MODE"
            said.append(Said(name, f"{part} partition mode {by_value(modes)}", "one mode on all GPUs", remedy))
    return said if known else None


JUDGES: Mapping[str, Judge] = {
    "numa-balancing": _numa_balancing,
    "memory-compaction": _compaction,
    "transparent-hugepages": _hugepages,
    "cpu-governor": _governor,
    "iommu-passthrough": _passthrough,
    "iommu-off": _iommu_off,
    "pcie-link": pcie_link,
    "power-cap": _power_cap,
    "performance-level": _level,
    "partition-modes": _modes,
}
