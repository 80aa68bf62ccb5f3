"""Host names in natural order and in few words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import as_pattern, natural, shortened


def expanded(text: str) -> list[str]:
    """The names that a short form stands for, read as docs/report.md explains it."""
    names = []
    for part in re.split(r", ", text):
        match = re.fullmatch(r"([^\[]*)\[([0-9,-]+)\]([^\[]*)", part)
        if not match:
            names.append(part)
            continue
        for run in match[2].split(","):
            low, _, high = run.partition("-")
            width = len(low) if len(low) == len(high or low) else 0
            names += [f"{match[1]}{number:0{width}}{match[3]}" for number in range(int(low), int(high or low) + 1)]
    return names


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["b", "a"], "a, b"),
        (["node10", "node9", "node8", "node7"], "node7, node8, node9, node10"),
        ([f"node{number}" for number in range(1, 121)], "node[1-120]"),
        ([f"node{number:03}" for number in (1, 2, 3, 5, 8, 9)], "node[001-003,005,008-009]"),
        ([f"n{number:02}" for number in range(8, 13)], "n[08-12]"),
        (["n0", "n1", "n2", "n9", "n10"], "n[0-2,9-10]"),
        (["n1", "n01", "n2", "n02", "n3"], "n[1,01,2,02,3]"),
        ([f"gpu{number}.dc2.example.org" for number in range(1, 6)], "gpu[1-5].dc2.example.org"),
        ([f"rack1-gpu{number}-ib" for number in range(1, 6)], "rack1-gpu[1-5]-ib"),
        ([f"10.0.7.{number}" for number in range(9, 14)], "10.0.7.[9-13]"),
        (["login", "a1", "a2", "a3", "b1"], "a[1-3], b1, login"),
        (["x[1]", "a1", "a2", "a3", "b 1"], "a[1-3], b 1, x[1]"),
    ],
)
def test_short_forms(names: list[str], text: str) -> None:
    assert shortened(names) == text


def test_a_whole_fleet_is_not_listed() -> None:
    assert shortened(["a", "b", "c"], fleet=3) == "all 3 hosts"
    assert shortened(["a"], fleet=1) == "a"


@given(st.sets(st.from_regex(r"[a-c]?(0{0,2}[0-9]{1,3})?(-ib|\.x1)?", fullmatch=True).filter(bool), max_size=60))
def test_a_short_form_is_exact(names: set[str]) -> None:
    assert sorted(expanded(shortened(names, room=10_000))) == sorted(names) or not names


@given(st.sets(st.text(st.sampled_from("ab01-."), min_size=1, max_size=9), min_size=1, max_size=99), st.integers(9, 80))
def test_a_long_list_ends_with_a_count(names: set[str], room: int) -> None:
    start, _, more = shortened(names, room=room).partition(", and ")
    assert len(start) <= room
    assert len(expanded(start)) + int((more or "0 more").removesuffix(" more")) == len(names)


def test_names_that_do_not_fit_are_counted() -> None:
    odd = [f"n{number}" for number in range(1, 800, 2)]
    text = shortened(odd)
    assert text.startswith("n[1,3,5,")
    assert text.endswith("], and 366 more")
    assert shortened(["x" * 120, "y"]) == "x" * 120 + ", and 1 more"


@given(st.lists(st.text(max_size=12)))
def test_any_names_can_be_sorted(names: list[str]) -> None:
    assert sorted(sorted(names), key=natural) == sorted(sorted(names, reverse=True), key=natural)


@given(st.text(min_size=1, max_size=12) | st.from_regex(r"[~!&,:*?\[\] \na-c0-9]{1,6}", fullmatch=True))
def test_a_pattern_is_for_one_name(name: str) -> None:
    pattern = as_pattern(name)
    if pattern == name:
        assert re.fullmatch(r"[\w.-]+", name)
        return
    assert re.fullmatch(r"~[\\A-Za-z0-9]+", pattern)
    assert re.match(pattern[1:], name)
    assert not re.match(pattern[1:], name + "x")
    assert not re.match(pattern[1:], "x" + name)


def test_a_name_that_ansible_cannot_tell_from_a_group_is_an_error() -> None:
    assert as_pattern("web", groups=["web"]) == "web"
    with pytest.raises(ValueError, match=r"found a host and a group .*'a,b'; expected .* Next: rename"):
        as_pattern("a,b", groups=["a,b"])
