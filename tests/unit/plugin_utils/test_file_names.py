"""No host's file is written over another's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.controller import write_documents
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.file_names import file_names

DIGEST = re.compile(r"-[0-9a-f]{12}\.json")


@pytest.mark.parametrize("name", ["node-1", "gpu1.example.org", "10.0.7.9", "fe80::1", "GPU01", "a_b", "knoten-ä"])
def test_a_name_that_can_be_a_file_is_one(name: str) -> None:
    assert file_names([name]) == {name: f"{name}.json"}


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a/b", "a_b"),
        ("../../etc/passwd", "_._.._etc_passwd"),
        (".hidden", "_hidden"),
        ("a.plan", "a.plan"),
        ("a.Check", "a.Check"),
        ("web[1] x\n", "web_1__x_"),
        ("", ""),
        ("x" * 300, "x" * 231),
        ("ä" * 200, "ä" * 115),
        ("a\u0308", "a_"),
        ("\udc80", "_"),
    ],
)
def test_other_names_get_a_digest(name: str, start: str) -> None:
    file = file_names([name])[name]
    assert DIGEST.sub("", file) == start
    assert DIGEST.search(file)
    assert "/" not in file
    assert not file.startswith(".")


def test_names_that_differ_in_case_alone_have_files_that_differ_in_more() -> None:
    files = file_names(["Node", "NODE", "node", "other"])
    assert len({file.casefold() for file in files.values()}) == 4
    assert (files["node"], files["other"]) == ("node.json", "other.json")


@given(st.sets(st.text(st.sampled_from("aAäÄß/_.: -é\u0308"), max_size=5) | st.text(max_size=300), max_size=20))
def test_every_host_has_a_file_of_its_own(hosts: set[str]) -> None:
    files = file_names(hosts)
    assert len({file.casefold() for file in files.values()}) == len(hosts)
    assert all(len(f".{file}.part".encode()) <= 255 and not set(file) & {"/", "\0"} for file in files.values())


def test_every_document_is_written(tmp_path: Path) -> None:
    hosts = ["a/b", "a_b", "A_B", "a.plan", "a", "x" * 300, "y" + "x" * 300, "ä", "node/../x"]
    fleet = {"hosts": {host: {"host": host} for host in hosts}}
    for suffix in ("", ".plan"):
        assert write_documents(fleet, tmp_path, suffix)
        assert not write_documents(fleet, tmp_path, suffix)
    told = [json.loads(path.read_text(encoding="utf-8"))["host"] for path in tmp_path.iterdir()]
    assert sorted(told) == sorted(hosts * 2)
