"""The module that asks the servers, against one that answers from memory."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.modules import rocm_probe

QUESTION = {"url": "https://mirror.example/whl/torch/", "project": "torch", "version": "2.3.0+rocm6.0"}
LINK = '<a href="torch-{}%2Brocm6.0-cp310-cp310-linux_x86_64.whl">w</a>'


def answer(monkeypatch: pytest.MonkeyPatch, status: int, body: bytes) -> dict[str, Any]:
    monkeypatch.setattr(rocm_probe, "request", lambda *_: (status, "", body))
    return rocm_probe.look_for_wheels(QUESTION, 10)


def test_a_page_with_the_wanted_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    page = LINK.format("2.2.0") + LINK.format("2.3.0")
    expected = {"status": 200, "error": "", "tags": ["cp310-cp310"], "versions": ["2.2.0+rocm6.0", "2.3.0+rocm6.0"]}
    assert answer(monkeypatch, 200, page.encode()) == expected


def test_an_empty_page(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(monkeypatch, 200, b"") == {"status": 200, "error": "", "tags": [], "versions": []}


def test_a_page_without_end_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocm_probe, "PAGE_LIMIT", 4)
    assert answer(monkeypatch, 200, b"<htm")["error"]


def test_only_some_versions_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "".join(LINK.format(f"1.{number}") for number in range(50))
    assert len(answer(monkeypatch, 200, page.encode())["versions"]) == rocm_probe.VERSIONS_SHOWN
