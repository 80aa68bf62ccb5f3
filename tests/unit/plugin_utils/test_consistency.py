"""Hosts with the same wishes that would get different versions."""

from __future__ import annotations

from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.consistency import inconsistencies
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.report import fleet_plan, fleet_report
from tests.unit.documents import plan_of, validate
from tests.unit.facts_builder import bare_server, gpu

OLD_PYTHON = [{"path": "/usr/bin/python3.9", "version": "3.9", "default": True, "venv": True}]
CONTAINER = {"kind": "container", "name": "podman"}


def newest(**facts: Any) -> dict[str, Any]:
    """The plan of a host that takes the newest PyTorch its Python has."""
    return plan_of(bare_server(**facts), version="6.4", pytorch_version="")


def found(**plans: dict[str, Any]) -> list[tuple[str, dict[str, list[str]]]]:
    rows = [row.as_dict() for row in inconsistencies(plans)]
    return [(row["what"], {value["value"]: value["hosts"] for value in row["values"]}) for row in rows]


def test_another_python_gets_another_pytorch() -> None:
    new, old = newest(), newest(python=OLD_PYTHON)
    versions = [plan["torch"]["torch"] for plan in (new, old)]
    assert len(set(versions)) == 2
    assert found(node1=new, node2=old, node10=new) == [
        ("PyTorch", {versions[1]: ["node2"], versions[0]: ["node1", "node10"]})
    ]


def test_another_kind_of_host_gets_another_driver_mode() -> None:
    assert found(a=newest(), b=newest(virtualization=CONTAINER)) == [("driver mode", {"dkms": ["a"], "none": ["b"]})]


def test_versions_of_driver_and_release_are_compared() -> None:
    plan = newest()
    other = {**plan, "release": {**plan["release"], "version": "6.4.3", "driver": {"version": "6.4.3"}}}
    assert found(a=plan, b=other) == [
        ("ROCm", {plan["release"]["version"]: ["a"], "6.4.3": ["b"]}),
        ("driver", {plan["release"]["driver"]["version"]: ["a"], "6.4.3": ["b"]}),
    ]


def test_what_was_asked_for_is_no_inconsistency() -> None:
    explicit = plan_of(bare_server(python=OLD_PYTHON), version="6.4", pytorch_version="2.8.0", driver_mode="inbox")
    assert found(a=newest(), b=explicit) == []


def test_a_driver_of_its_own_choice_is_no_inconsistency() -> None:
    own = plan_of(bare_server(), version="6.4", pytorch_version="", driver_version="6.4.1")
    assert found(a=newest(), b=own) == []


def test_a_host_that_goes_without_pytorch_differs() -> None:
    future = [{"path": "/usr/bin/python3.19", "version": "3.19", "default": True, "venv": False}]
    without = plan_of(bare_server(python=future), version="6.4", pytorch_version="", allow=["python-no-wheel"])
    assert without["torch"] is None
    assert [what for what, _ in found(a=newest(), b=without)] == ["PyTorch"]


def test_wishes_that_do_not_decide_the_version_may_differ() -> None:
    other = plan_of(bare_server(python=OLD_PYTHON), version="6.4", pytorch_version="", reboot_ok=True)
    assert [what for what, _ in found(a=newest(), b=other)] == ["PyTorch"]


def test_hosts_that_get_nothing_are_left_out() -> None:
    refused = newest(python=OLD_PYTHON, users={"ada": None})
    no_gpu = newest(gpus=[])
    nvidia = newest(gpus=[gpu("2330", vendor="10de")])
    assert found(a=newest(), b=refused, c=no_gpu, d=nvidia) == []


def test_plan_and_report_show_it_on_every_host_concerned() -> None:
    hosts: dict[str, dict[str, Any]] = {f"node{number}": {"plan": newest()} for number in range(1, 8)}
    hosts["odd"] = {"plan": newest(python=OLD_PYTHON)}
    hosts["asked"] = {"plan": plan_of(bare_server(), version="6.4", pytorch_version="2.8.0")}
    for fleet in (fleet_plan(hosts), fleet_report(hosts)):
        (finding,) = fleet["inconsistent"]
        assert finding["id"] == "fleet-inconsistent"
        assert " on node[1-7]" in finding["found"]
        assert " on odd" in finding["found"]
        concerned = [
            name
            for name, document in fleet["hosts"].items()
            if "fleet-inconsistent" in [warning["id"] for warning in document["warnings"]]
        ]
        assert concerned == [f"node{number}" for number in range(1, 8)] + ["odd"]
        assert fleet["table"].count("fleet-inconsistent: PyTorch ") == 1
        validate(fleet["hosts"]["odd"])
