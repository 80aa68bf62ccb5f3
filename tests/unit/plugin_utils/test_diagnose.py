"""The table of diagnoses, the order of causes, evidence of hosts, and what may be repaired."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import diagnose
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.evidence import Evidence
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.host import evidence_of
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.ranking import (
    LIKELIHOODS,
    because_of,
    causes,
    ranked,
    rows,
)
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.repair import STAGES, repairs
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import PLANNERS
from tests.unit.documents import plan_of, planned
from tests.unit.facts_builder import VENV, bare_server, booted, carried_out, gpu, merged

SYMPTOMS = table("diagnoses")["symptoms"]


def test_every_decision_has_a_diagnosis_and_nothing_else_has() -> None:
    assert set(rows()) == set(decisions())


@pytest.mark.parametrize("id", rows())
def test_a_row_is_complete(id: str) -> None:
    row = rows()[id]
    assert set(row) <= {"likelihood", "question", "look", "after", "remedy", "stage", "safe"}
    assert row["likelihood"] in LIKELIHOODS
    assert row["question"].endswith("?")
    assert row["remedy"]
    assert set(row.get("after", ())) <= set(rows()) - {id}
    assert row.get("stage", "repo") in PLANNERS
    # The driver takes the GPUs from their users: nobody has it changed by a diagnosis.
    assert not row.get("safe") or row["stage"] in STAGES


@pytest.mark.parametrize(
    "symptom", ["rocm-smi-silent", "is-available-false", "hipcc-not-found", "invalid-device", "slow"]
)
def test_a_symptom_ranks_known_causes_once(symptom: str) -> None:
    assert symptom in SYMPTOMS
    assert len(causes(symptom)) == len(set(causes(symptom)))
    assert set(causes(symptom)) <= set(rows())


def test_nothing_brings_itself_about() -> None:
    def beyond(id: str, path: tuple[str, ...]) -> None:
        assert id not in path, (*path, id)
        for one in rows()[id].get("after", ()):
            beyond(one, (*path, id))

    for id in rows():
        beyond(id, ())


def ids(*found: str, symptom: str = "") -> list[str]:
    return [row["id"] for row in ranked([Evidence(id, "log", f"line about {id}") for id in found], symptom)]


def test_a_cause_comes_before_its_consequences_and_remarks_last() -> None:
    found = ids("os-derivative", "torch-gpu-unavailable", "kfd-missing", "module-not-loaded", "headers-missing")
    assert found[0] == "headers-missing"
    assert found[-1] == "os-derivative"


def test_the_nearest_cause_is_named() -> None:
    found = ["headers-missing", "dkms-failed", "module-not-loaded", "kfd-missing"]
    assert because_of("kfd-missing", found) == ["module-not-loaded"]
    # One step may have left no trace, two are a guess.
    assert because_of("kfd-missing", ["dkms-failed"]) == ["dkms-failed"]
    assert because_of("hip-no-device", ["repo-path-missing"]) == []


def test_a_symptom_puts_its_causes_first() -> None:
    found = ("key-expired", "gpu-hang", "iommu-passthrough-off", "numa-balancing-on")
    assert ids(*found, symptom="slow")[:2] == ["iommu-passthrough-off", "numa-balancing-on"]
    assert ids(*found)[-1] == "numa-balancing-on"
    last = ranked([Evidence("key-expired", "log", "x"), Evidence("gpu-hang", "log", "x")], "slow")[-1]
    assert (last["id"], last["fits_symptom"]) == ("key-expired", False)


def test_an_unknown_symptom_says_which_there_are() -> None:
    with pytest.raises(DecisionError, match=r"diagnose_symptom is 'fast'; expected one of rocm-smi-silent, .* Next: "):
        ranked([], "fast")


@given(st.lists(st.sampled_from(sorted(rows()))), st.sampled_from(["", *SYMPTOMS]))
def test_exactly_what_has_evidence_is_diagnosed(found: list[str], symptom: str) -> None:
    result = ranked([Evidence(id, "log", id) for id in found], symptom)
    assert sorted(row["id"] for row in result) == sorted(set(found))
    places = ["cause", "consequence", "remark"]
    assert [row["role"] for row in result] == sorted((row["role"] for row in result), key=places.index)
    for row in result:
        assert set(row["because_of"]) <= set(found) - {row["id"]}


def read(facts: dict[str, Any], texts: list[dict[str, str]] | None = None, symptom: str = "") -> dict[str, Any]:
    return diagnose.diagnose_host("gpu-1", facts, plan_of(facts), texts or [], symptom)


def found_on(facts: dict[str, Any], texts: list[dict[str, str]] | None = None) -> set[str]:
    return {row["id"] for row in read(facts, texts)["diagnoses"]}


def healthy() -> dict[str, Any]:
    facts = bare_server()
    plan = plan_of(facts)
    return booted(carried_out(facts, plan), plan)


def said(name: str, text: str) -> dict[str, str]:
    return {"name": name, "source": name, "text": text}


def test_a_healthy_host_is_clear() -> None:
    document = read(healthy())
    assert (document["state"], [row["id"] for row in document["diagnoses"] if row["role"] != "remark"]) == ("clear", [])


def test_a_bare_host_names_what_is_missing() -> None:
    document = read(bare_server())
    assert document["state"] == "found"
    roles = {row["id"]: row["role"] for row in document["diagnoses"]}
    assert {"sdk-missing", "torch-not-installed", "module-not-loaded", "kfd-permission"} <= set(roles)


def test_every_finding_of_a_plan_is_diagnosed_with_its_own_remedy() -> None:
    facts = bare_server(users={"ada": None})
    plan = plan_of(facts)
    document = read(facts)
    (row,) = (row for row in document["diagnoses"] if row["id"] == "user-unknown")
    assert row["evidence"][0]["source"] == "plan"
    assert row["remedy"] == plan["refusals"][0]["remedy"]


def test_a_driver_inside_the_kernel_image_is_no_missing_module() -> None:
    facts = merged(bare_server(), {"kfd": {"present": True}})
    texts = [said("rocm_smi", "ERROR:root:Driver not initialized (amdgpu not found in modules)")]
    found = found_on(facts, texts)
    assert "module-built-in" in found
    assert "module-not-loaded" not in found


def test_a_wheel_of_another_build_is_named_by_the_plan() -> None:
    packages = {"torch": "2.3.0+cu121"}
    venv = {"path": VENV, "exists": True, "usable": True, "occupied": False, "python": "3.10", "packages": packages}
    document = read(merged(healthy(), {"venvs": [venv]}), symptom="is-available-false")
    first = document["diagnoses"][0]
    assert (first["id"], first["stage"], first["safe"]) == ("torch-cuda-wheel", "pytorch", False)
    assert document["repair"]["stages"] == []


def test_what_could_not_be_read_keeps_a_host_from_being_clear() -> None:
    document = read(healthy(), [said("problem", "KeyError: 'ada'")])
    assert (document["state"], document["diagnoses"][0]["id"]) == ("found", "facts-incomplete")


def test_of_the_previous_boot_only_what_may_have_ended_it_counts() -> None:
    log = (
        "[ 1.0] kfd kfd: amdgpu: skipped device 1002:67df, PCI rejects atomics\n"
        "[ 9.0] amdgpu 0000:2f:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=2"
    )
    assert {"gpu-hang"} == found_on(healthy(), [said("previous_boot", log)]) - found_on(healthy())
    assert {"gpu-hang", "pcie-atomics"} == found_on(healthy(), [said("kernel_log", log)]) - found_on(healthy())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0000:2f:00.0 link width 4 of 16", {"pcie-link-degraded"}),
        ("0000:2f:00.0 link width 16 of 16", set()),
        # A device that tells no width.
        ("0000:2f:00.0 link width 0 of 255", set()),
        ("0000:2f:00.0 performance level low", {"gpu-clock-limited"}),
        ("0000:2f:00.0 performance level auto", set()),
        ("numa_balancing 1 with 2 memory nodes", {"numa-balancing-on"}),
        ("numa_balancing 0 with 2 memory nodes", set()),
    ],
)
def test_what_slows_a_gpu_down(line: str, expected: set[str]) -> None:
    assert found_on(healthy(), [said("performance", line)]) - found_on(healthy()) == expected


def test_questions_are_asked_where_nothing_explains_the_symptom() -> None:
    document = read(healthy(), symptom="slow")
    assert document["questions"]
    assert {row["id"] for row in document["questions"]} <= set(causes("slow"))
    explained = read(healthy(), [said("performance", "0000:2f:00.0 link width 4 of 16")], "slow")
    assert explained["questions"] == []
    assert explained["diagnoses"][0]["id"] == "pcie-link-degraded"


def test_a_repair_runs_what_adds_and_never_the_driver() -> None:
    facts = bare_server()
    repair = read(facts)["repair"]
    assert "driver" not in repair["stages"]
    assert {"sdk", "access", "pytorch"} <= set(repair["stages"])
    # What sets up the repositories is said before.
    assert {row["stage"] for row in repair["actions"]} >= {"repo", "sdk", "access"}
    assert repair["left"] == ""


def test_a_repair_leaves_refused_hosts_and_upgrades_alone() -> None:
    refused = read(bare_server(users={"ada": None}))["repair"]
    assert (refused["stages"], refused["actions"]) == ([], [])
    assert "user-unknown" in refused["left"]
    older = {
        "link": "/opt/rocm-5.7.0",
        "installs": [{"path": "/opt/rocm-5.7.0", "version": "5.7.0-63"}],
        "alternatives": [],
    }
    upgrade = read(bare_server(rocm=older))["repair"]
    assert upgrade["stages"] == []
    assert "upgrade" in upgrade["left"]


def test_a_repair_does_not_replace_packages() -> None:
    shadow = {
        "rocminfo": {"version": "5.0.0-1", "status": "installed", "held": False, "amd": False, "origin": "Ubuntu"}
    }
    repair = read(bare_server(packages=shadow))["repair"]
    assert "sdk" not in repair["stages"]
    assert "sdk would replace something" in repair["left"]


def test_a_repair_needs_a_safe_diagnosis() -> None:
    plan = planned()
    assert repairs(ranked([Evidence("dkms-failed", "log", "x")]), plan)["stages"] == []
    assert repairs([], plan) == {"stages": [], "actions": [], "left": ""}


def test_secrets_of_a_plan_are_masked() -> None:
    plan = plan_of(bare_server())
    plan["warnings"].append(
        {"id": "stale-source", "found": "https://a:hunter2@h/x", "expected": "", "remedy": "", "message": ""}
    )
    shown = [row.text for row in evidence_of(bare_server(), plan, []) if row.id == "stale-source"]
    assert shown == ["https://***@h/x"]


def test_a_fleet_groups_hosts_with_the_same_diagnoses() -> None:
    document = read(bare_server())
    hosts: dict[str, Any] = {
        **{f"n{number}": {"diagnosis": {**document, "host": f"n{number}"}} for number in (1, 2, 10)},
        "ok": {"diagnosis": {**read(healthy()), "host": "ok"}},
        "away": {"failure": {"kind": "unreachable", "task": "Plan", "message": "no route"}},
        "odd": {"failure": {"kind": "task", "task": "Plan", "message": "broken"}},
        "gone": {},
    }
    fleet = diagnose.fleet_diagnosis(hosts, ["gone"], "slow")
    assert fleet["hosts"]["away"]["symptom"] == "slow"
    assert fleet["outcome"] == {
        "unreachable": ["away", "gone"],
        "failed": ["odd"],
        "refused": ["n1", "n2", "n10"],
        "pending": [],
    }
    table_lines = fleet["table"].splitlines()
    assert sum("sdk-missing" in line and "(often" in line for line in table_lines) == 1
    assert any(line.startswith("n1, n2, n10: ") for line in table_lines)
    assert "--limit n1,n2,n10" in fleet["table"]
    assert "away: unreachable: no route" in table_lines
    assert table_lines.index("away: unreachable: no route") < next(
        i for i, line in enumerate(table_lines) if "n10:" in line
    )
    assert any(line.startswith("ok: ") for line in table_lines)


def test_host_names_reach_a_shell_quoted() -> None:
    row = ranked([Evidence("sdk-missing", "log", "x")], "", "a;b")[0]
    assert "--limit 'a;b' -e" in row["command"]


def test_gpus_of_others_need_no_amdgpu() -> None:
    assert "module-not-loaded" not in found_on(bare_server(gpus=[gpu(vendor="10de")]))
