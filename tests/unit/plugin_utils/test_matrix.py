"""The data files: shape of each row, references between files, and the look-ups over them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix, systems
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.addresses import UPSTREAM
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.doubts import fields_in_doubt
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import Version, parse

PUBLISHED = yaml.safe_load((Path(__file__).parent / "published_tables.yml").read_text(encoding="utf-8"))
STATUS = {"confirmed", "inferred", "conflicting", "unconfirmed", "third-party"}
ALWAYS = {"status", "source"}
MAYBE = {"doubts", "note"}
# file, path to the rows, required keys, optional keys
SHAPES = [
    ("releases", "repositories", {"name", "stream", "base", "path", "key"}, {"key_path"}),
    ("releases", "unpublished", {"version", "reason"}, set()),
    ("releases", "driver_only", {"version", "release"}, set()),
    ("releases", "releases", {"version", "driver"}, {"released", "kind", "repository", "graphics"}),
    ("drivers", "failures", {"drivers", "series"}, {"abi_from"}),
    ("drivers", "drivers", {"version", "module"}, {"released", "build"}),
    ("compatibility", "lines", {"driver", "user_space"}, set()),
    ("compatibility", "unlisted_user_space", {"line"}, set()),
    ("compatibility", "limits", {"gpus"}, {"driver_since", "driver_not", "when"}),
    ("os", "systems", {"id", "version", "codename", "suite", "directory"}, set()),
    ("os", "support", {"releases", "kernels"}, set()),
    (
        "gpus",
        "gpus",
        {"name", "family", "gfx", "architecture", "since"},
        {"integrated", "sure_since", "deprecated", "until", "pci", "revisions", "vf"},
    ),
    ("keys", "keys", {"name", "fingerprint", "path"}, {"base", "url", "reports"}),
    ("packages", "driver_prerequisites", {"system", "names"}, set()),
    ("packages", "gpu_suffixes", {"repository", "required", "values"}, set()),
    ("packages", "meta", {"name", "stream", "contents"}, {"since", "until"}),
    ("packages", "shadowed", {"name", "kind"}, {"since", "until"}),
    ("packages", "renamed", {"name", "package", "answer"}, set()),
    ("pytorch", "wheels", {"torch", "torchvision", "torchaudio", "indexes", "python"}, set()),
    ("pytorch", "amd_indexes", {"name", "since", "base", "path", "form", "note"}, {"until", "families"}),
    ("pytorch", "amd_listed", {"rocm", "torch"}, set()),
]
FILES = sorted({shape[0] for shape in SHAPES} | {"sources"})


def rows(file: str, key: str) -> tuple[Mapping[str, Any], ...]:
    found: tuple[Mapping[str, Any], ...] = matrix.table(file)[key]
    return found


def walk(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping inside a table."""
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from walk(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from walk(item)


@pytest.mark.parametrize(("file", "key", "required", "optional"), SHAPES, ids=lambda value: str(value)[:24])
def test_rows_have_known_keys_a_status_and_a_source(
    file: str, key: str, required: set[str], optional: set[str]
) -> None:
    assert rows(file, key)
    for row in rows(file, key):
        assert required | ALWAYS <= set(row), row
        assert set(row) <= required | ALWAYS | optional | MAYBE, row


@pytest.mark.parametrize("file", FILES)
def test_statuses_and_sources_are_known(file: str) -> None:
    known = {row["id"] for row in rows("sources", "sources")}
    for row in walk(matrix.table(file)):
        assert row.get("status", "confirmed") in STATUS, row
        assert set(row.get("source", ())) <= known, row
        assert "source" not in row or row["source"], row
        assert fields_in_doubt(row) or "doubts" not in row, row
        assert {status for _, status, _ in fields_in_doubt(row)} <= STATUS - {"confirmed"}, row
        # What holds for the whole row is not said again of a field; a release is known by more than its addresses.
        assert file == "releases" or row.get("status") not in {status for _, status, _ in fields_in_doubt(row)}, row


@pytest.mark.parametrize("file", FILES)
def test_no_version_was_read_as_a_number(file: str) -> None:
    """An unquoted 7.10 would have become 7.1; only a few keys are numbers or flags."""
    allowed = {"schema", "abi_from", "required", "preview", "integrated"}
    for row in walk(matrix.table(file)):
        for key, value in row.items():
            assert key in allowed or not isinstance(value, (int, float)), (key, value)
            if isinstance(value, tuple):
                assert not any(isinstance(item, (int, float)) for item in value), (key, value)


def test_sources_say_where_to_look() -> None:
    ids = [row["id"] for row in rows("sources", "sources")]
    assert not [id for id, count in Counter(ids).items() if count > 1]
    for row in rows("sources", "sources"):
        assert {"id", "repo", "path"} <= set(row) <= {"id", "repo", "path", "ref", "note"}


def test_releases_name_known_things() -> None:
    repositories = {row["name"]: row for row in rows("releases", "repositories")}
    keys = {row["name"] for row in rows("keys", "keys")}
    for row in rows("releases", "releases"):
        repository = row.get("repository", "radeon")
        assert repository is None or repository in repositories
        assert row.get("kind", "preview") in ("preview", "delta", "radeon-only")
        assert row["driver"] is None or parse(row["driver"]) in matrix.drivers()
        assert repository is None or row["driver"], f"{row['version']} has a repository and no driver"
        assert row["version"] == parse(row["version"]).full
        assert "graphics" not in row or parse(row["graphics"]) in matrix.releases()
        assert "released" not in row or re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", row["released"])
        assert {field for field, _, _ in fields_in_doubt(row)} <= {"suite", "repository", "graphics", "driver"}
    for repository in repositories.values():
        assert repository["base"] in UPSTREAM
        assert repository["key"] in keys
        assert ("key_path" in repository) == (repository["key"] != "radeon")


def test_releases_and_drivers_are_unique_and_ordered() -> None:
    versions = [parse(row["version"]) for row in rows("releases", "releases")]
    assert versions == sorted(set(versions))
    drivers = [parse(row["version"]) for row in rows("drivers", "drivers")]
    assert len(drivers) == len(set(drivers))
    assert all(row["version"] == parse(row["version"]).directory for row in rows("drivers", "drivers"))
    assert not {parse(row["version"]) for row in rows("releases", "unpublished")} & set(versions)


def test_drivers_belong_to_a_release_or_say_why_not() -> None:
    used = {row["driver"] for row in rows("releases", "releases")}
    used |= {row["version"] for row in rows("releases", "driver_only")}
    assert {row["version"] for row in rows("drivers", "drivers")} - used == {"30.30.2"}
    assert {parse(row["release"]) for row in rows("releases", "driver_only")} <= set(matrix.releases())
    for row in rows("drivers", "drivers"):
        assert {field for field, _, _ in fields_in_doubt(row)} <= {"module", "build"}
        assert row["module"] is None or re.fullmatch(r"\d+\.\d+\.\d+", row["module"])
        assert "build" not in row or re.fullmatch(r"\d{5}", row["build"])
        assert "released" not in row or re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", row["released"])
    for row in rows("drivers", "failures"):
        assert all(parse(name) in matrix.drivers() for name in row["drivers"])


def test_every_release_is_in_exactly_one_support_group() -> None:
    named = Counter(parse(name) for group in rows("os", "support") for name in group["releases"])
    assert set(named) == set(matrix.releases())
    assert set(named.values()) == {1}


KERNEL_KEYS = {"system", "points", "series", "flavour", "preview", "only", "without", "package", "status", "note"}


def test_kernel_rows() -> None:
    codenames = {row["codename"]: row for row in rows("os", "systems")}
    known_gpus = {row["name"] for row in rows("gpus", "gpus")} | {"instinct", "radeon", "ryzen"}
    for group in rows("os", "support"):
        for row in group["kernels"]:
            assert {"system", "points", "series"} <= set(row)
            assert set(row) <= KERNEL_KEYS
            assert "note" in row or row.get("status", "confirmed") == "confirmed", "say why a kernel is in doubt"
            assert row.get("status", "confirmed") in STATUS
            assert row["system"] in codenames
            assert "package" not in row or re.fullmatch(r"linux-[a-z0-9.-]+", row["package"])
            assert row["series"] is None or re.fullmatch(r"\d+\.\d+", row["series"])
            assert row.get("flavour", "ga") in ("ga", "hwe", "oem")
            assert {*row.get("only", ()), *row.get("without", ())} <= known_gpus, row
            assert all(point.startswith(codenames[row["system"]]["version"]) for point in row["points"])


def test_core_releases_only_name_systems_with_a_directory() -> None:
    directories = {row["codename"]: row["directory"] for row in rows("os", "systems")}
    for number, row in matrix.releases().items():
        if row.get("repository", "radeon") not in ("radeon", None):
            assert all(directories[kernel["system"]] for kernel in systems.support_group(number)["kernels"])


def test_compatibility_names_known_lines() -> None:
    driver_lines = {number.line for number in matrix.drivers()}
    release_lines = {number.line for number in matrix.releases()}
    for row in rows("compatibility", "lines"):
        assert row["driver"] in driver_lines
        assert set(row["user_space"]) <= release_lines
    assert {row["line"] for row in rows("compatibility", "unlisted_user_space")} <= release_lines
    known = {row["name"] for row in rows("gpus", "gpus")}
    for row in rows("compatibility", "limits"):
        assert set(row["gpus"]) <= known
        named = [*row.get("driver_not", ()), *([row["driver_since"]] if "driver_since" in row else [])]
        assert named
        assert {parse(driver) for driver in named} <= set(matrix.drivers())


def test_gpus() -> None:
    names = [row["name"] for row in rows("gpus", "gpus")]
    assert len(names) == len(set(names))
    targets: dict[str, set[str]] = {}
    for row in rows("gpus", "gpus"):
        assert re.fullmatch(r"gfx[0-9a-f]{3,4}", row["gfx"])
        assert row["family"] in ("instinct", "radeon", "ryzen")
        assert row.get("integrated", False) == (row["family"] == "ryzen")
        for device in (*row.get("pci", ()), *row.get("vf", ())):
            assert re.fullmatch(r"[0-9a-f]{4}", device)
            targets.setdefault(device, set()).add(row["gfx"])
        life = [row[key] for key in ("since", "sure_since", "deprecated", "until") if row.get(key) is not None]
        assert all(parse(version).full == version for version in life)
        assert all(parse(earlier) < parse(later) for earlier, later in pairwise(life)), row
        assert ("sure_since" in row) == any(field == "since" for field, _, _ in fields_in_doubt(row)), row
        assert row["since"] or row["status"] != "confirmed" or "note" in row, "say why no release supports it"
        assert all(re.fullmatch(r"[0-9a-f]{2}", revision) for revision in row.get("revisions", ()))
    assert all(len(gfx) == 1 for gfx in targets.values()), "one device id, one target"


def test_package_targets_are_known() -> None:
    known = {row["gfx"] for row in rows("gpus", "gpus")}
    repositories = {row["name"] for row in rows("releases", "repositories")}
    for row in rows("packages", "gpu_suffixes"):
        assert row["repository"] in repositories
        assert all(any(matrix.in_family(gfx, ending) for gfx in known) for ending in row["values"]), row
        assert row["required"] == any(ending.endswith("x") for ending in row["values"])
    metas = {row["name"] for row in rows("packages", "meta")}
    assert {name for stream in matrix.table("packages")["streams"].values() for name in stream["default"]} <= metas
    for row in rows("packages", "meta"):
        assert row["stream"] == ("core" if "{line}" in row["name"] else "legacy"), row
    assert {row["kind"] for row in rows("packages", "shadowed")} == {"same-name", "library"}


def test_wheels() -> None:
    torches = [parse(row["torch"]) for row in rows("pytorch", "wheels")]
    assert torches == sorted(set(torches))
    for row in rows("pytorch", "wheels"):
        for key in ("torchvision", "torchaudio"):
            assert parse(row[key]).full == row[key]
        assert all(parse(index) in matrix.releases() for index in row["indexes"])
        assert all(parse(index).directory == index for index in row["indexes"])
        assert all(re.fullmatch(r"3\.\d+t?", tag) for tag in row["python"])
    for older, newer in pairwise(rows("pytorch", "wheels")):
        assert parse(older["torchvision"]) < parse(newer["torchvision"])
        assert parse(older["torchaudio"]) <= parse(newer["torchaudio"])


def test_places_of_amds_wheels() -> None:
    targets = {row["gfx"] for row in rows("gpus", "gpus")}
    for row in rows("pytorch", "amd_indexes"):
        assert row["base"] in UPSTREAM
        assert row["form"] in ("index-url", "find-links")
        assert row["path"].startswith("/rocm/")
        assert row["path"].endswith("/")
        assert ("families" in row) == ("{family}" in row["path"])
        for family in row.get("families", ()):
            assert any(matrix.in_family(gfx, family.partition("-")[0].lower()) for gfx in targets), family
        assert "until" not in row or parse(row["since"]) < parse(row["until"])
    lines = {number.line for number in matrix.releases()} | {number.full for number in matrix.releases()}
    for row in rows("pytorch", "amd_listed"):
        assert set(row["rocm"]) <= lines


def test_keys() -> None:
    assert {row["name"]: row["fingerprint"] for row in rows("keys", "keys")} == {
        "radeon": "CA8BB4727A47B4D09B4EE8969386B48A1A693C5C",
        "amd": "D0F004A0025A1145C7807FCD0701EAC4D5E02107",
    }
    for row in rows("keys", "keys"):
        assert re.fullmatch(r"/etc/apt/keyrings/[a-z]+\.asc", row["path"])
        for report in row.get("reports", ()):
            assert set(report) == {"base", "signed_by", "note"} | ALWAYS
            assert report["base"] in UPSTREAM
            assert report["status"] != "confirmed"
            assert report["signed_by"] == "C367239A86C9B62AF49C921EFA296B056C5BB456"


@pytest.mark.parametrize("number", [number for number in matrix.releases() if "released" in matrix.releases()[number]])
def test_kernels_as_published(number: Version) -> None:
    published = PUBLISHED["kernels"][number.full]
    listed: dict[str, list[Mapping[str, Any]]] = {}
    group = systems.support_group(number)
    for row in group["kernels"]:
        listed.setdefault(row["system"], []).append(row)
    assert set(listed) == set(published)
    for codename, kernels in listed.items():
        if published[codename]:
            assert {row["series"] for row in kernels} == set(published[codename])
        for row in kernels:
            sure = row.get("status", group["status"]) == "confirmed"
            assert not sure or bool(row["series"]) == bool(published[codename]), (
                "a kernel that nobody names is in doubt"
            )


def test_gpus_as_published() -> None:
    listed = {row["name"]: row for row in rows("gpus", "gpus")}
    for name, published in PUBLISHED["gpus"].items():
        row = listed[name]
        assert (row["gfx"], list(row.get("pci", ())), list(row.get("vf", ()))) == (
            published["gfx"],
            published["pci"],
            published["vf"],
        )
        if published["since"]:
            assert parse(row["since"]) == parse(published["since"]), name
        else:
            assert row["since"] is None or "since" in row["doubts"], name
        assert list(row.get("revisions", ())) == published.get("revisions", []), name
        for key in ("deprecated", "until"):
            assert (key in row) == (key in published), name
            assert key not in row or parse(row[key]) == parse(published[key]), name


def test_wheels_as_published() -> None:
    assert {row["torch"] for row in rows("pytorch", "wheels")} == set(PUBLISHED["wheels"])
    for row in rows("pytorch", "wheels"):
        published = PUBLISHED["wheels"][row["torch"]]
        assert (row["torchvision"], row["torchaudio"], list(row["indexes"])) == (
            published["torchvision"],
            published["torchaudio"],
            published["indexes"],
        )
        assert list(row["python"]) == python_tags(published["python"])


def python_tags(text: str) -> list[str]:
    """'3.12-3.14, 3.14t' as a list of tags."""
    tags = []
    for part in text.split(", "):
        first, _, last = part.partition("-")
        minors = range(parse(first).minor, parse(last).minor + 1) if last else ()
        tags += [f"3.{minor}" for minor in minors] or [part]
    return tags


def test_driver_modules_as_published() -> None:
    listed = {row["version"]: row["module"] for row in rows("drivers", "drivers")}
    assert {driver: listed[driver] for driver in PUBLISHED["modules"]} == PUBLISHED["modules"]
    for row in rows("drivers", "drivers"):
        if row["version"] not in PUBLISHED["modules"] and row["module"]:
            assert row["module"] == listed[parse(row["version"]).line], "taken over from the first of its line"


def test_pytorch_versions_that_amd_lists_as_published() -> None:
    listed = {", ".join(row["rocm"]): row["torch"] for row in rows("pytorch", "amd_listed")}
    assert listed == PUBLISHED["listed"]


def test_endings_of_packages_as_published() -> None:
    for row in rows("packages", "gpu_suffixes"):
        assert list(row["values"]) == PUBLISHED["endings"]["family" if row["required"] else "target"].split()


def test_pairs_of_driver_and_user_space_as_published() -> None:
    listed = {row["driver"]: list(row["user_space"]) for row in rows("compatibility", "lines")}
    assert listed == PUBLISHED["pairs"]


@pytest.mark.parametrize(
    ("device", "gfx", "name", "integrated"),
    [
        ("740c", "gfx90a", "Instinct MI250X or Instinct MI250", False),
        ("74a1", "gfx942", "Instinct MI300X", False),
        ("74B5", "gfx942", "Instinct MI300X", False),
        ("0x73ae", "gfx1030", "Radeon PRO V620", False),
        ("67df", "gfx803", "Radeon RX 480 / 580 and siblings", False),
        ("687f", "gfx900", "Radeon RX Vega", False),
        ("731f", "gfx1010", "Radeon RX 5600 / 5700 and siblings", False),
        ("73bf", "gfx1030", "Radeon RX 6800 / 6900 and siblings", False),
        ("73df", "gfx1031", "Radeon RX 6700 / 6750 and siblings", False),
        ("73ff", "gfx1032", "Radeon RX 6600 / 6650 and siblings", False),
        ("15dd", "gfx902", "Raven and Picasso (integrated)", True),
        ("163f", "gfx1033", "Van Gogh (integrated)", True),
        ("1681", "gfx1035", "Rembrandt (Radeon 680M / 660M)", True),
        ("1506", "gfx1037", "Mendocino (Radeon 610M)", True),
        ("1638", "gfx90c", "Renoir and Cezanne (integrated)", True),
        ("164e", "gfx1036", "Raphael (integrated)", True),
        ("1114", "gfx1152", "Ryzen AI 300 (860M/840M, gfx1152)", True),
    ],
)
def test_gpus_are_found_by_device(device: str, gfx: str, name: str, integrated: bool) -> None:
    row = matrix.gpu_by_device(device)
    assert row is not None
    assert (row["gfx"], row["name"], bool(row.get("integrated"))) == (gfx, name, integrated)


@pytest.mark.parametrize("device", ["75c1", "", "ffff", "5046"])
def test_an_unknown_device_is_not_guessed(device: str) -> None:
    assert matrix.gpu_by_device(device) is None


@pytest.mark.parametrize(
    ("gfx", "first", "last"),
    [
        ("gfx90a", "5.0.0", "10.1.0"),
        ("gfx906", "5.0.0", "6.3.4"),
        ("gfx942", "6.0.0", "10.1.0"),
        ("gfx950", "7.0.0", "10.1.0"),
    ],
)
def test_first_and_last_release_of_a_target(gfx: str, first: str, last: str) -> None:
    supported = matrix.gfx_releases(gfx)
    assert (supported[0].full, supported[-1].full) == (first, last)


def test_targets_without_any_release() -> None:
    assert [matrix.gfx_releases(gfx) for gfx in ("gfx900", "gfx803", "gfx1036", "gfx999")] == [[], [], [], []]


@pytest.mark.parametrize(
    ("driver", "version", "answer"),
    [
        ("6.0", "6.2", True),
        ("6.0", "6.3", False),
        ("6.4.2.1", "7.2.4", True),
        ("6.4.2", "7.14", False),
        ("30.30.4", "10.0", True),
        ("31.60", "10.1", True),
        ("31.50", "10.1", None),
        ("31.60", "10.0", None),
        ("22.20.3", "5.2.3", True),
        ("22.20.3", "5.3", None),
    ],
)
def test_driver_and_user_space(driver: str, version: str, answer: bool | None) -> None:
    assert matrix.driver_serves(driver, version) is answer


@pytest.mark.parametrize("number", matrix.releases(), ids=str)
def test_a_driver_serves_its_own_release(number: Version) -> None:
    driver = matrix.releases()[number]["driver"]
    assert driver is None or matrix.driver_serves(driver, number.full) is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rocm-dkms", "amdgpu-dkms"),
        ("rock-dkms", "amdgpu-dkms"),
        ("hipinfo", "rocminfo"),
        ("hcc", "hipcc"),
        ("rocm-hip-sdk", None),
    ],
)
def test_old_names_are_answered(old: str, new: str | None) -> None:
    assert matrix.renamed_package(old) == new
    assert bool(matrix.rename_answer(old)) == (new is not None)


def test_tables_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        matrix.table("gpus")["gpus"] = ()  # type: ignore[index]
    assert all(not isinstance(value, (dict, list)) for row in walk(matrix.table("os")) for value in row.values())
