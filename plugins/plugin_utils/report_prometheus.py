"""A fleet report for monitoring: a file for the textfile collector of Prometheus' node exporter."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_fleet import hosts_of

Document = Mapping[str, Any]
Labels = Mapping[str, str]
# Metric to its labels and its help text; all are gauges.
METRICS: dict[str, tuple[tuple[str, ...], str]] = {
    "rocm_fleet_report_timestamp_seconds": ((), "When the report was made."),
    "rocm_fleet_hosts": (("state",), "Hosts in each state."),
    "rocm_fleet_host_state": (("host", "state"), "State of a host, always 1."),
    "rocm_fleet_host_report_timestamp_seconds": (
        ("host",),
        "When the report was made that the state of a host is from.",
    ),
    "rocm_fleet_host_info": (
        ("host", "rocm", "driver", "torch"),
        "Versions on a host, always 1; the label of an absent part is empty.",
    ),
    "rocm_fleet_host_reboot_required": (("host",), "Whether the installed driver waits for a reboot."),
    "rocm_fleet_gpus": (("gfx", "model"), "AMD GPUs of each kind."),
    "rocm_fleet_findings": (("id", "kind"), "Hosts with a finding."),
    "rocm_fleet_checks": (("check", "status"), "Checks of the verification by their result."),
}


def prometheus(fleet: Document) -> str:
    """The text for a fleet document of `report_fleet`."""
    lines = []
    for metric, (_, help_text) in METRICS.items():
        lines += [f"# HELP {metric} {help_text}", f"# TYPE {metric} gauge"]
        lines += [f"{metric}{_labels(labels)} {value}" for labels, value in _samples(metric, fleet)]
    return "\n".join(lines) + "\n"


def _samples(metric: str, fleet: Document) -> Iterator[tuple[Labels, int]]:
    hosts = fleet["hosts"].items()
    if metric == "rocm_fleet_report_timestamp_seconds":
        yield {}, _seconds(fleet["time"])
    elif metric == "rocm_fleet_hosts":
        yield from (({"state": state}, count) for state, count in fleet["counts"].items())
    elif metric == "rocm_fleet_host_state":
        yield from (({"host": name, "state": document["state"]}, 1) for name, document in hosts)
    elif metric == "rocm_fleet_host_report_timestamp_seconds":
        yield from (({"host": name}, _seconds(fleet["earlier"].get(name, fleet["time"]))) for name, _ in hosts)
    elif metric == "rocm_fleet_host_info":
        for name, document in hosts:
            yield {"host": name, **{part: version or "" for part, version in document["actual"].items()}}, 1
    elif metric == "rocm_fleet_host_reboot_required":
        yield from (({"host": name}, int(document["reboot_required"])) for name, document in hosts)
    elif metric == "rocm_fleet_gpus":
        yield from _summed((_gpu_labels(row), row["count"]) for row in fleet["gpus"])
    elif metric == "rocm_fleet_findings":
        rows = (({"id": row["id"], "kind": row["kind"]}, len(hosts_of(row))) for row in fleet["findings"])
        yield from _summed(rows)
    else:
        checks = Counter((row["id"], row["status"]) for _, document in hosts for row in document["verification"])
        yield from (({"check": check, "status": status}, count) for (check, status), count in sorted(checks.items()))


def _gpu_labels(row: Mapping[str, Any]) -> Labels:
    return {"gfx": row["gfx"] or "unknown", "model": row["name"] or f"1002:{row['device']}"}


def _summed(rows: Iterator[tuple[Labels, int]]) -> Iterator[tuple[Labels, int]]:
    """One sample for each set of labels: Prometheus takes no second one."""
    totals: Counter[tuple[tuple[str, str], ...]] = Counter()
    for labels, count in rows:
        totals[tuple(labels.items())] += count
    yield from ((dict(labels), count) for labels, count in totals.items())


def _labels(labels: Labels) -> str:
    escaped = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{','.join(escaped)}}}" if labels else ""


def _escaped(value: str) -> str:
    """A label value as the exposition format wants it; what UTF-8 cannot hold is replaced."""
    text = value.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _seconds(time: str) -> int:
    return int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())
