"""The module that asks the servers, against one that answers from memory."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
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


class Page(BaseHTTPRequestHandler):
    """One page of wheels; everything else is missing."""

    def do_GET(self) -> None:
        found = self.path == "/whl/torch/"
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(LINK.format("2.3.0").encode() if found else b"")

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Not to the terminal."""


@pytest.fixture
def server() -> Iterator[str]:
    """Address of a server with that page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def test_the_module_answers_every_question(server: str) -> None:
    root = Path(__file__).resolve().parents[2] / "collections"
    pages = [
        {"url": f"{server}/whl/{name}/", "project": name, "version": "2.3.0+rocm6.0"}
        for name in ("torch", "torchaudio")
    ]
    questions = {"urls": [f"{server}/Release"], "keys": [f"{server}/key"], "wheels": pages}
    arguments = {"ANSIBLE_MODULE_ARGS": {"questions": questions, "_ansible_remote_tmp": "/tmp"}}
    code = f"import sys; sys.path.insert(0, {str(root)!r})\n" + (
        "from ansible_collections.gpufleet.rocm.plugins.modules import rocm_probe\nrocm_probe.main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(arguments), capture_output=True, text=True, check=False
    )
    answers = json.loads(result.stdout)
    assert answers["urls"] == {f"{server}/Release": {"status": 200, "error": ""}}
    assert answers["keys"][f"{server}/key"]["status"] == 404
    assert answers["wheels"][f"{server}/whl/torch/"]["tags"] == ["cp310-cp310"]
    assert answers["wheels"][f"{server}/whl/torchaudio/"]["status"] == 404
