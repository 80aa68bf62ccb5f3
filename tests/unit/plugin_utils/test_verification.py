"""What is asked of a host: its plan where it is ours, what is there where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.gpufleet.rocm.plugins.filter.verification import verify_request as verify_filter
from ansible_collections.gpufleet.rocm.plugins.modules import rocm_verify
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.verification import verify_request
from tests.unit.documents import plan_of, planned
from tests.unit.facts_builder import VENV, bare_server, carried_out, gpu

AMDGPU = {"driver": "amdgpu"}


def ours() -> dict[str, Any]:
    return carried_out(bare_server(), planned())


def test_a_host_that_we_installed_is_held_against_its_plan() -> None:
    request = verify_request(plan_of(ours()), ours())
    assert request == {
        "user": "ada",
        "path": ["/opt/rocm/bin"],
        "compiler": True,
        "link_options": [],
        "offload_targets": ["gfx90a"],
        "gpus": ["0000:2f:00.0", "0000:32:00.0"],
        "no_gpu": "",
        "python": f"{VENV}/bin/python",
        "python_required": True,
        "torch_version": "2.3.0+rocm6.0",
        "torch_hip": "6.0",
    }


def test_a_host_of_ours_that_drifted_still_is() -> None:
    drifted = {**ours(), "packages": {}}
    assert verify_request(plan_of(drifted), drifted)["path"] == ["/opt/rocm/bin"]


def test_a_host_of_somebody_else_is_taken_as_it_is() -> None:
    node = {"node": 1, "gfx": "gfx942", "device": "74a1", "location_id": 0x2F00, "domain": 0, "partitions": 1}
    facts = bare_server(kfd={"present": True, "mode": "0660", "owner": "root", "group": "render", "nodes": [node]})
    request = verify_request(plan_of(facts), facts)
    assert (request["path"], request["compiler"], request["python_required"]) == ([], False, False)
    assert (request["torch_version"], request["offload_targets"]) == ("", ["gfx942"])


def test_a_host_that_no_release_is_for_is_verified_too() -> None:
    facts = bare_server(users={})
    facts["os"] = {**facts["os"], "version_id": "24.04", "codename": "noble", "base_codename": "noble"}
    plan = plan_of(facts)
    assert plan["verify"] is None
    request = verify_request(plan, facts)
    assert (request["user"], request["no_gpu"], request["offload_targets"]) == ("root", "", ["gfx90a"])


def test_libraries_that_the_linker_does_not_know_are_named() -> None:
    install = {"path": "/opt/rocm-6.2.0", "version": "6.2.0-66"}
    facts = bare_server(rocm={"link": "/opt/rocm-6.2.0", "installs": [install], "alternatives": []})
    assert verify_request(plan_of(facts), facts)["link_options"] == ["-Wl,-rpath,/opt/rocm/lib"]
    facts["ldconfig"] = {"libamdhip64.so.6": "/opt/rocm-6.2.0/lib/libamdhip64.so.6"}
    assert verify_request(plan_of(facts), facts)["link_options"] == []


def test_packages_of_the_operators_choice_need_no_compiler() -> None:
    facts = carried_out(bare_server(), plan_of(bare_server(), packages=["rocm-hip-runtime"]))
    assert verify_request(plan_of(facts, packages=["rocm-hip-runtime"]), facts)["compiler"] is False


def test_an_interpreter_of_the_operators_choice_takes_any_version() -> None:
    request = verify_request(plan_of(ours()), ours(), "/srv/venv/bin/python")
    assert (request["python"], request["torch_version"], request["torch_hip"]) == ("/srv/venv/bin/python", "", "")


def test_without_pytorch_there_is_no_interpreter() -> None:
    assert verify_request(plan_of(ours(), pytorch=False), ours())["python"] == ""


GPUS: list[tuple[str, list[dict[str, Any]], list[str], str]] = [
    ("cards", [gpu(), gpu(address="0000:32:00.0")], ["0000:2f:00.0", "0000:32:00.0"], ""),
    ("one for a guest", [gpu(**AMDGPU), gpu(address="0000:32:00.0", driver="vfio-pci")], ["0000:2f:00.0"], ""),
    ("all for guests", [gpu(driver="vfio-pci")], [], "no GPU for this host: its GPUs are for guests"),
    ("integrated beside a card", [gpu("164e", "0000:10:00.0"), gpu()], ["0000:2f:00.0"], ""),
    ("integrated alone", [gpu("164e", "0000:10:00.0")], ["0000:10:00.0"], ""),
    ("another vendor's", [gpu(vendor="10de")], [], "no GPU"),
    ("none", [], [], "no GPU"),
]


@pytest.mark.parametrize(("gpus", "addresses", "no_gpu"), [row[1:] for row in GPUS], ids=[row[0] for row in GPUS])
def test_gpus(gpus: list[dict[str, Any]], addresses: list[str], no_gpu: str) -> None:
    facts = bare_server(gpus=gpus)
    request = verify_request({**plan_of(facts), "verify": None}, facts)
    assert (request["gpus"], request["no_gpu"]) == (addresses, no_gpu)


def test_a_reason_of_the_plan_comes_first() -> None:
    facts = bare_server(virtualization={"kind": "container", "name": "lxc"})
    assert "container" in verify_request({**plan_of(facts), "verify": None}, facts)["no_gpu"]
    waiting = plan_of(bare_server())
    assert verify_request(waiting, bare_server())["no_gpu"].startswith("reboot required")


def test_every_part_of_the_request_is_an_option_of_the_module() -> None:
    for name in verify_request(planned(), bare_server()):
        assert f"\n  {name}:\n" in rocm_verify.DOCUMENTATION, name


def test_a_wrong_input_is_told() -> None:
    with pytest.raises(AnsibleFilterError, match=r"found NoneType and str; .* Next: "):
        verify_filter(None, "facts")
