"""What must stop before the first change: one clear message, an untouched host, and a plain rerun once it is mended."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sandbox import paths
from sandbox.upstream import faults
from tests.integration.conftest import Target

ROCM_RELEASE_FILE = "/repo.radeon.com/rocm/apt/6.0/dists/jammy/Release"

CASES: list[tuple[str, dict[str, Any], tuple[str, str] | None, str, list[str]]] = [
    ("unknown release", {"rocm_version": "6.0.9"}, None, "release-unknown", ["6.0.9", "6.0.2", "7.2.4", "10.1"]),
    ("unknown user", {"rocm_users": ["ada", "typo"]}, None, "user-unknown", ["typo"]),
    ("no GPU where two are expected", {"rocm_expect_gpus": 2}, None, "gpu-none", ["2 AMD GPUs"]),
    (
        "foreign key",
        {},
        ("/repo.radeon.com/rocm/rocm.gpg.key", "foreign-key"),
        "key-mismatch",
        ["rocm_key_fingerprints"],
    ),
    (
        "foreign key of the new stream",
        {"rocm_version": "10.0", "rocm_pytorch": False},
        ("/stable.repo.amd.com/rocm/gpg/", "foreign-key"),
        "key-mismatch",
        ["stable.repo.amd.com/rocm/gpg/packages.gpg"],
    ),
    ("missing path", {}, ("/repo.radeon.com/rocm/apt/6.0/", "404"), "repo-path-missing", ["404", "rocm/apt/6.0"]),
    ("missing wheels", {}, ("/download.pytorch.org/whl/rocm6.0/", "404"), "repo-path-missing", ["404", "whl/rocm6.0"]),
    ("broken server", {}, ("/repo.radeon.com/rocm/apt/6.0/", "500"), "repo-unreachable", ["500"]),
    ("shell in a wish", {"rocm_packages": ["rocm; touch /opt/owned"]}, None, "wish-invalid", ["rocm_packages"]),
]


@pytest.mark.parametrize(("name", "wishes", "fault", "expected", "words"), CASES, ids=[case[0] for case in CASES])
def test_refused_with_one_message_and_untouched(
    bare: Target,
    name: str,
    wishes: dict[str, Any],
    fault: tuple[str, str] | None,
    expected: str,
    words: list[str],
) -> None:
    before = bare.snapshot()
    if fault:
        faults.add(*fault)
    run = bare.play(**wishes)
    assert run.code == 3, f"{name}: {run.output[-3000:]}"
    assert run.report["state"] == "refused"
    assert run.refusals == [expected]
    message = run.report["refusals"][0]["message"]
    assert "; expected " in message
    assert ". Next: " in message
    for word in words:
        assert word in message
    assert len(re.findall(r"^fatal: ", run.output, re.M)) == 1
    assert bare.snapshot() == before


def test_missing_path_is_found_by_one_head_request(bare: Target) -> None:
    faults.add("/repo.radeon.com/rocm/apt/6.0/", "404")
    seen = len(paths.SERVER_LOG.read_text().splitlines())
    run = bare.play("playbooks/plan.yml")
    assert run.code == 3
    asked = [line for line in paths.SERVER_LOG.read_text().splitlines()[seen:] if ROCM_RELEASE_FILE in line]
    assert len(asked) == 1
    assert "HEAD" in asked[0]


def test_good_key_survives_a_foreign_one(settled: Target) -> None:
    before = settled.snapshot()
    faults.add("/repo.radeon.com/rocm/rocm.gpg.key", "foreign-key")
    run = settled.play(rocm_pytorch=False)
    assert run.refusals == ["key-mismatch"]
    assert settled.snapshot() == before
    faults.clear()
    again = settled.play(rocm_pytorch=False)
    assert (again.code, again.report["state"]) == (0, "in sync")


def test_plain_rerun_converges_after_the_path_is_repaired(settled: Target) -> None:
    settled.shell("rm /etc/apt/sources.list.d/rocm.sources /etc/apt/preferences.d/rocm-pin-600")
    faults.add("/repo.radeon.com/rocm/apt/6.0/", "404")
    refused = settled.play(rocm_pytorch=False)
    assert refused.refusals == ["repo-path-missing"]
    faults.clear()
    run = settled.play(rocm_pytorch=False)
    assert (run.code, run.report["state"]) == (0, "done")
    again = settled.play(rocm_pytorch=False)
    assert (again.code, again.report["state"]) == (0, "in sync")


def test_outage_does_not_hold_up_a_host_in_sync(settled: Target) -> None:
    faults.add("/repo.radeon.com/", "500")
    run = settled.play(rocm_pytorch=False)
    assert (run.code, run.report["state"]) == (0, "in sync")


def test_new_stream_does_not_go_over_the_old_one(settled: Target) -> None:
    before = settled.snapshot()
    run = settled.play(rocm_pytorch=False, rocm_version="10.0")
    assert run.refusals == ["new-stream-over-legacy"]
    assert "/opt/rocm-6.0.0" in run.report["refusals"][0]["message"]
    assert settled.snapshot() == before
