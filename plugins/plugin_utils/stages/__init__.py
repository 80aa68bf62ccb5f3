"""The six stages of a host's plan.

Each compares what is with what should be and names the difference. An action is ``{action, target, reason}``; an
empty list means that the stage has nothing to do and its role skips. Besides the actions a stage carries what its
role needs to act (contents, package patterns), so that plan and act can never disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.access import plan_access
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.driver import plan_driver
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.environment import (
    plan_environment,
    refresh_linker_cache,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.pytorch import plan_pytorch
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.repo import plan_repo
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.sdk import plan_sdk
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation, Stage

PLANNERS: dict[str, Callable[[Situation, Findings], Stage]] = {
    "repo": plan_repo,
    "driver": plan_driver,
    "sdk": plan_sdk,
    "access": plan_access,
    "environment": plan_environment,
    "pytorch": plan_pytorch,
}


def all_stages(situation: Situation, findings: Findings) -> dict[str, Stage]:
    """Plan every stage, in the order in which they run."""
    stages = {name: planner(situation, findings) for name, planner in PLANNERS.items()}
    refresh_linker_cache(situation, stages)
    return stages


def questions(situation: Situation) -> dict[str, list[Any]]:
    """What the host should ask the servers before the first change: each repository, key and page of wheels once."""
    return {
        "urls": [release_file(source) for source in situation.sources],
        "keys": [key["url"] for key in situation.keys],
        "wheels": _wheel_pages(situation.torch) if situation.torch else [],
    }


def release_file(source: Mapping[str, Any]) -> str:
    """The address whose answer tells whether a repository is there."""
    return f"{source['uri'].rstrip('/')}/dists/{source['suite']}/Release"


def _wheel_pages(torch: Mapping[str, Any]) -> list[dict[str, str]]:
    index = torch["index_url"].rstrip("/")
    return [
        {"url": f"{index}/{name}/", "project": name, "version": version} for name, version in torch["packages"].items()
    ]
