"""Version numbers: reading, comparing, the forms that AMD uses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

GARBAGE: list[object] = [
    None,
    "",
    " ",
    "latest",
    "6.x",
    "6",
    6,
    True,
    "v6.0",
    "rocm-6.0",
    " 6.0 ",
    "6.0\n",
    "６.０",  # noqa: RUF001 (full-width digits on purpose)
    "٦.٠",  # noqa: RUF001
    "6.0.",
    ".6",
    "06.0",
    "6.00",
    "6.0.0.0.0",
    "-6.0",
    "6.0-91",
    "6,0",
    "6.123456",
    float("nan"),
    float("inf"),
    6.123456,
    -6.0,
    [],
    {},
    b"6.0",
]


@pytest.mark.parametrize("value", GARBAGE, ids=ascii)
def test_garbage_gives_one_clear_error(value: object) -> None:
    with pytest.raises(DecisionError) as caught:
        parse(value)
    error = caught.value
    assert error.id == "release-unknown"
    assert str(error) == f"{error.found}; expected {error.expected}. Next: {error.remedy}"
    assert str(error).isprintable()
    assert len(str(error)) < 300


@pytest.mark.parametrize("text", ["v6.0", "rocm-6.0", " 6.0 ", "6.0\n", "6.0-91"])
def test_a_visible_version_is_offered_as_spelling(text: str) -> None:
    with pytest.raises(DecisionError, match=r"Next: write '6\.0'"):
        parse(text)


def test_floats_are_accepted_where_nothing_was_lost() -> None:
    known = [Version(6, 0), Version(7, 1), Version(7, 10), Version(7, 2)]
    assert parse(6.0, known=known) == Version(6, 0)
    assert parse(7.2, known=known) == Version(7, 2)
    assert parse(7.14, known=known) == Version(7, 14)
    assert parse(10.0, known=known) == Version(10, 0)


def test_a_float_that_lost_a_zero_is_refused_with_both_spellings() -> None:
    with pytest.raises(DecisionError, match=r"'7\.1' or '7\.10' with the quotes"):
        parse(7.10, known=[Version(7, 1), Version(7, 10)])


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("7.2", "10.0"),
        ("7.2.4", "7.14"),
        ("7.9", "7.10"),
        ("6.4.2", "6.4.2.1"),
        ("6.4.2.1", "6.4.3"),
        ("22.20.3", "30.10"),
        ("30.10.2", "30.20"),
    ],
)
def test_order_is_numeric(smaller: str, larger: str) -> None:
    assert parse(smaller) < parse(larger)


def test_missing_parts_are_zero() -> None:
    assert parse("6.4") == parse("6.4.0") == parse("6.4.0.0")
    assert parse("6.4") != parse("6.4.1")
    assert len({parse("6.4"), parse("6.4.0")}) == 1


@pytest.mark.parametrize(
    ("text", "full", "directory", "line", "build"),
    [
        ("6.0", "6.0.0", "6.0", "6.0", "60000"),
        ("6.0.2", "6.0.2", "6.0.2", "6.0", "60002"),
        ("6.4.0", "6.4.0", "6.4", "6.4", "60400"),
        ("6.4.2", "6.4.2", "6.4.2", "6.4", "60402"),
        ("6.4.2.1", "6.4.2.1", "6.4.2.1", "6.4", "60402"),
        ("7.2.4", "7.2.4", "7.2.4", "7.2", "70204"),
        ("10.0.0", "10.0.0", "10.0", "10.0", "100000"),
        ("30.30.0", "30.30.0", "30.30", "30.30", "303000"),
    ],
)
def test_forms(text: str, full: str, directory: str, line: str, build: str) -> None:
    version = parse(text)
    assert (version.full, version.directory, version.line, version.build) == (full, directory, line, build)
    assert str(version) == full


@given(st.lists(st.integers(0, 99999), min_size=2, max_size=4))
def test_every_version_survives_a_round_trip(parts: list[int]) -> None:
    version = Version(*parts)
    assert parse(version.full) == version
    assert parse(version.directory) == version


@given(st.one_of(st.text(), st.floats(), st.integers(), st.none(), st.binary()))
def test_anything_else_raises_only_the_decision_error(value: object) -> None:
    try:
        parse(value)
    except DecisionError:
        return
