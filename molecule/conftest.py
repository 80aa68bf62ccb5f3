"""What every scenario's tests share: the hosts of its inventory, and what it expects to find on them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

SCENARIO = Path(os.environ["MOLECULE_SCENARIO_DIRECTORY"])


def addresses(node: Any) -> Iterator[str]:
    """The address of every host anywhere in the inventory."""
    if isinstance(node, dict):
        if "sandbox_host" in node:
            yield node["sandbox_host"]["address"]
        else:
            for child in node.values():
                yield from addresses(child)


def pytest_configure(config: pytest.Config) -> None:
    """Run each test on each host of the scenario."""
    inventory = yaml.safe_load((SCENARIO / "inventory" / "hosts.yml").read_text())
    config.option.hosts = ",".join(f"ssh://{address}" for address in addresses(inventory))


@pytest.fixture(scope="session")
def expected() -> dict[str, Any]:
    """The scenario's expected.yml."""
    content: dict[str, Any] = yaml.safe_load((SCENARIO / "expected.yml").read_text())
    return content
