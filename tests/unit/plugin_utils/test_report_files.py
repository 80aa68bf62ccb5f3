"""Which files a report has, and what is compared with what."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_plan, fleet_report
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report_files import Place, place, publish, read_previous
from tests.unit.documents import planned, validate_fleet

HOSTS = {name: {"plan": planned()} for name in ("a", "fleet", "node")}
ALL = ("json", "html", "junit", "prometheus")


def at(day: int) -> datetime.datetime:
    return datetime.datetime(2026, 3, day, 8, tzinfo=datetime.UTC)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_files_of_a_run_of_its_plan_and_of_its_check(tmp_path: Path) -> None:
    publish(fleet_report(HOSTS), Place(tmp_path, formats=ALL), False, HOSTS)
    own = {f"{name}.json" for name in HOSTS}
    assert files(tmp_path) == own | {f"fleet/report.{ending}" for ending in ("json", "html", "xml", "prom")}
    publish(fleet_plan(HOSTS), Place(tmp_path / "plan", ".plan", ALL), False, HOSTS)
    assert files(tmp_path / "plan") == {f"{name}.plan.json" for name in HOSTS} | {
        f"fleet/report.plan.{ending}" for ending in ("json", "html", "xml")
    }
    publish(fleet_report(HOSTS), Place(tmp_path / "check", ".check", ALL), True, HOSTS)
    assert "fleet/report.check.prom" not in files(tmp_path / "check")


def test_formats_and_names_can_be_chosen(tmp_path: Path) -> None:
    elsewhere = tmp_path / "collector" / "rocm.prom"
    where = place(
        tmp_path / "reports", "", ["prometheus", "html"], {"prometheus": str(elsewhere), "html": "index.html"}
    )
    _, written = publish(fleet_report(HOSTS), where, False, HOSTS)
    assert written == [str(tmp_path / "reports" / "index.html"), str(elsewhere)]
    assert elsewhere.read_text().startswith("# HELP rocm_fleet_")
    assert not (tmp_path / "reports" / "fleet").exists()


def test_no_format_means_the_files_of_the_hosts_alone(tmp_path: Path) -> None:
    _, written = publish(fleet_report(HOSTS), Place(tmp_path, formats=()), False, HOSTS)
    assert written == []
    assert files(tmp_path) == {f"{name}.json" for name in HOSTS}


def test_a_report_is_compared_with_the_last_one_which_is_kept(tmp_path: Path) -> None:
    where = Place(tmp_path)
    publish(fleet_report(HOSTS), where, False, HOSTS, at(1))
    publish(fleet_report({"a": HOSTS["a"]}), where, False, ["a", "node"], at(2))
    latest, previous = (json.loads((tmp_path / f"fleet/report{name}.json").read_text()) for name in ("", ".previous"))
    validate_fleet(latest)
    assert (previous["time"], latest["time"]) == ("2026-03-01T08:00:00Z", "2026-03-02T08:00:00Z")
    assert latest["drift"]["since"] == previous["time"]
    assert latest["drift"]["disappeared"] == ["fleet"]
    assert latest["earlier"] == {"node": previous["time"]}
    assert not [name for name in files(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '"x"', "{}", '{"schema": 2, "hosts": {}}', '{"schema": 1, "hosts": {"a": {"schema": 9}}}'],
)
def test_a_file_that_is_no_report_is_compared_with_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "fleet" / "report.json"
    path.parent.mkdir()
    path.write_text(content)
    assert read_previous(path) is None
    publish(fleet_report(HOSTS), Place(tmp_path), False, HOSTS)
    assert json.loads(path.read_text())["drift"] is None


def test_a_report_that_lacks_a_field_of_today_is_compared_with_nothing(tmp_path: Path) -> None:
    publish(fleet_report(HOSTS), Place(tmp_path), False, HOSTS)
    path = tmp_path / "fleet" / "report.json"
    document = json.loads(path.read_text())
    assert read_previous(path) == document
    del document["hosts"]["a"]["stages"]
    path.write_text(json.dumps(document))
    assert read_previous(path) is None


@pytest.mark.parametrize(
    ("formats", "names"), [("html", None), (["pdf"], None), (None, ["html"]), (None, {"pdf": "x"}), ({}, None)]
)
def test_wrong_variables_are_named(formats: Any, names: Any) -> None:
    with pytest.raises(ValueError, match=r"found rocm_report_(formats|files) .*; expected a .* Next: correct rocm_rep"):
        place(Path("reports"), "", formats, names)


def test_variables_that_are_not_set_mean_the_defaults() -> None:
    assert place(Path("reports"), ".plan", None, None) == Place(Path("reports"), ".plan")
