"""Fixtures of the readers' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.module_utils.tree import MakeHost, Tree, write_tree


@pytest.fixture
def make_host(tmp_path: Path) -> MakeHost:
    """A function that turns a dictionary of paths into a host."""

    def make(tree: Tree) -> Host:
        write_tree(tmp_path, tree)
        return Host(str(tmp_path))

    return make
