"""The terminal text of large and unlike fleets: what is the same stands once, and lines stay short."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.alike import merged
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.fleet_table import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_plan, fleet_report
from tests.unit.documents import plan_of
from tests.unit.facts_builder import bare_server

OTHERS = "the others differ in names and numbers alone"


def server(number: int) -> dict[str, Any]:
    """A host whose space and kernel are its own, and too little and without headers."""
    release = f"5.15.0-{100 + number}-generic"
    facts = bare_server()
    package = {"package": f"linux-headers-{release}", "installed": False, "candidate": None}
    kernel = {**facts["kernel"], "release": release, "next_boot": release, "installed": [release], "headers": package}
    disk = {**facts["disk"], "/opt": {"free_mb": 1000 + number, "total_mb": 100_000}}
    return {**facts, "kernel": kernel, "disk": disk}


def timed_out(name: str) -> dict[str, Any]:
    message = f"Failed to connect to the host via ssh: ssh: connect to host {name} port 22: Connection timed out"
    return {"failure": {"kind": "unreachable", "task": "Read the host", "message": message}}


def large_fleet(size: int = 400) -> dict[str, Any]:
    return {f"node{number:03}": {"plan": plan_of(server(number))} for number in range(size)}


def test_messages_that_differ_in_a_hosts_own_values_are_told_once_with_an_example() -> None:
    lines = fleet_plan(large_fleet())["table"].splitlines()
    assert len(lines) < 20, lines
    refused = lines[lines.index("Refused:") + 1 :]
    told = [line for line in refused if "1000 MB free" in line]
    assert told == [f"    found 1000 MB free for /opt (this is node000; {OTHERS})  [all 400 hosts]"]
    headers = [line for line in refused if "headers-5.15.0-100-generic" in line]
    assert len(headers) == 1
    assert headers[0].endswith("[all 400 hosts]")


def test_changes_that_differ_in_the_kernel_are_listed_once_and_those_of_other_versions_apart() -> None:
    def host(number: int, **wishes: Any) -> dict[str, Any]:
        facts = server(number)
        headers = {**facts["kernel"]["headers"], "candidate": "1"}
        kernel = {**facts["kernel"], "headers": headers}
        return {"plan": plan_of({**facts, "kernel": kernel, "disk": bare_server()["disk"]}, **wishes)}

    hosts = {f"node{number}": host(number) for number in range(50)}
    versions = range(1, 6)
    hosts |= {f"other{number}": host(0, packages=[f"tool-6.0.{number}"]) for number in versions}
    lines = fleet_plan(hosts)["table"].splitlines()
    groups = [line for line in lines[lines.index("Changes, in this order:") :] if line.endswith(":")]
    assert groups[1] == "  node[0-49]:"
    assert len(groups) == 1 + 1 + len(versions)
    assert sum(f"(this is node0; {OTHERS})" in line for line in lines[lines.index("  node[0-49]:") :]) == 1


def test_hosts_that_do_not_answer_are_told_once() -> None:
    names = [*(f"node{number}" for number in range(398)), "alpha", "beta.example.org"]
    lines = fleet_report({name: timed_out(name) for name in names})["table"].splitlines()
    assert [line for line in lines if "timed out" in line] == [
        "  Failed to connect to the host via ssh: ssh: connect to host alpha port 22: Connection timed out "
        f"(this is alpha; {OTHERS})  [all 400 hosts]"
    ]


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ([], []),
        ([("a 1", "x"), ("a 1", "y")], ["a 1"]),
        ([(f"a {number}", f"h{number}") for number in range(3)], ["a 0", "a 1", "a 2"]),
        (
            [(f"at 0000:{number}:00.0 b", f"h{number}") for number in range(10, 20)],
            ["at 0000:10:00.0 b (this is h10; "],
        ),
        ([(f"{word} 1", "h") for word in "abcd"], ["a 1", "b 1", "c 1", "d 1"]),
        ([(f"1\nline {number}", f"h{number}") for number in range(9)], ["1 (this is h0; "]),
        # A name is a word, not a part of one.
        ([(f"the {word} one", word) for word in ("o", "t", "e", "x")], ["the o one (this is o; "]),
    ],
)
def test_only_texts_with_the_same_words_are_merged(rows: list[tuple[str, str]], texts: list[str]) -> None:
    found = merged(rows)
    assert len(found) == len(texts)
    for (text, _), start in zip(found, texts, strict=True):
        assert text.startswith(start)
    assert sum(len(hosts) for _, hosts in found) == len(rows)


@pytest.mark.parametrize("width", [76, 116])
@pytest.mark.parametrize("size", [3, 400])
@pytest.mark.parametrize("name", ["n{}", "gpu-node-{}.rack12.cluster.example.org"])
def test_the_table_fits(width: int, size: int, name: str) -> None:
    plans = [plan_of(bare_server()), plan_of(server(1)), plan_of(bare_server(users={"ada": None}))]
    hosts = {name.format(number): {"plan": plans[number % 7 % 3]} for number in range(size)}
    for fleet in (fleet_plan(hosts, width=width), fleet_report(hosts, batches=["1", "25%"], width=width)):
        lines = fleet["table"].splitlines()
        rows = lines[: lines.index("")]
        assert max(len(line) for line in rows) <= width, "\n".join(rows)
        told = " ".join(" ".join(rows).split())
        for host in fleet["hosts"] if size == 3 else ():
            assert host in told
        assert "user-unknown" in told


def test_columns_without_room_stand_below_their_row() -> None:
    header, rows = ["HOST", "PLAN", "CHANGES"], [["a", "x" * 20, "one, two"], ["b", "y", ""]]
    assert table(header, rows, 40) == [
        "HOST  PLAN                  CHANGES",
        f"a     {'x' * 20}  one, two",
        "b     y                     ",
    ]
    assert table(header, rows, 30) == ["HOST  PLAN", f"a     {'x' * 20}", "      changes: one, two", "b     y"]


@given(st.lists(st.lists(st.text("ab ,", max_size=30), min_size=4, max_size=4), max_size=5), st.integers(40, 120))
def test_no_word_is_lost(rows: list[list[str]], width: int) -> None:
    told = " ".join(table(["A", "B", "C", "D"], rows, width))
    words = [word for row in rows for cell in row for word in cell.split()]
    for word in words:
        assert told.count(word) >= words.count(word)
