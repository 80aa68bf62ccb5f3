"""The module as Ansible runs it: its options, its documentation, its result."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.contract import documented, violations
from tests.unit.facts_builder import bare_server
from tests.unit.module_utils import hosts
from tests.unit.module_utils.tree import write_tree


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


@pytest.mark.parametrize("name", hosts.HOSTS)
def test_the_facts_of_every_host_are_as_documented(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {**hosts.HOSTS[name](), **hosts.processes(2)})
    assert violations(gather(str(tmp_path), ["alice", "bob", "typo"], [hosts.VENV, "/opt/none"])) == []


def test_the_facts_of_this_machine_are_as_documented() -> None:
    assert violations(gather("/", ["root"], ["/no/such/venv"])) == []


def test_the_facts_of_decision_tests_are_as_documented() -> None:
    assert violations(bare_server()) == []


def test_the_documentation_leaves_nothing_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server on which every list has something, so that every documented field is compared with a value."""
    libraries = "\tlibamdhip64.so.7 (libc6,x86-64) => /opt/rocm/lib/libamdhip64.so.7\n"

    def run(_host: Host, argv: list[str], **_options: float) -> tuple[int, str, str]:
        return 0, {"apt-cache": hosts.policy(argv[2:]), "ldconfig": libraries}.get(argv[0], ""), "E: something\n"

    monkeypatch.setattr(Host, "run", run)
    tree = {
        **hosts.gpu_server(),
        **hosts.processes(1),
        "/proc/sys/kernel/random/boot_id": "4b3c6a5e-0d0f-4c4e-9a53-3f1b5f0f3a10\n",
        paths.REBOOT: '{"boot_id": "9d1e4c0a-7f57-4f4f-8c0e-2f6f1d7f3b21", "module": "0123456789ABCDEF01234567"}',
        paths.HOLDS: "amdgpu-dkms\n",
        "/etc/modprobe.d/a.conf": "blacklist amdgpu\n",
        "/etc/environment": "HSA_OVERRIDE_GFX_VERSION=10.3.0\n",
        "/var/lib/dpkg/updates/0": hosts.record("x", "1", "install ok half-configured"),
        "/var/lib/shim-signed/mok/MOK.der": "certificate",
    }
    write_tree(tmp_path, {**tree, "/etc/group": "video:x:44:alice\nrender:x:993:alice\nalice:x:1000:\n"})
    facts = gather(str(tmp_path), ["alice"], [hosts.VENV])
    assert violations(facts) == []
    assert [name for name, fact in facts.items() if fact in ([], {}, None)] == []


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


def test_names_that_are_no_text_reach_the_controller(tmp_path: Path) -> None:
    write_tree(tmp_path, hosts.foreign_bytes())
    facts = run_module({"root": str(tmp_path)})["ansible_facts"]["rocm"]
    assert [row["path"] for row in facts["rocm"]["installs"]] == ["/opt/rocm-6?.0", "/opt/rocm-7.2.4"]


def test_an_unknown_option_is_refused() -> None:
    assert run_module({"rooot": "/"})["failed"] is True
