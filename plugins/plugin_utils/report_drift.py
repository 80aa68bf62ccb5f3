"""What became of a fleet since its last report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.grouping import grouped
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural

Document = Mapping[str, Any]
VERSIONS = ("rocm", "driver", "torch")


def drift(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The difference between two fleet documents; hosts with the same change share one row."""
    old, new = before["hosts"], after["hosts"]
    both = [(name, old[name], new[name]) for name in new if name in old]
    # A host that could not be read has no versions, which does not mean that they changed.
    read = [row for row in both if was_read(row[1]) and was_read(row[2])]
    return {
        "since": before["time"],
        "appeared": sorted(new.keys() - old.keys(), key=natural),
        "disappeared": sorted(old.keys() - new.keys(), key=natural),
        "changes": [
            {"what": what, "before": was, "after": now, "hosts": names}
            for (what, was, now), names in grouped(_changes(both, read)).items()
        ],
        "findings_new": _finding_rows((name, _ids(now) - _ids(was)) for name, was, now in read),
        "findings_gone": _finding_rows((name, _ids(was) - _ids(now)) for name, was, now in read),
    }


def _changes(
    both: Iterable[tuple[str, Document, Document]], read: Iterable[tuple[str, Document, Document]]
) -> Iterator[tuple[tuple[str, str | None, str | None], str]]:
    for name, was, now in both:
        if was["state"] != now["state"]:
            yield ("state", was["state"], now["state"]), name
    for part in VERSIONS:
        for name, was, now in read:
            if was["actual"][part] != now["actual"][part]:
                yield (part, was["actual"][part], now["actual"][part]), name
    for name, was, now in read:
        before, after = gpu_text(was["gpus"]), gpu_text(now["gpus"])
        if before != after:
            yield ("gpus", before, after), name


def was_read(document: Document) -> bool:
    """Whether the host was planned, so that its versions, GPUs and findings are those of a real look at it."""
    return bool(document["stages"] or document["refusals"] or any(document["actual"].values()))


def gpu_text(gpus: Iterable[Mapping[str, Any]]) -> str:
    """The GPUs of a host in a few words."""
    kinds = Counter(gpu["gfx"] or f"1002:{gpu['device']}" for gpu in gpus)
    return ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items())) or "none"


def _ids(document: Document) -> set[str]:
    return {row["id"] for row in (*document["refusals"], *document["warnings"])}


def _finding_rows(found: Iterable[tuple[str, set[str]]]) -> list[dict[str, Any]]:
    groups = grouped((id, name) for name, ids in found for id in sorted(ids))
    return [{"id": id, "hosts": groups[id]} for id in sorted(groups)]
