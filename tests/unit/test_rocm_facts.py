"""The module as Ansible runs it: its options, its documentation, its result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather
from ansible_collections.gpufleet.rocm.plugins.modules import rocm_facts


def documented() -> dict[str, Any]:
    returned: dict[str, Any] = yaml.safe_load(rocm_facts.RETURN)["ansible_facts"]["contains"]["rocm"]["contains"]
    return returned


def run_module(options: dict[str, Any]) -> dict[str, Any]:
    """Result of the module in its own process, its options on standard input."""
    root = Path(__file__).resolve().parents[2]
    arguments = {"ANSIBLE_MODULE_ARGS": dict(options, _ansible_remote_tmp="/tmp", _ansible_check_mode=True)}
    code = (
        "import sys; sys.path.insert(0, {!r})\n"
        "from ansible_collections.gpufleet.rocm.plugins.modules import rocm_facts\n"
        "rocm_facts.main()".format(str(root / "collections"))
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(arguments), capture_output=True, text=True, check=False
    )
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_every_fact_is_documented_and_only_those(tmp_path: Path) -> None:
    assert set(documented()) == set(gather(str(tmp_path)))


@pytest.mark.parametrize("fact", ["os", "kernel", "virtualization", "rocm", "apt", "kfd", "driver"])
def test_samples_have_the_keys_of_the_facts(tmp_path: Path, fact: str) -> None:
    sample = documented()[fact]["sample"]
    assert set(sample) == set(gather(str(tmp_path))[fact])


def test_every_return_value_has_a_type_and_a_sample() -> None:
    for name, entry in documented().items():
        assert {"description", "type", "sample"} <= set(entry), name


def test_the_module_runs_in_check_mode(tmp_path: Path) -> None:
    result = run_module({"root": str(tmp_path), "users": ["root"], "venvs": ["/opt/v"]})
    assert result["changed"] is False
    facts = result["ansible_facts"]["rocm"]
    assert facts["users"] == {"root": None}
    assert facts["venvs"] == [
        {"path": "/opt/v", "exists": False, "usable": False, "occupied": False, "python": None, "packages": {}}
    ]


def test_an_unknown_option_is_refused() -> None:
    assert run_module({"rooot": "/"})["failed"] is True
