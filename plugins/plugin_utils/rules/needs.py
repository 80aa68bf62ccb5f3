"""Which servers the stages of a run need: one that nothing is fetched from may be down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]

GONE = (403, 404, 410)


def needed_sources(situation: Situation, stages: Stages) -> list[Mapping[str, Any]]:
    """The repositories that apt asks: all for an update of its index, else those that packages come from."""
    # To install the package for virtual environments, too, the index is updated.
    update = stages["repo"]["actions"] or (stages["pytorch"]["actions"] and stages["pytorch"]["system_packages"])
    driver = any(row["action"] == "install" for row in stages["driver"]["actions"])
    return [
        source
        for source in situation.sources
        if update or (driver if source["name"] == "amdgpu" else stages["sdk"]["actions"])
    ]


def needs_wheels(stages: Stages) -> bool:
    """Whether wheels are installed."""
    return any(row["action"] == "install" and "==" in row["target"] for row in stages["pytorch"]["actions"])


def healthy(answer: Mapping[str, Any]) -> bool:
    """Whether a server gave what it was asked for."""
    return answer["status"] == 200 and not answer["error"]


def told(answer: Mapping[str, Any]) -> str:
    """What a server answered instead."""
    return str(answer["error"] or answer["status"])


def unneeded(failing: Mapping[str, str], findings: Findings) -> None:
    """Name the servers that fail while this run needs nothing of them: address to what each gives."""
    if failing:
        findings.add(
            "unneeded-server-fails",
            found="; ".join(f"{url} gives {answer}" for url, answer in failing.items()),
            expected="an answer of 200, although this run fetches nothing there",
            remedy="nothing to do for this run; look at the server before the next change",
        )
