"""Roles of the collection in playbooks of somebody else: none of them changes a host that the plan refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.runs.test_exit_status import REFUSED, Controller, controller  # noqa: F401  # a fixture

ROLES = ("rocm_repo", "rocm_driver", "rocm_sdk", "rocm_access", "rocm_environment", "rocm_pytorch")
# Nothing listens there: a role that goes on to change the host makes it unreachable.
NOWHERE = {"ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_ssh_retries": 0}


def role(name: str, **options: Any) -> dict[str, Any]:
    """A task that runs a role."""
    return {"ansible.builtin.include_role": {"name": f"gpufleet.rocm.{name}", **options}}


LEAVES_IT_TO_THE_PLAYBOOK = [role("rocm_plan"), role("{{ inventory_hostname }}")]
GOES_ON = [{"block": [role("rocm_plan")], "rescue": [role("{{ inventory_hostname }}")]}]
ALONE = [role("{{ inventory_hostname }}")]
REBOOTS = [role("rocm_plan"), role("rocm_driver", tasks_from="reboot.yml")]


@pytest.mark.parametrize(
    ("tasks", "enforce"),
    [(LEAVES_IT_TO_THE_PLAYBOOK, False), (GOES_ON, True), (ALONE, False), (ALONE, True), (REBOOTS, False)],
    ids=["left to the playbook", "rescued", "alone", "alone and enforced", "reboot"],
)
def test_no_role_changes_a_refused_host(
    controller: Controller,  # noqa: F811
    tasks: list[dict[str, Any]],
    enforce: bool,
) -> None:
    playbook = controller.folder / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
    hosts = {name: {**REFUSED, **NOWHERE, "rocm_plan_enforce": enforce} for name in ROLES}
    run = controller.play(str(playbook), hosts)
    assert run.code == 2, run.output
    assert "UNREACHABLE" not in run.output
    assert len(re.findall(r"unreachable=0 +failed=1 ", run.output)) == len(ROLES)
    assert run.output.count("msg: 'user-unknown: ") >= len(ROLES)


def test_a_refused_host_can_be_verified(controller: Controller) -> None:  # noqa: F811
    playbook = controller.folder / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [role("rocm_verify")]}]))
    run = controller.play(str(playbook), {"a": {**REFUSED, "rocm_plan_enforce": False}})
    assert run.code == 0, run.output
