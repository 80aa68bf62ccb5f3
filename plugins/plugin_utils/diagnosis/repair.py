"""Which parts of a host's plan `remedy=apply` may run: ours, safe, and additions only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.ranking import REMARK

Row = Mapping[str, Any]
# In the order in which site.yml runs them. The driver is never among them: it takes the GPUs from their users.
STAGES = ("repo", "sdk", "access", "environment", "pytorch")
# These fetch from the repositories, and set them up where nobody did.
NEEDS_REPO = ("sdk",)
# Reasons of an installation that replaces nothing.
ABSENT = ("not installed", "missing", "needed to create the virtual environment")


def repairs(diagnoses: Sequence[Row], plan: Row) -> dict[str, Any]:
    """``{stages, actions, left}``: what is run, what it does, and why something safe by itself is left alone."""
    wanted = [stage for stage in STAGES if any(_asks(row, stage) for row in diagnoses)]
    left = _obstacle(plan) if wanted else ""
    stages = [] if left else [stage for stage in wanted if _adds_only(plan, stage)]
    kept = [stage for stage in wanted if stage not in stages and _actions(plan, stage)]
    if kept and not left:
        left = f"{' and '.join(kept)} would replace something that is there; run site.yml for it"
    actions = [row for stage in _with_repo(stages) for row in _actions(plan, stage)]
    return {"stages": stages, "actions": actions, "left": left}


def _asks(row: Row, stage: str) -> bool:
    return bool(row["stage"] == stage and row["safe"] and row["role"] != REMARK)


def _with_repo(stages: Sequence[str]) -> list[str]:
    needed = [*(["repo"] if set(stages) & set(NEEDS_REPO) else []), *stages]
    return list(dict.fromkeys(needed))


def _obstacle(plan: Row) -> str:
    if plan["refusals"]:
        return f"the host is refused: {', '.join(row['id'] for row in plan['refusals'])}"
    actual, release = plan["actual"]["rocm"], plan["release"]["version"]
    if actual and not f"{actual}-".startswith(f"{release}-"):
        return f"ROCm {actual} is on the host and {release} is wanted: that is an upgrade"
    return ""


def _adds_only(plan: Row, stage: str) -> bool:
    parts = [row for part in _with_repo([stage]) for row in _actions(plan, part)]
    return bool(_actions(plan, stage)) and all(_adds(row) for row in parts)


def _adds(row: Row) -> bool:
    """Files that the roles write and move aside are theirs; nothing else may be there in another version."""
    return row["action"] not in ("install", "create-venv") or str(row["reason"]).startswith(ABSENT)


def _actions(plan: Row, stage: str) -> list[Row]:
    return [row for row in plan["actions"] if row["stage"] == stage]
