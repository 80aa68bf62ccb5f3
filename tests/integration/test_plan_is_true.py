"""The plan against what really happens on a host: the same changes, nothing beside them, and little work in sync."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.conftest import Run, Target, make_target

VENV = "/opt/pytorch-rocm"
# Configuration that no package ships, with a checksum each; /etc files that other programs keep are left out.
FILES = r"""
dpkg-query -L $(dpkg-query -W -f '${Package} ') 2>/dev/null | sort -u > /tmp/packaged
find /etc -xdev -type f ! -name '*-' | sort | comm -23 - /tmp/packaged | xargs -r sha256sum
rm /tmp/packaged
"""
# What programs on the host write themselves when packages, groups or libraries change.
DERIVED = {"/etc/ld.so.cache", "/etc/group", "/etc/gshadow", "/etc/passwd", "/etc/shadow"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A bare host with two MI250 functions; the first test brings it to the wanted state, the others drift it."""
    yield from make_target("test-plan", "10.77.0.33", "mi250", tmp_path_factory.mktemp("plan"))


def files(host: Target) -> set[tuple[str, str]]:
    """Configuration files of the host with their checksums."""
    rows = (line.split(maxsplit=1) for line in host.shell(FILES).splitlines())
    return {(path, digest) for digest, path in rows if path not in DERIVED}


def targets(run: Run, *kinds: str) -> set[str]:
    """What the plan in the report names for these kinds of action."""
    return {row["target"] for row in run.report["actions"] if row["action"] in kinds}


def test_check_names_every_change_that_the_real_run_makes(host: Target) -> None:
    check = host.play("site.yml", "--check", "--diff")
    assert check.code == 0, check.output[-3000:]
    before, manual = files(host), set(host.shell("apt-mark showmanual").split())
    real = host.play()
    assert real.code == 0, real.output[-3000:]
    assert check.report["actions"] == real.report["actions"]

    written = {path for path, _ in files(host) - before}
    assert written == {path for path in targets(check, "write") if path.startswith("/etc")}
    packages = {target for target in targets(check, "install") if "==" not in target}
    assert set(host.shell("apt-mark showmanual").split()) - manual == packages
    wheels = {target for target in targets(check, "install") if "==" in target}
    assert wheels <= set(host.shell(f"{VENV}/bin/pip freeze").split())
    for user in targets(check, "add-to-groups"):
        assert {"render", "video"} <= set(host.shell(f"id -nG {user}").split())


def test_host_in_sync_costs_six_tasks(host: Target) -> None:
    """Counted where Ansible reports results; a task that runs once for the whole fleet is no host's cost."""
    run = host.play()
    assert (run.code, run.report["state"]) == (0, "in sync"), run.output[-3000:]
    executed = [row["task"] for row in run.executed(host.host.name) if not row["once"]]
    skipped = [row["task"] for row in run.tasks if row["status"] == "skipped"]
    print(f"executed {len(executed)}: {executed}; skipped {len(skipped)}")
    assert 0 < len(executed) <= 6, executed
    assert len(skipped) <= 40, skipped
    assert not [row for row in run.tasks if row["changed"]]


FOREIGN = r"""
mkdir -p /tmp/older/DEBIAN
printf 'Package: rocm-hip-sdk\nVersion: 5.7.0.50700-1~22.04\nArchitecture: amd64\n' > /tmp/older/DEBIAN/control
printf 'Maintainer: Nobody <nobody@example.com>\nDescription: an older one\n' >> /tmp/older/DEBIAN/control
dpkg-deb --build /tmp/older /tmp/older.deb && dpkg --install /tmp/older.deb 2>&1
rm -r /tmp/older /tmp/older.deb
"""
CPU_WHEEL = f"""
{VENV}/bin/python -m pip install -q --no-deps --index-url http://10.77.0.1:8600/download.pytorch.org/whl/cpu \\
  --trusted-host 10.77.0.1 torch==2.3.1
"""
PROFILE, PIN = "/etc/profile.d/rocm.sh", "/etc/apt/preferences.d/rocm-pin-600"
KEY, SOURCE = "/etc/apt/keyrings/rocm.asc", "/etc/apt/sources.list.d/rocm.sources"
# What happens to a host, the stage that puts it right, and what the report must name.
DRIFT = {
    "file edited": (f"echo 'export PATH=/opt/old:$PATH' >> {PROFILE}", "environment", PROFILE),
    "pin removed": (f"rm {PIN}", "repo", PIN),
    "user out of a group": ("gpasswd --delete ada render", "access", "ada"),
    "package downgraded": (FOREIGN, "sdk", "rocm-hip-sdk"),
    "key swapped": (f"cp /usr/share/keyrings/debian-archive-bookworm-stable.gpg {KEY}", "repo", KEY),
    "source disabled": (f"echo 'Enabled: no' >> {SOURCE}", "repo", SOURCE),
    "package of the environment replaced": (CPU_WHEEL, "pytorch", "torch==2.3.0+rocm6.0"),
}
LINKER_CACHE = {"stage": "environment", "action": "refresh", "target": "linker cache"}


@pytest.mark.parametrize(("script", "stage", "target"), DRIFT.values(), ids=DRIFT)
def test_drift_runs_the_stage_concerned_and_is_named(host: Target, script: str, stage: str, target: str) -> None:
    host.shell(script)
    run = host.play()
    assert (run.code, run.report["state"]) == (0, "done"), run.output[-3000:]
    # New libraries need the linker's cache, whose refresh belongs to another stage.
    actions = [row for row in run.report["actions"] if stage != "sdk" or not LINKER_CACHE.items() <= row.items()]
    assert {row["stage"] for row in actions} == {stage}
    assert target in {row["target"] for row in actions}
    # Packages are installed by the tasks of one role for all of them.
    allowed = {f"rocm_{stage}"} | ({"rocm_repo", "rocm_environment"} if stage == "sdk" else set())
    assert run.changing_roles <= allowed
    roles = {row["role"].rpartition(".")[2] for row in run.executed(host.host.name)}
    assert roles - {"", "rocm_plan", "rocm_verify"} <= allowed
