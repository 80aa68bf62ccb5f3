"""What the role rocm_tuning changes, does not change, and takes back."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.filter.tuning import tuning as tuning_filter
from ansible_collections.gpufleet.rocm.plugins.module_utils.performance import COMPACTION, NUMA_BALANCING
from ansible_collections.gpufleet.rocm.plugins.module_utils.tuning_files import FILES, UNITS
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.tuning import WANTED, Changes, tuning
from tests.unit.performance_hosts import MI50, MI250, MI300A, MI300X, POLICY, RADEON, carried_out, governor, untuned

ALL = sorted(WANTED)
GRUB = FILES["iommu-passthrough"]
NOTHING = Changes().as_dict()
# Fields that say what is changed.
ACTS = ("files", "remove", "enable", "disable", "write", "record", "grub", "actions")


def planned(readings: dict[str, Any], *names: str, unconfirmed: bool = False) -> dict[str, Any]:
    return tuning(readings, names, unconfirmed).as_dict()


def acts(changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in changes.items() if key in ACTS and value}


def test_nothing_is_changed_unless_it_is_listed() -> None:
    assert planned(untuned()) == NOTHING


def test_numa_balancing_is_set_for_the_boot_and_for_now() -> None:
    changes = planned(untuned(), "numa-balancing")
    (file,) = changes["files"]
    assert file["path"] == "/etc/sysctl.d/90-gpufleet-rocm-numa-balancing.conf"
    assert file["content"].endswith("\nkernel.numa_balancing = 0\n")
    assert changes["write"] == [{"value": "0", "paths": [NUMA_BALANCING]}]
    assert f'"{NUMA_BALANCING}": "1"' in changes["record"]["after"]
    assert (changes["grub"], changes["reboot_required"], changes["skipped"]) == (False, False, [])


@pytest.mark.parametrize(
    ("vendor", "parameters"), [("AuthenticAMD", "iommu=pt"), ("GenuineIntel", "intel_iommu=on iommu=pt")]
)
def test_the_iommu_is_set_in_a_file_of_its_own_and_needs_a_reboot(vendor: str, parameters: str) -> None:
    changes = planned(untuned(cpu_vendor=vendor), "iommu-passthrough")
    (file,) = changes["files"]
    assert file["path"] == "/etc/default/grub.d/99-gpufleet-rocm.cfg"
    assert file["content"].endswith(f'\nGRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {parameters}"\n')
    assert (changes["grub"], changes["passthrough"], changes["reboot_required"]) == (True, True, True)


def test_a_boot_menu_that_lost_the_setting_is_written_again() -> None:
    after = carried_out(untuned(), planned(untuned(), "iommu-passthrough"))
    assert planned(after, "iommu-passthrough")["actions"] == []
    assert planned(after, "iommu-passthrough")["reboot_required"]
    after["grub"]["passthrough"] = False
    assert acts(planned(after, "iommu-passthrough")) == {
        "grub": True,
        "actions": ["update the boot menu with iommu=pt"],
    }


def test_the_governor_comes_from_a_unit_and_is_written_into_all_policies_at_once() -> None:
    changes = planned(untuned(governors=[governor("schedutil", 256)]), "cpu-governor", unconfirmed=True)
    assert changes["enable"] == ["gpufleet-rocm-cpu-governor.service"]
    assert [(row["value"], len(row["paths"])) for row in changes["write"]] == [("performance", 256)]
    # systemd takes $file for a variable of its own.
    assert "> $$file; done'\n" in changes["files"][0]["content"]


SKIPS = [
    ("a governor that no page asks for", untuned(), "cpu-governor", "rocm_tuning_unconfirmed: true applies it"),
    ("a GPU that has no page", untuned(MI50), "numa-balancing", "inferred, not said by AMD"),
    ("huge pages for a GPU with memory of its own", untuned(), "transparent-hugepages", "do not ask for it with"),
    ("passthrough where AMD wants no IOMMU", untuned(MI300A), "iommu-passthrough", "with Instinct MI300A"),
    ("passthrough for Radeon, which wants the IOMMU", untuned(RADEON), "iommu-passthrough", "with Radeon"),
    ("no GPU", untuned(gpus=[]), "numa-balancing", "no AMD GPU"),
    ("a kernel without it", untuned(values={}), "numa-balancing", "the host has no such setting"),
    (
        "a boot loader that is not ours",
        untuned(grub={"available": False, "passthrough": None}),
        "iommu-passthrough",
        "found no update-grub",
    ),
    ("a host that has it already", untuned(cmdline="ro iommu=pt"), "iommu-passthrough", "settings of its own"),
    ("no IOMMU", untuned(iommu_units=0), "iommu-passthrough", "the kernel uses no IOMMU"),
    (
        "a guest",
        untuned(virtualization={"kind": "vm", "name": "kvm"}),
        "iommu-passthrough",
        "its hypervisor's affair",
    ),
    (
        "a container",
        untuned(virtualization={"kind": "container", "name": "lxc"}),
        "numa-balancing",
        "the kernel of the machine below",
    ),
]


@pytest.mark.parametrize(("readings", "name", "why"), [row[1:] for row in SKIPS], ids=[row[0] for row in SKIPS])
def test_what_is_not_applied_says_why(readings: dict[str, Any], name: str, why: str) -> None:
    changes = planned(readings, name)
    assert acts(changes) == {}
    assert [(row["setting"], why in row["reason"]) for row in changes["skipped"]] == [(name, True)]


def test_a_container_is_left_alone_even_for_removal() -> None:
    inside = {"kind": "container", "name": "lxc"}
    after = carried_out(untuned(), planned(untuned(), "numa-balancing"))
    assert planned({**after, "virtualization": inside}) == NOTHING


def test_a_processor_without_that_governor_is_left_alone() -> None:
    without = {**governor("powersave"), "available": ["powersave"]}
    assert acts(planned(untuned(governors=[without]), "cpu-governor", unconfirmed=True)) == {}


@given(st.sampled_from([MI300X, MI300A, MI250, RADEON]), st.lists(st.sampled_from(ALL), unique=True), st.booleans())
def test_a_second_run_changes_nothing_and_removal_gives_the_host_back(
    device: str, names: list[str], unconfirmed: bool
) -> None:
    before = untuned(device)
    after = carried_out(before, planned(before, *names, unconfirmed=unconfirmed), reboot=True)
    again = planned(after, *names, unconfirmed=unconfirmed)
    assert acts(again) == {}
    assert not again["reboot_required"]
    back = planned(after)
    assert back["reboot_required"] == (after["cmdline"] != before["cmdline"])
    assert carried_out(after, back, reboot=True) == before


@given(st.lists(st.sampled_from(ALL), unique=True), st.lists(st.sampled_from(ALL), unique=True))
def test_a_shorter_list_undoes_what_it_lacks(first: list[str], second: list[str]) -> None:
    before = untuned(MI300A)
    by_way = carried_out(before, planned(before, *first, unconfirmed=True))
    straight = carried_out(before, planned(before, *second, unconfirmed=True))
    assert carried_out(by_way, planned(by_way, *second, unconfirmed=True)) == straight


def test_what_somebody_changed_since_is_left_as_it_is() -> None:
    after = carried_out(untuned(), planned(untuned(), "numa-balancing"))
    after["values"][NUMA_BALANCING] = "2"
    back = planned(after)
    assert back["write"] == []
    assert back["remove"] == [FILES["numa-balancing"]]


def test_the_first_value_is_remembered_when_a_setting_is_applied_again() -> None:
    after = carried_out(untuned(), planned(untuned(), "numa-balancing"))
    after["values"][NUMA_BALANCING] = "2"
    again = planned(after, "numa-balancing")
    assert (again["write"], again["record"]) == ([{"value": "0", "paths": [NUMA_BALANCING]}], None)


def test_a_run_that_is_cut_off_forgets_no_former_value() -> None:
    both = carried_out(untuned(MI300A), planned(untuned(MI300A), "numa-balancing"))
    record = planned(both, "memory-compaction")["record"]
    assert NUMA_BALANCING in record["before"]
    assert COMPACTION[0] in record["before"]
    assert NUMA_BALANCING not in record["after"]


def test_a_governor_that_differs_between_processors_comes_back_for_each() -> None:
    mixed = [
        {**governor("powersave"), "paths": [POLICY.format(0)]},
        {**governor("schedutil"), "paths": [POLICY.format(1)]},
    ]
    before = untuned(governors=mixed)
    after = carried_out(before, planned(before, "cpu-governor", unconfirmed=True))
    assert [row["governor"] for row in after["governors"]] == ["performance"]
    assert carried_out(after, planned(after)) == before


def test_units_and_files_go_together() -> None:
    assert set(FILES) == set(WANTED)
    assert all(FILES[setting].endswith("/" + unit) for unit, setting in UNITS.items())


@pytest.mark.parametrize("wrong", ["numa-balancing", ["turbo"], None])
def test_a_wrong_list_is_refused(wrong: Any) -> None:
    with pytest.raises(AnsibleFilterError, match="correct rocm_tuning_apply"):
        tuning_filter(untuned(), wrong)
