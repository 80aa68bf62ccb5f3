"""What real runs leave about a fleet: each format, a run that leaves hosts out, and one that Ansible cuts short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.runs.test_exit_status import AWAY, BARE, REFUSED, SETTLED, Controller
from tests.unit.documents import validate_fleet

ALL = '{"rocm_report_formats": ["json", "html", "junit", "prometheus"]}'


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    return Controller(tmp_path)


def fleet(controller: Controller, name: str = "report") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((controller.folder / f"reports/fleet/{name}.json").read_text())
    validate_fleet(document)
    return document


def test_every_format_comes_from_the_same_run(controller: Controller) -> None:
    run = controller.play("site", {"a": SETTLED, "b": REFUSED, "c": AWAY}, "-e", ALL)
    assert run.code == 4, run.output
    folder = controller.folder / "reports/fleet"
    assert {path.name for path in folder.iterdir()} == {f"report.{kind}" for kind in ("json", "html", "xml", "prom")}
    assert fleet(controller)["hosts"] == {name.removesuffix(".json"): row for name, row in run.files.items()}
    assert len(ElementTree.parse(folder / "report.xml").getroot()) == 3
    assert 'rocm_fleet_hosts{state="refused"} 1' in (folder / "report.prom").read_text()
    assert ">unreachable</button>" in (folder / "report.html").read_text()
    assert f"Written: {folder}/report.html" in run.output
    # Nothing but the table and the files in the last task.
    assert run.output.index("HOST  RESULT") < run.output.index("Written: ")


def test_a_run_for_some_hosts_does_not_forget_the_others(controller: Controller) -> None:
    hosts = {"a": SETTLED, "b": REFUSED}
    controller.play("verify", hosts)
    first = fleet(controller)
    run = controller.play("verify", {"a": BARE, "b": REFUSED}, "--limit", "a")
    assert sorted(run.files) == ["a.json", "b.json"]
    document = fleet(controller)
    assert document["earlier"] == {"b": first["time"]}
    assert [
        (row["before"], row["after"], row["hosts"]) for row in document["drift"]["changes"] if row["what"] == "state"
    ] == [("in sync", "drift", ["a"])]
    assert fleet(controller, "report.previous") == first


def test_a_plan_has_files_of_its_own(controller: Controller) -> None:
    controller.play("plan", {"a": BARE}, "-e", ALL)
    assert fleet(controller, "report.plan")["counts"]["will change"] == 1
    assert sorted(path.name for path in (controller.folder / "reports/fleet").iterdir()) == [
        "report.plan.html",
        "report.plan.json",
        "report.plan.xml",
    ]


def test_a_wrong_format_is_named_and_the_table_is_shown(controller: Controller) -> None:
    run = controller.play("plan", {"a": BARE}, "-e", '{"rocm_report_formats": ["pdf"]}')
    assert run.code == 2
    assert (
        "expected a list with formats of json, html, junit, prometheus. Next: correct rocm_report_formats."
        in run.output
    )
    assert "a     will change" in run.output


def test_a_run_that_loses_every_host_leaves_the_files_too(controller: Controller) -> None:
    """Nothing listens at the address of the host, which is only noticed after its plan."""
    lost = {**BARE, "ansible_host": "127.0.0.1"}
    options = ("-e", "ansible_port=1 ansible_ssh_retries=0", "-e", ALL)
    run = controller.play("site", {"a": lost, "b": SETTLED}, *options)
    assert run.code == 4, run.output
    assert fleet(controller)["counts"]["unreachable"] == 1
    run = controller.play("site", {"a": lost}, *options)
    assert "Report on every host" not in run.output
    document = fleet(controller)
    assert (list(document["hosts"]), document["drift"]["disappeared"]) == (["a"], ["b"])
    assert 'rocm_fleet_hosts{state="unreachable"} 1' in (controller.folder / "reports/fleet/report.prom").read_text()
