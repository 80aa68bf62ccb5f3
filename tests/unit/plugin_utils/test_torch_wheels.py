"""The wheel resolver: index, pins, default, refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix, torch_wheels
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.torch_wheels import resolve_torch
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import parse

JAMMY = {"id": "ubuntu", "version_id": "22.04", "codename": "jammy"}
NOBLE = {"id": "ubuntu", "version_id": "24.04", "codename": "noble"}
TRIPLES = [
    ("2.3.0", "0.18.0", "2.3.0"),
    ("2.4.1", "0.19.1", "2.4.1"),
    ("2.7.1", "0.22.1", "2.7.1"),
    ("2.9.1", "0.24.1", "2.9.1"),
    ("2.13.0", "0.28.0", "2.11.0"),
    ("2.14.1", "0.29.1", "2.11.0"),
]


def refusal(*arguments: Any) -> DecisionError:
    with pytest.raises(DecisionError) as caught:
        resolve_torch(*arguments)
    return caught.value


def test_the_first_customer() -> None:
    assert resolve_torch(resolve_release("6.0", JAMMY), "3.10", "2.3.0") == {
        "torch": "2.3.0",
        "rocm_index": "6.0",
        "index_url": "https://download.pytorch.org/whl/rocm6.0",
        "pins": ["torch==2.3.0+rocm6.0", "torchvision==0.18.0+rocm6.0", "torchaudio==2.3.0+rocm6.0"],
        "packages": {
            "torch": "2.3.0+rocm6.0",
            "torchvision": "0.18.0+rocm6.0",
            "torchaudio": "2.3.0+rocm6.0",
        },
        "python": ["3.8", "3.9", "3.10", "3.11", "3.12"],
        "trusted_host": None,
        "alternatives": [
            {
                "url": "https://repo.radeon.com/rocm/manylinux/rocm-rel-6.0/",
                "form": "find-links",
                "gfx": None,
                "torch": "1.13, 2.0, 2.1",
                "status": "third-party",
                "note": "a plain folder; AMD's TensorFlow page names it, for PyTorch only others do",
            }
        ],
        "warnings": [
            {
                "id": "torch-unlisted",
                "message": "PyTorch 2.3.0 is built by PyTorch for ROCm 6.0; AMD lists 1.13, 2.0, 2.1 for ROCm 6.0.0",
            }
        ],
    }


@pytest.mark.parametrize(
    ("rocm", "python", "index", "torch"),
    [
        ("5.1.1", "3.9", "5.1.1", "1.13.1"),
        ("5.4.1", "3.10", "5.3", "2.0.1"),
        ("5.7.1", "3.11", "5.7", "2.3.1"),
        ("6.0.2", "3.10", "6.0", "2.4.1"),
        ("6.1.2", "3.8", "6.1", "2.4.1"),
        ("6.1.2", "3.10", "6.1", "2.6.0"),
        ("6.2.0", "3.12", "6.2", "2.5.1"),
        ("6.2.2", "3.12", "6.2", "2.5.1"),
        ("6.2.4", "3.12", "6.2.4", "2.7.1"),
        ("6.3.3", "3.12", "6.3", "2.9.1"),
        ("6.4.1", "3.12", "6.4", "2.9.1"),
        ("6.4.1", "3.9", "6.4", "2.8.0"),
        ("7.0.2", "3.12", "7.0", "2.10.0"),
        ("7.1.1", "3.12", "7.1", "2.13.0"),
        ("7.2.4", "3.14", "7.2", "2.14.1"),
        ("7.14.1", "3.12", "7.14", "2.14.1"),
        ("10.0", "3.12", "7.14", "2.14.1"),
    ],
)
def test_the_default_is_the_newest_of_the_nearest_index(rocm: str, python: str, index: str, torch: str) -> None:
    wheels = resolve_torch(rocm, python)
    assert (wheels["rocm_index"], wheels["torch"]) == (index, torch)
    assert wheels["index_url"].endswith(f"/whl/rocm{index}")
    assert all(pin.endswith(f"+rocm{index}") for pin in wheels["pins"])
    assert python in wheels["python"]


@pytest.mark.parametrize("triple", TRIPLES, ids=lambda triple: triple[0])
def test_torch_vision_and_audio_belong_together(triple: tuple[str, str, str]) -> None:
    rows = {row["torch"]: row for row in matrix.table("pytorch")["wheels"]}
    row = rows[triple[0]]
    assert (row["torch"], row["torchvision"], row["torchaudio"]) == triple


@pytest.mark.parametrize(
    ("rocm", "torch", "index"),
    [("6.0", "2.3.0", "6.0"), ("6.4", "2.4.0", "6.1"), ("6.1", "2.3.1", "6.0"), ("7.2", "2.10.0", "7.1")],
)
def test_an_older_index_serves_an_older_torch(rocm: str, torch: str, index: str) -> None:
    wheels = resolve_torch(rocm, "3.12", torch)
    assert wheels["rocm_index"] == index
    ids = [warning["id"] for warning in wheels["warnings"]]
    assert ("torch-index-older" in ids) == (not rocm.startswith(index))


def test_an_index_that_the_driver_does_not_serve_is_not_used() -> None:
    # Driver 6.4 serves user space 6.1 and later, and the wheels carry 6.0.
    error = refusal("6.4", "3.10", "2.3.0")
    assert error.id == "torch-no-index"
    assert "2.4.1 (rocm6.1, Python 3.8-3.12)" in error.expected


def test_a_chosen_driver_decides_which_indexes_are_used() -> None:
    newer = resolve_release("7.2.4", NOBLE, driver="31.50")
    assert refusal(newer, "3.12", "2.9.1").id == "torch-no-index"
    older = resolve_release("7.14", NOBLE, driver="30.30.4")
    assert resolve_torch(older, "3.12", "2.9.1")["rocm_index"] == "6.4"


def test_a_torchaudio_that_was_not_published_for_the_index_is_a_doubt() -> None:
    (doubt,) = resolve_torch("7.14", "3.12")["warnings"]
    assert doubt["id"] == "fact-inferred"
    assert "torchaudio 2.11.0 built for ROCm 7.14" in doubt["message"]
    assert resolve_torch("7.2.4", "3.12", "2.14.0")["warnings"] == []


@pytest.mark.parametrize(
    ("rocm", "python", "torch", "id"),
    [
        ("5.0", "3.8", None, "torch-no-index"),
        ("6.0", "3.10", "2.9.1", "torch-no-index"),
        ("6.0", "3.10", "2.3", None),
        ("6.0", "3.10", "2.3.7", "torch-no-index"),
        ("6.0", "3.10", "latest", "torch-no-index"),
        ("6.0", "3.14", None, "python-no-wheel"),
        ("6.0", "3.7", "2.3.0", "python-no-wheel"),
        ("6.0", "2.7", None, "python-no-wheel"),
        ("6.0", "3.x", None, "python-no-wheel"),
        ("6.0", None, None, "python-no-wheel"),
        ("6.5", "3.10", None, "release-unknown"),
    ],
)
def test_refusals(rocm: str, python: str, torch: str | None, id: str | None) -> None:
    if id is None:
        assert resolve_torch(rocm, python, torch)["torch"] == "2.3.0"
        return
    assert refusal(rocm, python, torch).id == id


def test_a_refusal_lists_what_exists() -> None:
    error = refusal("6.0", "3.14")
    assert error.found == "the index rocm6.0 has no wheel for Python 3.14"
    assert "2.4.1 (rocm6.0, Python 3.8-3.12)" in error.expected
    assert "2.3.0 (rocm6.0 rocm5.7, Python 3.8-3.12)" in error.expected
    assert "2.9" not in error.expected


@pytest.mark.parametrize(("value", "spelling"), [(3.1, r"'3\.10'"), (2.1, r"'2\.10'")])
def test_a_lost_zero_is_noticed(value: float, spelling: str) -> None:
    arguments = ("6.0", value) if value == 3.1 else ("7.1", "3.12", value)
    with pytest.raises(DecisionError, match=spelling):
        resolve_torch(*arguments)


def test_floats_that_lost_nothing_are_accepted() -> None:
    assert resolve_torch(6.0, 3.11, 2.3)["torch"] == "2.3.0"


def test_a_refusal_gives_an_example_of_its_own_kind() -> None:
    assert "'3.10'" in refusal("6.0", "3").remedy
    assert "'2.3.0'" in refusal("6.0", "3.10", "latest").remedy


def test_a_patch_version_of_python_is_fine() -> None:
    assert resolve_torch("6.0", "3.10.12")["torch"] == "2.4.1"


@pytest.mark.parametrize(
    ("mirror", "url", "trusted"),
    [
        (
            "http://10.77.0.1:8600/download.pytorch.org",
            "http://10.77.0.1:8600/download.pytorch.org/whl/rocm6.0",
            "10.77.0.1:8600",
        ),
        ("http://mirror.example/", "http://mirror.example/whl/rocm6.0", "mirror.example"),
        ("https://mirror.example:8443/pt/", "https://mirror.example:8443/pt/whl/rocm6.0", None),
        (None, "https://download.pytorch.org/whl/rocm6.0", None),
    ],
)
def test_mirrors(mirror: str | None, url: str, trusted: str | None) -> None:
    wheels = resolve_torch("6.0", "3.10", "2.3.0", {"pytorch": mirror})
    assert (wheels["index_url"], wheels["trusted_host"]) == (url, trusted)


def test_ten_comes_with_warnings_and_the_address_of_amd() -> None:
    wheels = resolve_torch("10.1", "3.12", None, {"amd_stable": "https://mirror.example/stable"})
    assert [warning["id"] for warning in wheels["warnings"]] == [
        "fact-unconfirmed",
        "fact-inferred",
        "torch-index-older",
    ]
    assert [row["url"] for row in wheels["alternatives"]] == ["https://mirror.example/stable/rocm/whl-next/"]
    assert wheels["alternatives"][0]["torch"] == "2.12 to 2.14"


@pytest.mark.parametrize(
    ("rocm", "gfx", "url"),
    [
        ("7.13", "gfx1030", "https://repo.amd.com/rocm/whl/gfx103X-all/"),
        ("7.13", "gfx942", "https://repo.amd.com/rocm/whl/gfx94X-dcgpu/"),
        ("7.13", "gfx90a", "https://repo.amd.com/rocm/whl/gfx90a/"),
        ("7.13", "gfx900", None),
        ("7.14", "gfx942", None),
    ],
)
def test_indexes_per_gpu_family(rocm: str, gfx: str, url: str | None) -> None:
    alternatives = resolve_torch(rocm, "3.12")["alternatives"]
    assert [row["url"] for row in alternatives if gfx in (row["gfx"] or ())] == ([url] if url else [])
    assert "https://repo.amd.com/rocm/whl-multi-arch/" in [row["url"] for row in alternatives]


def test_uncertain_pairs_stay_visible() -> None:
    warnings = resolve_torch("7.2", "3.12", "2.12.1")["warnings"]
    assert [warning["id"] for warning in warnings] == ["fact-inferred"]
    assert "torchvision" in warnings[0]["message"]


def test_old_wheels_may_need_another_index() -> None:
    assert "torch-extra-index" in [warning["id"] for warning in resolve_torch("5.2", "3.9")["warnings"]]


@pytest.mark.parametrize("number", matrix.releases(), ids=str)
def test_every_release_has_wheels_from_5_1_1_on(number: Any) -> None:
    if number.full in ("5.0.0", "5.0.1", "5.0.2", "5.1.0"):
        assert refusal(number.full, "3.9").id == "torch-no-index"
        return
    wheels = resolve_torch(number.full, "3.10")
    json.dumps(wheels)
    assert wheels["index_url"].startswith("https://download.pytorch.org/whl/rocm")


def outcome(*arguments: Any) -> str:
    """'resolved' or the id of the refusal; any other exception fails the test."""
    try:
        resolve_torch(*arguments)
    except DecisionError as error:
        return error.id
    return "resolved"


ANYTHING = st.one_of(
    st.text(), st.floats(), st.none(), st.integers(), st.from_regex(r"[23]\.[0-9]{1,2}", fullmatch=True)
)


@settings(max_examples=150)
@given(ANYTHING, ANYTHING)
def test_any_wish_resolves_or_is_refused(python: object, torch: object) -> None:
    assert outcome("6.0", python, torch) in ("resolved", "torch-no-index", "python-no-wheel")


@pytest.mark.parametrize(
    ("torch", "listed", "answer"),
    [
        ("2.1.2", "1.13, 2.0, 2.1", True),
        ("2.3.0", "1.13, 2.0, 2.1", False),
        ("2.2.2", "1.13, 2.0 to 2.3", True),
        ("1.12.1", "1.10.1 to 1.13", True),
        ("2.8.1", "2.7.1, 2.8.0, 2.9.1", False),
        ("2.10.0", "2.3 to 2.9", False),
    ],
)
def test_versions_that_amd_lists(torch: str, listed: str, answer: bool) -> None:
    assert torch_wheels._among(parse(torch), listed) is answer


def test_a_set_that_amd_lists_is_not_warned_about() -> None:
    wheels = resolve_torch(resolve_release("6.4", NOBLE), "3.12", "2.6.0")
    assert "torch-unlisted" not in [warning["id"] for warning in wheels["warnings"]]
