"""What a look at one release is enough for: package origins, groups, nested logins, later installations."""

from __future__ import annotations

from typing import Any

import pytest

VENV = "/opt/pytorch-rocm"


@pytest.mark.parametrize("name", ["rocminfo", "hipcc", "rocm-device-libs"])
def test_same_named_packages_come_from_amd_although_the_distribution_sorts_higher(host: Any, name: str) -> None:
    policy = host.check_output("LC_ALL=C.UTF-8 apt-cache policy %s", name)
    table = policy.split("Version table:")[1]
    installed = next(line.split()[1] for line in table.splitlines() if line.startswith(" ***"))
    assert ".60000-" in installed
    assert "600 http" in table
    assert "repo.radeon.com" in table
    others = [
        line.split()[0]
        for line in table.splitlines()
        if line.startswith("     ") and line.strip()[0].isdigit() and line.split()[1] == "500" and "http" not in line
    ]
    assert others, f"the distribution offers no {name}, so this test proves nothing"
    assert all(host.run("dpkg --compare-versions %s gt %s", other, installed).rc == 0 for other in others)


@pytest.mark.parametrize("name", ["render", "video"])
def test_groups_are_system_groups(host: Any, name: str) -> None:
    assert host.group(name).gid < 1000


def test_managing_user_still_may_sudo(host: Any) -> None:
    assert host.check_output("runuser -l ops -c 'sudo -n id -u'") == "0"


def test_nested_login_does_not_repeat_the_path(host: Any) -> None:
    nested = host.check_output("runuser -l ada -c %s", "bash -lc 'bash -lc \"printf %s \\$PATH\"'")
    assert nested.split(":").count("/opt/rocm/bin") == 1


def test_constraints_refuse_another_torch(host: Any) -> None:
    refused = host.run(f"{VENV}/bin/pip install --dry-run --no-index --constraint {VENV}/constraints.txt torch==2.6.0")
    assert refused.rc != 0
    assert "constraint" in refused.stderr or "conflict" in refused.stderr


def test_system_python_is_untouched(host: Any) -> None:
    assert host.run("/usr/bin/python3 -c 'import torch'").rc != 0
