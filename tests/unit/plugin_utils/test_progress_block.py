"""The block that a terminal shows, and how it is drawn, on a screen that behaves like one."""

from __future__ import annotations

import io
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import terminal
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress import Fleet
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.progress_block import Line, block, cells, fitted
from tests.unit.screen import Screen

SDK = ["gpufleet.rocm.rocm_sdk"]


def three() -> Fleet:
    fleet = Fleet(0.0)
    fleet.begin_play("Change", ["n10", "n2", "n1"])
    fleet.begin("n1", "Install", SDK, 10)
    fleet.begin("n2", "Check", ["rocm_verify"], 10)
    fleet.end("n2", 30, "failed")
    return fleet


def three_hundred() -> Fleet:
    fleet = Fleet(0.0)
    names = [f"node{number:03}" for number in range(1, 301)]
    fleet.begin_play("Change", names)
    for index, name in enumerate(names[:200]):
        fleet.begin(name, f"Step of {name}", SDK, 100.0 - index / 10)
        if index < 10:
            fleet.end(name, 120, "failed")
    return fleet


def lines(fleet: Fleet, now: float, columns: int = 80, rows: int = 24) -> list[str]:
    return [line.text for line in block(fleet, now, columns, rows)]


def test_three_hosts_have_a_row_each() -> None:
    assert lines(three(), 140) == [
        "2m20s  1 failed, 1 running, 1 waiting  Change",
        "n1   sdk     running  2m10s  Install 2m10s",
        "n2   verify  failed   20s    Check",
        "n10  -       waiting  0s",
    ]


def test_three_hundred_hosts_are_counted_and_the_worst_are_named() -> None:
    shown = lines(three_hundred(), 160, rows=10)
    assert len(shown) == 10
    assert shown[:4] == [
        "2m40s  10 failed, 190 running, 100 waiting  Change",
        " 10  sdk  failed   node[001-010]",
        "190  sdk  running  node[011-200]",
        "100  -    waiting  node[201-300]",
    ]
    # Those that failed and those that take longest have half the room each.
    assert [row.split()[0] for row in shown[4:]] == ["node010", "node009", "node008", "node200", "node199", "node198"]
    assert shown[-1].endswith("Step of node198 1m19s")


@given(st.integers(0, 120), st.integers(0, 60), st.sampled_from([three, three_hundred]))
def test_the_block_never_exceeds_the_terminal(columns: int, rows: int, fleet: object) -> None:
    shown = lines(fleet(), 160, columns, rows)  # type: ignore[operator]
    assert len(shown) <= rows
    assert all(cells(line) <= columns for line in shown)


def test_more_groups_than_rows_are_counted() -> None:
    fleet = Fleet(0.0)
    fleet.begin_play("Change", [f"n{number}" for number in range(30)])
    for number in range(30):
        fleet.begin(f"n{number}", "Step", [f"role{number}"], 1)
    shown = lines(fleet, 2, rows=5)
    assert len(shown) == 5
    assert shown[-1] == "and 27 more groups"


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("short", 5, "short"),
        ("too long", 6, "too..."),
        ("long", 2, ".."),
        ("漢字漢字", 7, "漢字..."),
        ("a\x1b[31m\nb", 20, "a [31m b"),
    ],
)
def test_fitted(text: str, columns: int, expected: str) -> None:
    assert fitted(text, columns) == expected


class Terminal(io.StringIO):
    """Passes what is written to a screen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, columns: int = 40, rows: int = 10) -> None:
        super().__init__()
        self.screen = Screen(columns, rows)
        monkeypatch.setattr(terminal, "size", lambda _stream: (self.screen.columns, self.screen.height))

    def write(self, text: str) -> int:
        self.screen.feed(text)
        return len(text)


def draw(shown: terminal.Block, *rows: str) -> None:
    shown.draw([Line(row) for row in rows], [f"\x1b[31m{row}\x1b[0m" for row in rows])


def test_text_comes_out_above_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal(monkeypatch)
    shown = terminal.Block(out)
    above = terminal.Above(out, shown, threading.RLock())
    draw(shown, "head", "n1 running", "n2 running")
    above.write("first\nsecond\n")
    assert out.screen.text == "first\nsecond\nhead\nn1 running\nn2 running"
    # Fewer and shorter lines leave nothing of the former ones.
    draw(shown, "head", "n1")
    assert out.screen.text == "first\nsecond\nhead\nn1"
    for number in range(30):
        above.write(f"line {number}\n")
    assert out.screen.text.splitlines()[-3:] == ["line 29", "head", "n1"]
    assert [row for row in out.screen.text.splitlines() if row == "head"] == ["head"]
    shown.erase()
    assert out.screen.text.splitlines()[-1] == "line 29"
    assert out.screen.cursor_shown


def test_the_block_makes_room_for_a_line_that_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal(monkeypatch)
    shown = terminal.Block(out)
    above = terminal.Above(out, shown, threading.RLock())
    draw(shown, "head")
    above.write("Password: ")
    draw(shown, "head, later")
    assert out.screen.text == "Password:"
    above.write("given\n")
    assert out.screen.text == "Password: given\nhead, later"


def test_a_terminal_that_became_narrower_is_cleared_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal(monkeypatch)
    shown = terminal.Block(out)
    shown.print("kept\n")
    narrow = Screen(20, 10)
    draw(shown, "x" * 30, "y" * 10)
    # As terminals do that wrap their lines anew.
    narrow.feed("kept\n" + "x" * 30 + "\n" + "y" * 10 + "\n")
    out.screen = narrow
    draw(shown, "x" * 19, "y" * 10)
    assert narrow.text == "kept\n" + "x" * 19 + "\n" + "y" * 10


def test_a_forked_worker_writes_as_if_there_were_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal(monkeypatch)
    shown = terminal.Block(out)
    above = terminal.Above(out, shown, threading.RLock())
    draw(shown, "head")
    monkeypatch.setattr(os, "getpid", lambda: -1)
    above.write("from a worker")
    assert out.screen.text == "head\nfrom a worker"


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("term", "can"), [("xterm", True), ("dumb", False), ("", False)])
def test_only_a_terminal_that_can_is_redrawn(term: str, can: bool) -> None:
    assert terminal.can_redraw(Tty(), term) is can
    assert not terminal.can_redraw(io.StringIO(), term)


def test_a_terminal_without_a_size_is_taken_as_a_usual_one() -> None:
    controller, device = os.openpty()
    with os.fdopen(device, "w") as stream:
        assert terminal.size(stream) == (80, 24)
    os.close(controller)
    assert terminal.size(io.StringIO()) == (80, 24)
