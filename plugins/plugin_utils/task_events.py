"""Reads what Ansible hands to a callback."""

from __future__ import annotations

from typing import Any


def part(result: Any, name: str) -> Any:
    """A part of a result; up to ansible-core 2.18 they have only names with an underscore."""
    return getattr(result, name) if hasattr(result, name) else getattr(result, f"_{name}")


def module(task: Any) -> str:
    """The module of a task, without its collection."""
    return str(task.action).rpartition(".")[2]


def roles(task: Any) -> list[str]:
    """Names of the roles around a task, outermost first."""
    names: list[str] = []
    node = task
    while node:
        role = getattr(node, "_role", None)
        if role:
            names.insert(0, role.get_name())
        node = getattr(node, "_parent", None)
    return names
