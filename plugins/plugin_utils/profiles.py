"""Which profile of ``data/performance.yml`` the GPUs of a host have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import AMD_VENDOR
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row, gpu_by_device, table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.verification import FOR_GUESTS

CERTAIN = "confirmed"

Gpu = Mapping[str, Any]


@dataclass(frozen=True)
class Profile:
    """What AMD's guides ask for, and the GPUs of this host that they ask it for."""

    name: str
    rows: tuple[Row, ...]
    gpus: tuple[Gpu, ...]

    def row(self, setting: str) -> Row | None:
        """What the guides say about one setting."""
        return next((row for row in self.rows if row["setting"] == setting), None)


def profiles_of(gpus: Iterable[Gpu], profiles: Sequence[Row] | None = None) -> list[Profile]:
    """Profiles of the AMD GPUs that this host itself uses, in the order of the table."""
    rows = table("performance")["profiles"] if profiles is None else profiles
    found: dict[str, list[Gpu]] = {}
    for gpu in gpus:
        if gpu["vendor"] == AMD_VENDOR and gpu["driver"] not in FOR_GUESTS and not gpu["virtual_function"]:
            name = _profile_name(str(gpu["device"]), rows)
            if name:
                found.setdefault(name, []).append(gpu)
    return [Profile(row["name"], tuple(row["rows"]), tuple(found[row["name"]])) for row in rows if row["name"] in found]


def _profile_name(device: str, rows: Sequence[Row]) -> str | None:
    known = gpu_by_device(device)
    if not known or known.get("integrated"):
        return None
    names = {*str(known["name"]).split(" or "), known["family"]}
    return next((row["name"] for row in rows if not names.isdisjoint(row["gpus"])), None)


def pages(row: Row) -> list[str]:
    """Addresses of the pages behind a row."""
    known = {page["id"]: page["url"] for page in table("performance")["pages"]}
    return [known[name] for name in row["source"]]


def reason(row: Row) -> str:
    """Why a row asks for what it does, in one sentence with the address of AMD's page."""
    start = "AMD documents it" if row["status"] == CERTAIN else f"{row['status']}, not said by AMD in so many words"
    note = f" ({row['note']})" if "note" in row else ""
    return f"{start}{note}: {pages(row)[0]}"
