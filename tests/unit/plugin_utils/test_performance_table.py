"""The table of performance profiles: known names, statuses, and an AMD page behind every row."""

from __future__ import annotations

from urllib.parse import urlsplit

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from tests.unit.plugin_utils.test_matrix import STATUS

PAGES = {page["id"]: page for page in table("performance")["pages"]}
PROFILES = table("performance")["profiles"]
ROWS = [row for profile in PROFILES for row in profile["rows"]]


def test_every_row_has_a_status_and_pages() -> None:
    for row in ROWS:
        assert (
            {"setting", "expected", "status", "source"}
            <= set(row)
            <= {"setting", "expected", "status", "source", "note"}
        )
        assert row["status"] in STATUS
        assert row["source"]
        assert set(row["source"]) <= set(PAGES)
        # What is not confirmed says why.
        assert row["status"] == "confirmed" or "note" in row


def test_pages_are_amds_and_all_are_used() -> None:
    assert {name for row in ROWS for name in row["source"]} == set(PAGES)
    for page in PAGES.values():
        address = urlsplit(page["url"])
        assert address.scheme == "https"
        assert str(address.hostname).endswith(".amd.com")
        assert set(page) in ({"id", "url", "repo", "path", "ref"}, {"id", "url", "note"})


def test_profiles_name_known_gpus_once() -> None:
    gpus = table("gpus")["gpus"]
    known = {row["name"] for row in gpus} | {row["family"] for row in gpus}
    named = [name for profile in PROFILES for name in profile["gpus"]]
    assert set(named) <= known
    assert len(named) == len(set(named))


def test_a_profile_has_one_row_for_each_setting() -> None:
    for profile in PROFILES:
        settings = [row["setting"] for row in profile["rows"]]
        assert len(settings) == len(set(settings))


def test_a_family_comes_behind_the_names_in_it() -> None:
    """The first profile that names a GPU is its profile."""
    families = {row["family"] for row in table("gpus")["gpus"]}
    general = [bool(families & set(profile["gpus"])) for profile in PROFILES]
    assert general == sorted(general)
