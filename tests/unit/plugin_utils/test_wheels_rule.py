"""Which wheels run on which Python."""

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.rules.wheels import fits


@pytest.mark.parametrize(
    ("tag", "python", "expected"),
    [
        ("cp310-cp310", "3.10", True),
        ("cp310-cp310", "3.11", False),
        ("cp310-cp310", "3.1", False),
        ("cp313-cp313t", "3.13", False),
        ("cp39-abi3", "3.12", True),
        ("cp39-abi3", "3.8", False),
        ("py3-none", "3.12", True),
        ("py2.py3-none", "3.12", True),
        ("py2-none", "3.12", False),
        ("pp310-pypy310", "3.10", False),
    ],
)
def test_fits(tag: str, python: str, expected: bool) -> None:
    assert fits(tag, python) is expected
