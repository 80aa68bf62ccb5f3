"""Real runs of verify.yml on hosts whose facts and checks are made up: whose they are, and what the run ends with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runs.test_exit_status import SETTLED, Controller, host
from tests.unit.facts_builder import bare_server

FOREIGN = bare_server()
FOREIGN["os"] = {**FOREIGN["os"], "version_id": "24.04", "codename": "noble", "base_codename": "noble"}
DENIED = {
    "id": "device-access",
    "status": "failed",
    "evidence": "/dev/kfd is crw-------",
    "seconds": 0.1,
    "finding": "kfd-permission",
    "remedy": "name the user",
}


def failing(facts: dict[str, Any]) -> dict[str, Any]:
    row = host(facts)
    row["answers"] = {**row["answers"], "rocm_verify": {"passed": False, "user": "ada", "checks": [DENIED]}}
    return row


CASES = [
    ("ours and as wanted", SETTLED, 0, "in sync"),
    ("somebody else's, of a system that the release is not for", host(FOREIGN), 2, "drift"),
    ("somebody else's, failing", failing(FOREIGN), 2, "failed"),
    ("a wish that cannot be read", host(FOREIGN, rocm_version="six"), 3, "refused"),
]


@pytest.mark.parametrize(("row", "code", "state"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_hosts_are_verified_whoever_installed_them(tmp_path: Path, row: dict[str, Any], code: int, state: str) -> None:
    extra = [] if "rocm_version" not in row else ["-e", f"rocm_version={row['rocm_version']}"]
    run = Controller(tmp_path).play("verify", {"a": row}, *extra)
    assert run.code == code, run.output
    assert run.files["a.json"]["state"] == state
    assert bool(run.files["a.json"]["verification"]) is (state != "refused")
    if state == "failed":
        assert (
            run.files["a.json"]["reason"]
            == "device-access: kfd-permission: /dev/kfd is crw-------. Next: name the user"
        )
        assert "    FAILED  device-access  kfd-permission: /dev/kfd is crw-------" in run.output
