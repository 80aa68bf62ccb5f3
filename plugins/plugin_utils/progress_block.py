"""The live picture of a run: a head line, then every host, or groups of hosts and the names that matter most."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural, shortened
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress import STATES, TROUBLES, Fleet, Host, duration

CUT = "..."


@dataclass(frozen=True)
class Line:
    """A line and the state that gives it its colour; empty for none."""

    text: str
    state: str = ""


def block(fleet: Fleet, now: float, columns: int, rows: int) -> list[Line]:
    """At most ``rows`` lines of at most ``columns`` cells."""
    if rows < 1 or columns < 1:
        return []
    lines = [Line(_head(fleet, now))]
    if len(fleet.hosts) < rows:
        ordered = sorted(fleet.hosts.values(), key=lambda host: natural(host.name))
        lines += _host_lines(fleet, ordered, now, columns)
    else:
        groups = _group_lines(fleet)
        if len(groups) > rows - 1:
            groups = [*groups[: max(rows - 2, 0)], Line(f"and {len(groups) - rows + 2} more groups")]
        lines += groups
        lines += _host_lines(fleet, _worth_naming(fleet, rows - len(lines)), now, columns)
    return [Line(fitted(line.text, columns), line.state) for line in lines[:rows]]


def _head(fleet: Fleet, now: float) -> str:
    counts = Counter(fleet.state(host) for host in fleet.hosts.values())
    states = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return "  ".join(part for part in (duration(now - fleet.began), states, fleet.play) if part)


def _host_lines(fleet: Fleet, hosts: Sequence[Host], now: float, columns: int) -> list[Line]:
    rows = [
        (host.name, host.stage_now, fleet.state(host), duration(fleet.elapsed(host, now)), step_text(host, now))
        for host in hosts
    ]
    # A long name leaves room for what the host is doing.
    table = [(fitted(row[0], max(columns // 3, 8)), *row[1:]) for row in rows]
    widths = [max(cells(row[column]) for row in table) for column in range(4)] if table else []
    return [
        Line("  ".join(_padded(cell, width) for cell, width in zip(row, [*widths, 0], strict=True)).rstrip(), row[2])
        for row in table
    ]


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - cells(cell))


def step_text(host: Host, now: float) -> str:
    """The step that runs and for how long, or the one that went wrong."""
    if host.running:
        return f"{host.step} {duration(now - host.step_since)}"
    return host.trouble_step if host.trouble else ""


def _group_lines(fleet: Fleet) -> list[Line]:
    """How many hosts are in each stage and state, what needs attention first, then the largest group."""
    groups: dict[tuple[str, str], list[str]] = {}
    for host in fleet.hosts.values():
        groups.setdefault((fleet.state(host), host.stage_now), []).append(host.name)
    ordered = sorted(groups.items(), key=lambda item: (STATES.index(item[0][0]), -len(item[1]), item[0][1]))
    number = max(len(str(len(names))) for names in groups.values())
    stages = max(len(stage) for _, stage in groups)
    states = max(len(state) for state, _ in groups)
    return [
        Line(f"{len(names):{number}}  {stage:{stages}}  {state:{states}}  {shortened(names, len(fleet.hosts))}", state)
        for (state, stage), names in ordered
    ]


def _worth_naming(fleet: Fleet, room: int) -> list[Host]:
    """Hosts that went wrong, then those that run, the longest step first; each have half the room at least."""
    hosts = sorted(fleet.hosts.values(), key=lambda host: (host.step_since, natural(host.name)))
    wrong = [host for host in hosts if host.state in TROUBLES]
    running = [host for host in hosts if host.running and host.state not in TROUBLES]
    kept = wrong[: max(room - min(len(running), room // 2), 0)]
    return kept + running[: max(room - len(kept), 0)]


def cells(text: str) -> int:
    """Cells that a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def fitted(text: str, columns: int) -> str:
    """One printable line that takes at most this many cells; what is cut ends in dots."""
    line = "".join(char if char.isprintable() else " " for char in text)
    if cells(line) <= columns:
        return line
    room = columns - len(CUT)
    kept = ""
    for char in line:
        if cells(kept + char) > room:
            break
        kept += char
    return (kept + CUT)[:columns]
