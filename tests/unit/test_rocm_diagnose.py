"""The module as Ansible runs it: it changes nothing, and a part that fails is told and hides no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def run(**arguments: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "plugins/modules/rocm_diagnose.py")],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        env={**os.environ, "PYTHONPATH": str(ROOT / "collections")},
        text=True,
        capture_output=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_an_unknown_user_is_told_and_the_rest_is_read() -> None:
    result = run(user="nobody-of-this-name", gpus=False, _ansible_check_mode=True)
    assert result["changed"] is False
    problems = [row["source"] for row in result["texts"] if row["name"] == "problem"]
    assert problems == ["login"]
    for row in result["texts"]:
        assert set(row) == {"name", "source", "text"}
