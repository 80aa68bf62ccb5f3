"""What the role rocm_tuning does on a host: a pure function from readings and the operator's list to changes.

Taking a setting off the list undoes it, so that an empty list is the removal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import COMPACTION, HUGEPAGES, NUMA_BALANCING
from ansible_collections.gpufleet.rocm.plugins.module_utils.tuning_files import FILES, RECORD, UNITS
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.iommu import passes_through
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.performance import Readings, unchangeable
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.profiles import CERTAIN, Profile, profiles_of, reason

HEADER = "# Written by gpufleet.rocm, role rocm_tuning; taken off the list it goes away.\n"
UNIT_OF = {setting: unit for unit, setting in UNITS.items()}
PASSTHROUGH = "iommu-passthrough"


@dataclass
class Changes:
    """What differs from what is wanted; everything empty where nothing does.

    ``write`` are values for kernel files now, ``passthrough`` is whether the boot menu is to have it, ``skipped`` what
    is not done and why. ``record`` has the content of the record ``before`` and ``after`` the changes, both empty where
    there is to be none; a run that is cut off between them forgets no former value.
    """

    files: list[dict[str, str]] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    enable: list[str] = field(default_factory=list)
    disable: list[str] = field(default_factory=list)
    write: list[dict[str, Any]] = field(default_factory=list)
    record: dict[str, str] | None = None
    grub: bool = False
    passthrough: bool = False
    reboot_required: bool = False
    actions: list[str] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for the role."""
        return asdict(self)


@dataclass(frozen=True)
class Wanted:
    """One setting as the host is to have it: the content of its file and the values in the kernel."""

    content: str
    values: Mapping[str, str]


def tuning(readings: Readings, names: Sequence[str], unconfirmed: bool = False) -> Changes:
    """Compare a host with the settings that the operator listed."""
    changes = Changes()
    why = unchangeable(readings)
    if why:
        changes.skipped = [{"setting": name, "reason": why} for name in names]
        return changes
    profiles = profiles_of(readings["gpus"])
    wanted: dict[str, Wanted] = {}
    for name in dict.fromkeys(names):
        obstacle = _obstacle(readings, profiles, name, unconfirmed)
        if obstacle:
            changes.skipped.append({"setting": name, "reason": obstacle})
        else:
            wanted[name] = WANTED[name](readings)
    record = dict(readings["record"])
    for setting in FILES:
        if setting in wanted:
            _set(readings, setting, wanted[setting], record, changes)
        else:
            _undo(readings, setting, record, changes)
    if record != readings["record"]:
        both = {**record, **readings["record"]}
        changes.record = {"path": RECORD, "before": _content(both), "after": _content(record)}
    _reboot(readings, PASSTHROUGH in wanted, changes)
    return changes


def _content(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2, sort_keys=True) + "\n" if record else ""


def _obstacle(readings: Readings, profiles: Sequence[Profile], name: str, unconfirmed: bool) -> str:
    """Why a setting is not applied; empty where it is."""
    if not profiles:
        return "no AMD GPU that a profile is for"
    rows = [row for row in (profile.row(name) for profile in profiles) if row]
    if not rows:
        return f"AMD's guides do not ask for it with {', '.join(profile.name for profile in profiles)}"
    if not unconfirmed and not any(row["status"] == CERTAIN for row in rows):
        return f"{reason(rows[0])}; rocm_tuning_unconfirmed: true applies it all the same"
    if name == PASSTHROUGH:
        return _no_passthrough(readings)
    return "" if WANTED[name](readings).values else "the host has no such setting"


def _no_passthrough(readings: Readings) -> str:
    if readings["virtualization"]["kind"] == "vm":
        return "the IOMMU of a virtual machine is its hypervisor's affair"
    if readings["iommu_units"] == 0 and not passes_through(readings["cmdline"] or ""):
        return "the kernel uses no IOMMU"
    if readings["files"].get(FILES[PASSTHROUGH]) is None and passes_through(readings["cmdline"] or ""):
        return "the host has it by settings of its own"
    return "" if readings["grub"]["available"] else "found no update-grub with its menu; other boot loaders are yours"


def _set(readings: Readings, setting: str, wanted: Wanted, record: dict[str, Any], changes: Changes) -> None:
    path, unit = FILES[setting], UNIT_OF.get(setting)
    differs = readings["files"].get(path) != wanted.content
    now = _values(readings, setting)
    if differs:
        changes.files.append({"path": path, "content": wanted.content})
        changes.actions.append(f"write {path}")
    record.setdefault(setting, {name: now[name] for name in wanted.values})
    if unit and (differs or unit not in readings["enabled"]):
        changes.enable.append(unit)
        changes.actions.append(f"enable {unit}")
    _write({name: value for name, value in wanted.values.items() if now[name] != value}, changes)
    if setting == PASSTHROUGH and (differs or readings["grub"]["passthrough"] is False):
        changes.grub = changes.passthrough = True
        changes.actions.append("update the boot menu with iommu=pt")


def _undo(readings: Readings, setting: str, record: dict[str, Any], changes: Changes) -> None:
    """Take back what the role did, and nothing that somebody changed since."""
    path, unit = FILES[setting], UNIT_OF.get(setting)
    ours, now = WANTED[setting](readings).values, _values(readings, setting)
    before = record.pop(setting, {})
    if readings["files"].get(path) is not None:
        changes.remove.append(path)
        changes.actions.append(f"remove {path}")
        changes.grub = changes.grub or setting == PASSTHROUGH
    if unit and unit in readings["enabled"]:
        changes.disable.append(unit)
        changes.actions.append(f"disable {unit}")
    _write({name: value for name, value in before.items() if now.get(name) == ours.get(name) != value}, changes)


def _write(values: Mapping[str, str], changes: Changes) -> None:
    """Values by the files that get them: a processor has hundreds."""
    for value in dict.fromkeys(values.values()):
        paths = [path for path, one in values.items() if one == value]
        changes.write.append({"value": value, "paths": paths})
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        changes.actions.append(f"write {value} into {paths[0]}{more}")


def _reboot(readings: Readings, wanted: bool, changes: Changes) -> None:
    """Only a boot changes what the IOMMU does."""
    running = passes_through(readings["cmdline"] or "")
    taken_back = changes.grub and not wanted
    changes.reboot_required = (wanted and not running) or (taken_back and running)


def _values(readings: Readings, setting: str) -> dict[str, str]:
    """The kernel's files for a setting that could be read, with their values."""
    if setting == "cpu-governor":
        return {path: row["governor"] for row in readings["governors"] for path in row["paths"]}
    if setting == "transparent-hugepages":
        return _known({HUGEPAGES: readings["hugepages"]})
    files = {"numa-balancing": (NUMA_BALANCING,), "memory-compaction": COMPACTION}.get(setting, ())
    return _known({path: readings["values"].get(path) for path in files})


def _known(values: Mapping[str, str | None]) -> dict[str, str]:
    return {path: value for path, value in values.items() if value is not None}


def _sysctl(setting: str, values: Mapping[str, str]) -> Callable[[Readings], Wanted]:
    """Kernel parameters: a file for the boot, and their files in /proc for now."""

    def wanted(readings: Readings) -> Wanted:
        known = {path: values[path] for path in _values(readings, setting)}
        lines = [f"{path.removeprefix('/proc/sys/').replace('/', '.')} = {value}\n" for path, value in known.items()]
        return Wanted(HEADER + "".join(lines), known)

    return wanted


def _governor(readings: Readings) -> Wanted:
    offered = [row for row in readings["governors"] if "performance" in row["available"]]
    command = "for file in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo performance > $$file; done"
    values = {path: "performance" for row in offered for path in row["paths"]}
    return Wanted(_unit("Governor of the processors", [command]), values)


def _hugepages(readings: Readings) -> Wanted:
    values = dict.fromkeys(_values(readings, "transparent-hugepages"), "always")
    return Wanted(_unit("Transparent huge pages", [f"echo always > {HUGEPAGES}"]), values)


def _unit(what: str, commands: Iterable[str]) -> str:
    """A unit that writes values at boot; ondemand.service of older Ubuntu writes others before."""
    starts = "".join(f"ExecStart=/bin/sh -c '{command}'\n" for command in commands)
    return (
        f"{HEADER}[Unit]\nDescription={what} for AMD GPUs\nAfter=ondemand.service\n\n"
        f"[Service]\nType=oneshot\n{starts}\n[Install]\nWantedBy=multi-user.target\n"
    )


def _iommu(readings: Readings) -> Wanted:
    intel = "intel_iommu=on " if readings["cpu_vendor"] == "GenuineIntel" else ""
    return Wanted(f'{HEADER}GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {intel}iommu=pt"\n', {})


WANTED: Mapping[str, Callable[[Readings], Wanted]] = {
    "numa-balancing": _sysctl("numa-balancing", {NUMA_BALANCING: "0"}),
    "memory-compaction": _sysctl("memory-compaction", dict(zip(COMPACTION, ("20", "1"), strict=True))),
    "cpu-governor": _governor,
    "transparent-hugepages": _hugepages,
    PASSTHROUGH: _iommu,
}
