"""A run as lines that stay: starts and ends of stages, a sign of life, messages of tasks, and the recap."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.fleet_text import ROW_PER_HOST
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural, shortened
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress import Event, Fleet, Host, duration
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_block import Line

# Steps that a sign of life names; the others are counted.
NAMED_STEPS = 5
# Seconds without another host that says the same, and seconds at most, until a message is shown.
SETTLED, PATIENCE = 2.0, 10.0
# Seconds after which a step is long.
LONG = 5.0
COUNTS = ("ok", "changed", "unreachable", "failures", "skipped", "rescued", "ignored")
# Colours and whatever else moves a cursor.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")

Item = TypeVar("Item")


def event_lines(events: Iterable[Event], fleet: Fleet, now: float) -> list[Line]:
    """One line for each start and end of a stage; in a large fleet hosts that do the same at once share one."""
    clock = duration(now - fleet.began)
    alike = _together(events, lambda event: (event.stage, event.outcome), len(fleet.hosts))
    return [
        Line(
            f"[{clock}] {shortened([event.host for event in group])}: {stage} {outcome}{_range(group)}",
            "" if outcome == "started" else outcome,
        )
        for (stage, outcome), group in alike
    ]


def _range(events: Sequence[Event]) -> str:
    times = sorted(event.seconds for event in events if event.seconds is not None)
    if not times:
        return ""
    shortest, longest = duration(times[0]), duration(times[-1])
    return f" after {longest}" if shortest == longest else f" after {shortest} to {longest}"


def sign_of_life(fleet: Fleet, now: float, quiet: bool) -> list[Line]:
    """The steps that take long, the longest first; the oldest step where none does and all has been ``quiet``."""
    running = sorted((host for host in fleet.hosts.values() if host.running), key=lambda host: host.step_since)
    long = [host for host in running if now - host.step_since >= LONG] or (running[:1] if quiet else [])
    groups: dict[tuple[str, str], list[Host]] = {}
    for host in long:
        groups.setdefault((host.stage_now, host.step), []).append(host)
    clock = duration(now - fleet.began)
    lines = [
        Line(
            f"[{clock}] {shortened([host.name for host in hosts])}: {'' if stage == '-' else stage + ': '}{step}, "
            f"{duration(now - hosts[0].step_since)} so far"
        )
        for (stage, step), hosts in list(groups.items())[:NAMED_STEPS]
    ]
    rest = [host.name for hosts in list(groups.values())[NAMED_STEPS:] for host in hosts]
    return [*lines, Line(f"[{clock}] and other steps on {shortened(rest)}")] if rest else lines


def message(title: str, hosts: Sequence[str], body: str) -> str:
    """What a task had to say, in full, under its title."""
    names = f"{shortened(hosts)}: " if hosts else ""
    return f"\n{cleaned(names + title)}\n{cleaned(body)}" if body else f"\n{cleaned(names + title)}"


def failure_text(result: Mapping[str, Any]) -> str:
    """Why a task failed: its message, then what its program wrote."""
    code = f" (exit status {result['rc']})" if result.get("rc") is not None else ""
    first = str(result.get("msg") or result.get("censored") or "no message").rstrip() + code
    sections = [first]
    for name in ("stderr", "module_stderr", "stdout", "module_stdout"):
        text = str(result.get(name) or "").rstrip()
        if text and text not in first:
            sections += [f"{name.removeprefix('module_')}:", *(f"  {line}" for line in text.splitlines())]
    return "\n".join(sections)


def cleaned(text: str) -> str:
    """Text without what would move the cursor or change colours."""
    plain = ESCAPES.sub("", text.replace("\r\n", "\n")).expandtabs()
    return "".join(char if char == "\n" or char.isprintable() else " " for char in plain)


def recap(counts: Mapping[str, Mapping[str, int]], seconds: float) -> list[Line]:
    """What Ansible counted, in one row for each host; in a large fleet hosts with the same counts share one."""
    rows = sorted(counts.items(), key=lambda item: natural(item[0]))
    grouped = _together(rows, lambda item: tuple(item[1].get(name, 0) for name in COUNTS), len(rows))
    names = [shortened([name for name, _ in group]) for _, group in grouped]
    width = max(map(len, names), default=0)
    lines = [
        Line(
            f"{name:{width}}  {_counted(numbers)}",
            "unreachable" if numbers[2] else "failed" if numbers[3] else "done",
        )
        for name, (numbers, _) in zip(names, grouped, strict=True)
    ]
    return [Line(f"\nRECAP after {duration(seconds)}"), *(lines or [Line("no hosts")])]


def _counted(numbers: Sequence[int]) -> str:
    """What is always of interest, and of the rest what there is."""
    counts = dict(zip(COUNTS, numbers, strict=True))
    return "  ".join(f"{label}={count}" for label, count in counts.items() if count or label in ("ok", "changed"))


def _together(
    items: Iterable[Item], key: Callable[[Item], tuple[Any, ...]], fleet: int
) -> list[tuple[tuple[Any, ...], list[Item]]]:
    """Items with the same key as one group in a large fleet, each by itself in a small one."""
    if fleet <= ROW_PER_HOST:
        return [(key(item), [item]) for item in items]
    groups: dict[tuple[Any, ...], list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.items())


@dataclass
class Said:
    """Hosts that said the same, and when the first and the last did."""

    first: float
    last: float
    hosts: list[str] = field(default_factory=list)


class Messages:
    """Messages that wait for a moment, so that hosts which say the same share one."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str, str], Said] = {}

    def add(self, now: float, title: str, body: str, state: str = "", host: str = "") -> None:
        """A message of one host, or of none when it is about all."""
        said = self._waiting.setdefault((title, body, state), Said(now, now))
        said.last = now
        if host and host not in said.hosts:
            said.hosts.append(host)

    def take(self, now: float = math.inf) -> list[Line]:
        """Those that no further host joins, in their order; without a time, all."""
        ready = {
            key: said
            for key, said in self._waiting.items()
            if now - said.last >= SETTLED or now - said.first >= PATIENCE
        }
        for key in ready:
            del self._waiting[key]
        return [Line(message(title, said.hosts, body), state) for (title, body, state), said in ready.items()]
