"""Readings against the profiles: what is found, what is unknown, and what a host is not judged for."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.filter.tuning import performance as performance_filter
from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import COMPACTION, NUMA_BALANCING
from ansible_collections.gpufleet.rocm.plugins.module_utils.tuning_files import FILES
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.performance import JUDGES, performance
from tests.unit.performance_hosts import (
    MI50,
    MI100,
    MI250,
    MI300A,
    MI300X,
    RADEON,
    RYZEN,
    governor,
    reading_of_gpu,
    tuned,
    untuned,
)


def judged(readings: dict[str, Any]) -> dict[str, Any]:
    return performance(readings, readings["gpus"]).as_dict()


def ids(readings: dict[str, Any]) -> list[str]:
    return [finding["id"] for finding in judged(readings)["findings"]]


def with_gpus(*gpus: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return tuned(gpus=list(gpus), **changes)


@pytest.mark.parametrize("device", [MI300X, MI300A, MI250, MI100, MI50, RADEON])
def test_a_tuned_host_has_no_findings(device: str) -> None:
    outcome = judged(tuned(device))
    assert (outcome["findings"], outcome["unknown"], outcome["skipped"]) == ([], [], "")
    assert [check["status"] for check in outcome["checks"]] == ["passed"]


UNTUNED = {
    MI300X: ["numa-balancing-on", "iommu-passthrough-off", "cpu-governor-slow"],
    MI300A: ["numa-balancing-on", "transparent-hugepages-off", "memory-compaction-off", "cpu-governor-slow"],
    MI100: ["numa-balancing-on", "iommu-passthrough-off", "cpu-governor-slow"],
    # AMD's guides say nothing of NUMA or the processor here, and want the IOMMU for peer-to-peer access.
    RADEON: [],
}


@pytest.mark.parametrize(("device", "found"), UNTUNED.items())
def test_a_host_as_installed(device: str, found: list[str]) -> None:
    assert ids(untuned(device)) == found


@pytest.mark.parametrize(("nodes", "found"), [(0, True), (1, False), (2, True)])
def test_one_memory_node_has_nothing_to_balance(nodes: int, found: bool) -> None:
    assert ("numa-balancing-on" in ids(untuned(numa_nodes=nodes))) is found


def test_a_finding_says_what_why_and_what_to_do() -> None:
    (finding,) = judged(tuned(values={NUMA_BALANCING: "1", **dict.fromkeys(COMPACTION, "1")}))["findings"]
    assert finding["message"] == (
        "numa-balancing-on: kernel.numa_balancing is 1; expected 0 for Instinct MI300X, MI308X and MI325X. "
        "Next: set rocm_tuning_apply: [numa-balancing] and run playbooks/tuning.yml"
    )
    assert finding["why"].startswith("AMD documents it (AMD asks to try it with the workload first")
    assert all(page.startswith("https://instinct.docs.amd.com/") for page in finding["source"])


def test_what_no_page_asks_for_says_so() -> None:
    (finding,) = judged(tuned(governors=[governor("schedutil", 128)]))["findings"]
    assert finding["found"] == "governor schedutil on 128 of 128 clock domains of the processors"
    assert finding["status"] == "unconfirmed"
    assert finding["why"].startswith("unconfirmed, not said by AMD in so many words")
    assert "rocm_tuning_unconfirmed: true" in finding["remedy"]


def test_many_gpus_in_few_words() -> None:
    gpus = [reading_of_gpu(address=f"0000:{number:02x}:00.0", power={"cap": 500000000}) for number in range(8)]
    (finding,) = judged(with_gpus(*gpus))["findings"]
    assert finding["found"] == "power cap 500 W of 750 W on 0000:00:00.0 and 7 more"


LINKS = [
    ("half the lanes", MI300X, {"width": 8}, "x8 at 32 GT/s", "reseat"),
    ("an older speed", MI300X, {"speed": 16.0}, "x16 at 16 GT/s", "reseat"),
    ("a slot of an older board", MI300X, {"speed": 16.0, "port_max_speed": 16.0}, "x16 at 16 GT/s", "move the card"),
    ("a narrow slot", MI250, {"width": 8, "port_max_width": 8}, "x8 at 16 GT/s", "move the card"),
    ("a Radeon in a narrow slot", RADEON, {"port_max_width": 4}, "x4 for a card with x16", "move the card"),
    ("no slot known", MI250, {"width": 4, "port_max_width": None, "port_max_speed": None}, "x4 at", "reseat"),
]


@pytest.mark.parametrize(("device", "link", "found", "remedy"), [row[1:] for row in LINKS], ids=[r[0] for r in LINKS])
def test_degraded_links(device: str, link: dict[str, Any], found: str, remedy: str) -> None:
    (finding,) = judged(with_gpus(reading_of_gpu(device, link=link)))["findings"]
    assert finding["id"] == "pcie-link-degraded"
    assert found in finding["found"]
    assert remedy in finding["remedy"]


FINE_LINKS = [
    ("a Radeon that idles", RADEON, {"speed": 2.5, "width": 1}),
    ("a slot that could do more", MI250, {"port_max_speed": 32.0}),
]


@pytest.mark.parametrize(("device", "link"), [row[1:] for row in FINE_LINKS], ids=[row[0] for row in FINE_LINKS])
def test_links_that_are_no_finding(device: str, link: dict[str, Any]) -> None:
    assert ids(with_gpus(reading_of_gpu(device, link=link))) == []


IOMMU = [
    ("the kernel's word counts, not the command line", {"cmdline": "ro"}, "identity", []),
    ("nor the other way round", {"cmdline": "ro iommu=pt"}, "DMA-FQ", ["iommu-passthrough-off"]),
    ("an older kernel tells no domain", {"cmdline": "ro iommu=pt"}, None, []),
    ("switched off counts", {"cmdline": "ro amd_iommu=off", "iommu_units": 0}, None, []),
    ("in the BIOS too", {"cmdline": "ro", "iommu_units": 0}, None, []),
    ("nothing known", {"cmdline": None, "iommu_units": None}, None, []),
    ("only its presence known", {"cmdline": "ro", "iommu_units": None}, None, ["iommu-passthrough-off"]),
]


@pytest.mark.parametrize(("changes", "domain", "found"), [row[1:] for row in IOMMU], ids=[row[0] for row in IOMMU])
def test_iommu(changes: dict[str, Any], domain: str | None, found: list[str]) -> None:
    assert ids(with_gpus(reading_of_gpu(iommu=domain), **changes)) == found


def test_a_setting_for_the_next_boot_needs_only_that_boot() -> None:
    files = {**dict.fromkeys(FILES.values()), FILES["iommu-passthrough"]: "x"}
    finding = judged(untuned(files=files))["findings"][1]
    assert (finding["id"], finding["remedy"]) == (
        "iommu-passthrough-off",
        "reboot when it suits; it is set for the next boot",
    )


def test_an_mi300a_wants_no_iommu() -> None:
    assert ids(tuned(MI300A, iommu_units=4)) == ["iommu-on"]


GPUS = [
    ("clocks forced down", {"level": "low"}, ["gpu-clock-limited"]),
    ("the deterministic clock of AMD's guide", {"level": "perf_determinism"}, []),
    ("a level set by hand", {"level": "manual"}, []),
    ("another compute mode than the rest", {"compute_partition": "CPX"}, ["partition-count"]),
    ("another memory mode than the rest", {"memory_partition": "NPS4"}, ["memory-partition-mixed"]),
    ("a raised power cap", {"power": {"cap": 760000000}}, []),
    ("no default to compare with", {"power": {"cap": 1000000, "default": None}}, []),
]


@pytest.mark.parametrize(("changes", "found"), [row[1:] for row in GPUS], ids=[row[0] for row in GPUS])
def test_gpus(changes: dict[str, Any], found: list[str]) -> None:
    assert ids(with_gpus(reading_of_gpu(**changes), reading_of_gpu(address="0000:26:00.0"))) == found


def test_what_cannot_be_read_is_unknown_and_never_found() -> None:
    nothing = {"speed": None, "width": None, "max_width": None, "port_max_width": None}
    dark = reading_of_gpu(
        iommu=None,
        link=nothing,
        power={"cap": None, "default": None},
        level=None,
        compute_partition=None,
        memory_partition=None,
    )
    blind: dict[str, Any] = {"cmdline": None, "values": {}, "hugepages": None, "iommu_units": None, "governors": []}
    for device in (MI300X, MI300A, MI250, RADEON):
        outcome = judged(with_gpus({**dark, "device": device}, **blind))
        assert (outcome["findings"], outcome["fine"]) == ([], [])
        assert outcome["unknown"]
        assert outcome["checks"][0]["evidence"].endswith(", ".join(outcome["unknown"]))


def test_a_guest_is_not_judged_for_its_hypervisor() -> None:
    outcome = judged(untuned(virtualization={"kind": "vm", "name": "kvm"}))
    assert [finding["id"] for finding in outcome["findings"]] == ["numa-balancing-on"]
    assert {"iommu-passthrough", "pcie-link", "cpu-governor"} <= set(outcome["unknown"])


SKIPPED = [
    (untuned(virtualization={"kind": "container", "name": "podman"}), "a container (podman) has the kernel"),
    (untuned(virtualization={"kind": "wsl", "name": "wsl"}), "Windows has the kernel"),
    (untuned(gpus=[]), "no AMD GPU that a profile is for"),
    (untuned(RYZEN), "no AMD GPU that a profile is for"),
    (with_gpus(reading_of_gpu(driver="vfio-pci")), "no AMD GPU that a profile is for"),
    (with_gpus(reading_of_gpu("74b5", virtual_function=True)), "no AMD GPU that a profile is for"),
]


@pytest.mark.parametrize(("readings", "why"), SKIPPED)
def test_hosts_that_are_not_judged(readings: dict[str, Any], why: str) -> None:
    outcome = judged(readings)
    assert outcome["skipped"].startswith(why)
    assert [(check["status"], check["finding"]) for check in outcome["checks"]] == [("not run", None)]


def test_two_kinds_of_gpu_share_what_is_said_of_the_host() -> None:
    readings = untuned(gpus=[reading_of_gpu(MI250), reading_of_gpu(MI100, "0000:26:00.0")])
    assert ids(readings).count("numa-balancing-on") == 1
    assert judged(readings)["profiles"] == ["Instinct MI250X, MI250 and MI210", "Instinct MI100"]


def test_checks_are_noted_and_fail_no_host() -> None:
    checks = performance_filter(untuned())["checks"]
    assert {check["status"] for check in checks} == {"passed"}
    assert [check["finding"] for check in checks] == [None, *UNTUNED[MI300X]]
    assert all(check["finding"] in decisions() for check in checks if check["finding"])


def test_every_setting_of_the_table_has_a_judge() -> None:
    used = {row["setting"] for profile in table("performance")["profiles"] for row in profile["rows"]}
    assert used == set(JUDGES)


@pytest.mark.parametrize("wrong", [None, [], {}, {"schema": 2}])
def test_anything_but_readings_is_refused(wrong: Any) -> None:
    with pytest.raises(AnsibleFilterError, match=r"expected those of the module gpufleet\.rocm\.rocm_performance"):
        performance_filter(wrong)
