"""The PCIe link of a card against what AMD documents for it, or else against what card and slot can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import Row
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.profiles import Gpu
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.said import Said, by_value

ID = "pcie-link-degraded"
RESEAT = (
    "power the host off and reseat the card and its riser; where it stays, report it to the manufacturer of the system"
)
OTHER_SLOT = (
    "move the card to a slot that is wired for it, or raise what the BIOS allows the slot (bifurcation, link speed)"
)


def pcie_link(_readings: Mapping[str, Any], gpus: Sequence[Gpu], row: Row) -> list[Said] | None:
    """Links that are narrower or slower than they should be, one finding for each cause."""
    if row["expected"] is None:
        return _narrow_slots(gpus)
    lanes, rate = int(row["expected"]["width"]), float(row["expected"]["speed"])
    known = [gpu for gpu in gpus if gpu["link"]["width"] is not None and gpu["link"]["speed"] is not None]
    if not known:
        return None
    low = [gpu for gpu in known if gpu["link"]["width"] < lanes or gpu["link"]["speed"] < rate]
    by_slot = [gpu for gpu in low if _slot_is_less(gpu["link"], lanes, rate)]
    by_card = [gpu for gpu in low if gpu not in by_slot]
    expected = _text(lanes, rate)
    return [
        Said(ID, "PCIe link " + by_value((_link_text(gpu), gpu["address"]) for gpu in some), expected, remedy)
        for some, remedy in ((by_card, RESEAT), (by_slot, OTHER_SLOT))
        if some
    ]


def _slot_is_less(link: Mapping[str, Any], lanes: int, rate: float) -> bool:
    return (link["port_max_width"] or lanes) < lanes or (link["port_max_speed"] or rate) < rate


def _narrow_slots(gpus: Sequence[Gpu]) -> list[Said] | None:
    """What does not change with the load: a slot with fewer lanes than the card has."""
    known = [gpu for gpu in gpus if gpu["link"]["max_width"] and gpu["link"]["port_max_width"]]
    if not known:
        return None
    narrow = by_value(
        (f"x{gpu['link']['port_max_width']} for a card with x{gpu['link']['max_width']}", gpu["address"])
        for gpu in known
        if gpu["link"]["port_max_width"] < gpu["link"]["max_width"]
    )
    return [Said(ID, f"PCIe slot {narrow}", "as many lanes as the card has", OTHER_SLOT)] if narrow else []


def _link_text(gpu: Gpu) -> str:
    return _text(gpu["link"]["width"], gpu["link"]["speed"])


def _text(lanes: int, rate: float) -> str:
    return f"x{lanes} at {rate:g} GT/s"
