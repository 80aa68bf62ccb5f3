"""What is read on a host for a diagnosis, from a host whose commands are made up."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import diagnose_texts
from ansible_collections.gpufleet.rocm.plugins.module_utils.diagnose_texts import Texts
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.dmesg import read_problems
from tests.unit.readers.captures import capture, names

ADA = pwd.getpwuid(os.getuid()).pw_name


class FakeHost(Host):
    """A tree of files, and answers to commands by their first words."""

    def __init__(self, root: Path, answers: dict[str, str]) -> None:
        super().__init__(str(root))
        self.answers = answers

    def run(self, argv: list[str], timeout: float = 20) -> tuple[int, str, str] | None:  # noqa: ARG002
        text = next((answer for start, answer in self.answers.items() if " ".join(argv).startswith(start)), None)
        return None if text is None else (0, text, "")


class FakeLogin(Login):
    """Answers by a word of the command; whatever else is asked finds nothing."""

    def __init__(self, answers: dict[str, tuple[int, str]]) -> None:
        super().__init__(ADA, 5)
        self.answers = answers
        self.asked: list[str] = []

    def run(self, command: str, limit: int = 0, settings: bool = False) -> tuple[int, str]:  # noqa: ARG002
        assert settings, "the login is looked at as it is"
        self.asked.append(command)
        return next((answer for word, answer in self.answers.items() if word in command), (127, ""))


def write(root: Path, path: str, text: str = "") -> None:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def read(texts: Texts, name: str) -> str:
    return "\n".join(row["text"] for row in texts.rows if row["name"] == name)


@pytest.mark.parametrize("name", names("dmesg"))
def test_the_kept_lines_of_the_kernel_log_say_what_all_of_it_says(name: str) -> None:
    log = capture(name)
    kept = diagnose_texts.matching(log, diagnose_texts._KERNEL_LINES)
    assert [row["id"] for row in read_problems(kept)] == [row["id"] for row in read_problems(log)]


def test_logs(tmp_path: Path) -> None:
    journal = "".join(f"[    {n}.0] amdgpu 0000:2f:00.0: amdgpu: line {n}\n" for n in range(9))
    make = "/var/lib/dkms/amdgpu/6.8.5/build/make.log"
    write(
        tmp_path,
        make,
        "DKMS make.log for amdgpu-6.8.5 for kernel 6.8.0-44-generic (x86_64)\nCC x.o\nx.c:1:1: error: no\n",
    )
    write(tmp_path, "/var/log/apt/term.log", "Log started: a\nold failure\nLog started: b\nE: https://u:hunter2@h/x\n")
    host = FakeHost(
        tmp_path, {"journalctl -k -b 0": journal, "journalctl -k -b -1": "[ 1.0] kfd kfd: was\n[ 2.0] usb 1-1"}
    )
    texts = Texts()
    diagnose_texts.read_logs(texts, host)
    assert len(read(texts, "kernel_log").splitlines()) == 9
    assert read(texts, "previous_boot") == "[ 1.0] kfd kfd: was"
    assert read(texts, "dkms_log").splitlines()[1:] == ["x.c:1:1: error: no"]
    assert read(texts, "apt_log") == "b\nE: https://***@h/x\n"


def test_dmesg_answers_where_there_is_no_journal(tmp_path: Path) -> None:
    texts = Texts()
    diagnose_texts.read_logs(texts, FakeHost(tmp_path, {"dmesg": "[ 1.0] amdgpu: hello\n"}))
    assert [row["name"] for row in texts.rows] == ["kernel_log"]


def test_a_login_tells_its_settings_and_the_tools_that_it_does_not_find(tmp_path: Path) -> None:
    for tool in ("rocminfo", "hipcc"):
        write(tmp_path, f"/opt/rocm/bin/{tool}")
    login = FakeLogin(
        {
            "env": (0, "HSA_OVERRIDE_GFX_VERSION=10.3.0\nHIP_API_KEY=hunter2\nHOME=/x"),
            "command -v": (0, "/usr/bin/rocminfo"),
        }
    )
    texts = Texts()
    diagnose_texts.read_login(texts, FakeHost(tmp_path, {}), login, gpus=False, python="")
    assert read(texts, "environment") == "HSA_OVERRIDE_GFX_VERSION=10.3.0\nHIP_API_KEY=***"
    assert read(texts, "path") == "hipcc: command not found"
    # Without a GPU nothing is run that needs one.
    assert not any(command == "rocminfo" for command in login.asked)


def test_programs_of_a_host_with_gpus_are_run_and_what_they_say_is_kept(tmp_path: Path) -> None:
    python = "/opt/py torch/bin/python"
    library = "/opt/py torch/lib/python3.10/site-packages/torch/lib/libtorch_hip.so"
    for path in (python, library, "/opt/rocm/lib/libamdhip64.so"):
        write(tmp_path, path)
    answers = {
        "command -v": (0, "/opt/rocm/bin/rocminfo\n/opt/rocm/bin/hipcc\n/opt/rocm/bin/rocm-smi"),
        "hipcc --offload-arch": (1, "fatal error: 'hip/hip_runtime.h' file not found"),
        "ldd": (0, "\tlibnuma.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6"),
        "import torch": (0, "is_available: False"),
        "rocm-smi": (0, "smi"),
        "rocminfo": (1, "info"),
    }
    login, texts = FakeLogin(answers), Texts()
    diagnose_texts.read_login(texts, FakeHost(tmp_path, {}), login, gpus=True, python=python)
    kept = {row["name"]: row["text"] for row in texts.rows}
    assert kept["hipcc"].startswith("fatal error")
    assert kept["libraries"] == "libnuma.so.1 => not found"
    assert (kept["torch"], kept["rocminfo"], kept["rocm_smi"]) == ("is_available: False", "info", "smi")
    # A path with a blank reaches the shell as one word.
    assert any(command.startswith("'/opt/py torch/bin/python' -c ") for command in login.asked)
    assert f"ldd '{library}'" in login.asked


def test_the_test_program_leaves_no_folder_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hipcc").write_text("#!/bin/sh\ncat t.hip; pwd; exit 3\n")
    (tmp_path / "hipcc").chmod(0o755)
    monkeypatch.setattr(
        Login,
        "argv",
        lambda _, script: ["/bin/sh", "-c", f"PATH={tmp_path}:$PATH; TMPDIR={tmp_path}; export TMPDIR; {script}"],
    )
    texts = Texts()
    diagnose_texts._compile(texts, Login(ADA, 20))
    program, folder = read(texts, "hipcc").strip().rsplit("\n", 1)
    assert program == diagnose_texts._PROGRAM.strip()
    assert folder.startswith(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["hipcc"]


def test_performance(tmp_path: Path) -> None:
    device = "/sys/bus/pci/drivers/amdgpu/0000:2f:00.0"
    for name, value in (
        ("current_link_width", "4"),
        ("max_link_width", "16"),
        ("power_dpm_force_performance_level", "low"),
    ):
        write(tmp_path, f"{device}/{name}", value)
    write(tmp_path, "/proc/sys/kernel/numa_balancing", "1")
    for node in ("node0", "node1"):
        write(tmp_path, f"/sys/devices/system/node/{node}/x")
    texts = Texts()
    diagnose_texts.read_performance(texts, Host(str(tmp_path)))
    assert read(texts, "performance").splitlines() == [
        "0000:2f:00.0 link width 4 of 16",
        "0000:2f:00.0 performance level low",
        "numa_balancing 1 with 2 memory nodes",
    ]


def test_a_machine_without_such_gpus_has_no_performance(tmp_path: Path) -> None:
    write(tmp_path, "/proc/sys/kernel/numa_balancing", "1")
    texts = Texts()
    diagnose_texts.read_performance(texts, Host(str(tmp_path)))
    assert texts.rows == []


def test_a_long_text_loses_its_middle_and_keeps_whole_lines() -> None:
    lines = [f"line {number}" for number in range(10_000)]
    text = diagnose_texts.shortened("\n".join(lines))
    assert len(text) <= diagnose_texts.LIMIT + 10
    assert set(text.splitlines()) <= {*lines, "[...]"}
    assert (text.splitlines()[0], text.splitlines()[-1]) == (lines[0], lines[-1])


def test_lines_that_differ_only_in_their_time_are_kept_once() -> None:
    log = "[ 1.0] amdgpu: same\n[ 2.0] amdgpu: same\n[ 3.0] amdgpu: other"
    assert diagnose_texts.matching(log, diagnose_texts._KERNEL_LINES) == "[ 1.0] amdgpu: same\n[ 3.0] amdgpu: other"
