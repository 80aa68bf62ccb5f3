"""What the page of a fleet tells about one host when asked; what several hosts have in common is kept once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import check_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_drift import was_read

Document = Mapping[str, Any]
LABELS = {"rocm": "ROCm", "driver": "Driver", "torch": "PyTorch", "gpus": "GPUs", "state": "State"}
# The rest of a longer text is in the JSON file.
LONGEST = 600
# What stands above the actions of a host, by its state.
CHANGED = {"will change": "What a run will change", "drift": "What differs", "refused": "What differs"}


class Pool:
    """Values by number, equal ones once."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, a new one where it was not there yet."""
        return self.numbers.setdefault(value, len(self.numbers))


def details(documents: Iterable[Document]) -> dict[str, Any]:
    """``{texts: [...], parts: [[title, [line]]], hosts: [[part]]}``, where titles, lines and parts are numbers."""
    texts, parts = Pool(), Pool()
    hosts = [
        [parts.number((texts.number(title), tuple(texts.number(line) for line in lines))) for title, lines in told]
        for told in map(_parts, documents)
    ]
    return {"texts": list(texts.numbers), "parts": list(parts.numbers), "hosts": hosts}


def _parts(document: Document) -> Iterator[tuple[str, Sequence[str]]]:
    user = f", as {document['verified_as']}" if document["verified_as"] else ""
    read = was_read(document)
    told = {
        "Reason": document["reason"].splitlines() if not document["refusals"] else [],
        "Refused": _messages(document["refusals"]),
        "Wanted and found": [_versions(document, part) for part in ("rocm", "driver", "torch")] if read else [],
        "Reboot": ["required, " + ("and allowed" if document["reboot_allowed"] else "and left to you")]
        if document["reboot_required"]
        else [],
        "GPUs": [_gpu(gpu) for gpu in document["gpus"]] or (["none"] if read else []),
        CHANGED.get(document["state"], "What differed before the run"): [
            f"{row['stage']}: {row['action']} {row['target']} ({row['reason']})" for row in document["actions"]
        ],
        f"Checks{user}": [f"{row['status']}: {check_text.reason(row)}" for row in document["verification"]],
        "Warnings": _messages(document["warnings"]),
    }
    for title, lines in told.items():
        if lines:
            yield title, [cut(printable(line)) for line in lines]


def _messages(findings: Iterable[Mapping[str, str]]) -> list[str]:
    return [row["message"] for row in findings]


def _versions(document: Document, part: str) -> str:
    wanted = document["wanted"][part]
    if part == "driver":
        wanted = " ".join(word for word in (document["wanted"]["driver_mode"], wanted) if word)
    return f"{LABELS[part]}: wanted {wanted or 'none'}, found {document['actual'][part] or 'none'}"


def _gpu(gpu: Mapping[str, Any]) -> str:
    kind = f"{gpu['name'] or 'unknown model'} {gpu['gfx'] or ''}".strip()
    supported = "" if gpu["supported"] else ", not supported by the release"
    return f"{gpu['address']}  {kind} (1002:{gpu['device']}), kernel driver {gpu['driver'] or 'none'}{supported}"


def cut(text: str) -> str:
    """A text of bearable length."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... (in full in the JSON file)"


def printable(text: str) -> str:
    """A text without what a reader cannot see: control characters, and those that turn the direction of others."""
    if text.isprintable():
        return text
    return "".join(char if char == "\n" or char.isprintable() else " " if char.isspace() else "\ufffd" for char in text)
