"""Things that are said in two places agree: defaults and specifications, ids and their table, examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.gpufleet.rocm.plugins.module_utils.packages import relevant
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.wishes import Wishes, parse_wishes

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())


def load(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def wishes_of_the_specification() -> dict[str, Any]:
    options = load("roles/rocm_plan/meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    return {name: row["default"] for name, row in options.items() if not name.startswith("rocm_plan_")}


def defaults_of_the_role() -> dict[str, Any]:
    """Variable to default, from the literal inside each ``default(...)``."""
    text = (ROOT / "roles/rocm_plan/defaults/main.yml").read_text(encoding="utf-8")
    found = re.findall(r"\{\{ \[?(rocm_\w+) \| default\((.*)\)\]? \}\}", text)
    return {name: yaml.safe_load(literal) for name, literal in found}


def test_defaults_agree_with_the_specification() -> None:
    defaults = defaults_of_the_role()
    assert defaults == wishes_of_the_specification()
    raw = {name.removeprefix("rocm_"): value for name, value in defaults.items() if "mirror" not in name}
    assert parse_wishes(raw) == parse_wishes({}) == Wishes()


def test_the_example_inventory_shows_every_wish() -> None:
    assert set(load("inventories/example/group_vars/all.yml")) == set(wishes_of_the_specification())


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_specified(role: str) -> None:
    specification = load(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]
    for entry in specification.values():
        assert entry["short_description"]
        for option in entry["options"].values():
            assert option["type"]
            assert option["description"]
    tasks = {path.stem for path in (ROOT / "roles" / role / "tasks").glob("*.yml")}
    assert set(specification) <= tasks


def test_every_id_in_the_code_is_in_the_table() -> None:
    used: set[str] = set()
    for path in (ROOT / "plugins/plugin_utils").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r'findings\.add\(\s*"([a-z-]+)"', text))
        used |= set(re.findall(r'DecisionError\(\s*"([a-z-]+)"', text))
        used |= set(re.findall(r'"id": "([a-z-]+)"', text))
    assert used
    assert used - set(decisions()) == set()


def test_facts_mention_every_prerequisite_of_the_matrix() -> None:
    """Otherwise the plan would never see that one is installed."""
    for stream in table("packages")["streams"].values():
        for row in stream["prerequisites"]:
            for name in row["names"]:
                assert relevant(name, "1.0-1", []), name
