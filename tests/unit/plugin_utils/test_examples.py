"""The examples in the documentation of filters: what stands after `# =>` is what the filter gives."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import jinja2
import pytest
import yaml

FILTERS = Path(__file__).resolve().parents[3] / "plugins" / "filter"
EXPRESSION = re.compile(r'"{{ (.+) }}"\n *# => (.+(?:\n *#  .*)*)')


def examples() -> list[tuple[str, str]]:
    """Expression and documented result of every example that has one."""
    pages = (yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(FILTERS.glob("*.yml")))
    return [match for page in pages for match in EXPRESSION.findall(page["EXAMPLES"])]


@pytest.fixture(scope="module")
def environment() -> jinja2.Environment:
    environment = jinja2.Environment(autoescape=False)
    for file in FILTERS.glob("*.py"):
        module = importlib.import_module(f"ansible_collections.gpufleet.rocm.plugins.filter.{file.stem}")
        for name, function in module.FilterModule().filters().items():
            environment.filters[f"gpufleet.rocm.{name}"] = function
    return environment


@pytest.mark.parametrize(("expression", "documented"), examples())
def test_examples_are_true(environment: jinja2.Environment, expression: str, documented: str) -> None:
    result = environment.compile_expression(expression)()
    lines = [re.sub(r"^ *#  +", "", line) for line in documented.splitlines()]
    assert str(result).splitlines() == lines


def test_the_filters_of_the_matrix_have_examples_with_a_result() -> None:
    for name in ("torch_wheels", "deb822_source", "apt_pin"):
        assert any(f"gpufleet.rocm.{name}" in expression for expression, _ in examples())
