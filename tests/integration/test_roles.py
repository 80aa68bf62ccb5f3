"""Hosts as operators find them: old guides' leftovers, drift, roles used alone, another release."""

from __future__ import annotations

from pathlib import Path

from sandbox.upstream import faults
from tests.integration.conftest import Target

ROLE_ALONE = """
- name: One role in somebody else's playbook
  hosts: all
  become: true
  gather_facts: false
  roles:
    - role: gpufleet.rocm.rocm_access
"""

TWO_WISHES = """
- name: The fleet's release
  hosts: all
  become: true
  gather_facts: false
  roles:
    - role: gpufleet.rocm.rocm_access
- name: Another one for some reason
  hosts: all
  become: true
  gather_facts: false
  vars:
    rocm_version: 6.0.2
  roles:
    - role: gpufleet.rocm.rocm_sdk
"""


def test_role_alone_plans_for_itself(settled: Target, tmp_path: Path) -> None:
    settled.shell("gpasswd --delete ada render; groupdel render || true; getent group render || true")
    playbook = tmp_path / "play.yml"
    playbook.write_text(ROLE_ALONE)
    run = settled.play(str(playbook), rocm_pytorch=False)
    assert run.code == 0, run.output[-3000:]
    group = settled.shell("getent group render").strip()
    assert int(group.split(":")[2]) < 1000
    assert {"ada", "ops"} <= set(group.split(":")[3].split(","))


def test_old_sources_of_a_guide_are_moved_away_and_kept(settled: Target) -> None:
    line = "deb [arch=amd64 trusted=yes] http://10.77.0.1:8600/repo.radeon.com/rocm/apt/6.0 jammy main"
    settled.shell(f"echo '{line}' > /etc/apt/sources.list.d/rocm.list")
    run = settled.play(rocm_pytorch=False)
    assert run.code == 0, run.output[-3000:]
    assert run.report["state"] == "done"
    assert settled.shell("cat /var/backups/gpufleet.rocm/rocm.list").strip() == line
    assert settled.shell("ls /etc/apt/sources.list.d").split() == sorted(
        ["amdgpu.sources", "distribution.sources", "rocm.sources"]
    )
    assert settled.shell("apt-get update 2>&1 | grep -E '^(W|E):' || true") == ""


def test_check_mode_changes_nothing_on_a_bare_host(bare: Target) -> None:
    before = bare.snapshot()
    run = bare.play("site.yml", "--check", "--diff")
    assert run.code == 0, run.output[-3000:]
    assert run.report["state"] == "will change"
    assert bare.snapshot() == before


def test_another_release_replaces_exactly_what_differs(settled: Target) -> None:
    run = settled.play(rocm_pytorch=False, rocm_version="6.0.2")
    assert run.code == 0, run.output[-3000:]
    assert settled.shell("dpkg-query -W -f '${Version}' rocm-hip-sdk").startswith("6.0.2.60002-")
    assert settled.shell("readlink -f /opt/rocm").strip() == "/opt/rocm-6.0.2"
    again = settled.play(rocm_pytorch=False, rocm_version="6.0.2")
    assert (again.code, again.report["state"]) == (0, "in sync")


def test_back_to_the_release_before(settled: Target) -> None:
    """apt downgrades nothing by itself, and the SDK is a hundred packages that need each other's exact versions."""
    settled.play(rocm_pytorch=False, rocm_version="6.0.2")
    run = settled.play(rocm_pytorch=False)
    assert run.code == 0, run.output[-3000:]
    assert run.report["state"] == "done"
    assert settled.shell("dpkg-query -W -f '${Version}' rocm-hip-sdk").startswith("6.0.0.60000-")
    assert settled.shell("ls /etc/apt/preferences.d").split() == ["rocm-pin-600"]
    again = settled.play(rocm_pytorch=False)
    assert (again.code, again.report["state"]) == (0, "in sync")


def test_a_failed_upgrade_leaves_the_release_that_works(settled: Target) -> None:
    before = settled.shell("cat /etc/apt/sources.list.d/rocm.sources")
    faults.add("/repo.radeon.com/rocm/apt/6.0.2/dists/", "foreign-signature")
    run = settled.play(rocm_pytorch=False, rocm_version="6.0.2")
    assert run.code == 2
    assert run.report["state"] == "failed"
    assert settled.shell("cat /etc/apt/sources.list.d/rocm.sources") == before
    faults.clear()
    again = settled.play(rocm_pytorch=False)
    assert again.code == 0, again.output[-3000:]


def test_a_second_wish_in_the_same_run_is_planned_anew(settled: Target, tmp_path: Path) -> None:
    playbook = tmp_path / "play.yml"
    playbook.write_text(TWO_WISHES)
    run = settled.play(str(playbook), rocm_pytorch=False)
    assert run.code == 0, run.output[-3000:]
    assert settled.shell("readlink -f /opt/rocm").strip() == "/opt/rocm-6.0.2"
    assert settled.play(rocm_pytorch=False).report["state"] == "done"


def test_verify_names_a_device_that_the_user_may_not_open(settled: Target) -> None:
    """A stand-in /dev/kfd and render node with the wrong mode: found in a fresh login, before anything else fails."""
    settled.shell("mknod -m 600 /dev/kfd c 1 3; mkdir -p /dev/dri; mknod -m 666 /dev/dri/renderD128 c 1 3")
    before = settled.snapshot()
    run = settled.play("playbooks/verify.yml", rocm_pytorch=False)
    settled.shell("rm /dev/kfd /dev/dri/renderD128")
    assert run.code == 2
    failed = [check["id"] for check in run.report["verification"] if check["status"] == "failed"]
    assert failed[0] == "device-access"
    assert "kfd-permission: /dev/kfd is crw-------" in run.report["reason"]
    assert settled.snapshot() == before
