"""The script that asks PyTorch, run with the sandbox's stand-in for it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "roles" / "rocm_verify" / "files" / "torch_check.py"
STANDIN = ROOT / "sandbox" / "upstream" / "standin" / "torch"
GPUS = [{"name": "AMD Instinct MI250", "arch": "gfx90a:sramecc+:xnack-"}] * 3
ROCM = "__version__ = '2.3.0+rocm6.0'\nhip = '6.0.32830-d62f6a171'\ncuda = None\n_arch_list = ['gfx900', 'gfx90a']\n"
CUDA = ROCM.replace("'6.0.32830-d62f6a171'", "None").replace("cuda = None", "cuda = '12.1'")
CPU = ROCM.replace("'6.0.32830-d62f6a171'", "None")
# Copying to the second GPU never ends; the third one computes wrong; all of them talk.
FAULTS = """
import time
_to = Tensor.to
def to(self, where):
    print("{talk")
    if str(where) == "cuda:1":
        time.sleep(60)
    return Tensor([[0.0] * 256] * 256, where) if str(where) == "cuda:2" else _to(self, where)
Tensor.to = to
"""


class Torch:
    """A folder to import the stand-in from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "torch"
        shutil.copytree(STANDIN, self.package)
        cuda = self.package / "cuda.py"
        text = cuda.read_text().replace("/run/gpufleet-sandbox/gpus.json", str(folder / "gpus.json"))
        cuda.write_text(text.replace("/dev/kfd", str(folder / "kfd")))
        (folder / "kfd").touch()
        # Products of lists take their time.
        self.script = folder / "torch_check.py"
        self.script.write_text(SCRIPT.read_text().replace("SIZE = 256", "SIZE = 16", 1))

    def ask(self, version: str, gpus: list[dict[str, str]], *options: str) -> tuple[int, dict[str, Any]]:
        (self.package / "version.py").write_text(version)
        (self.folder / "gpus.json").write_text(json.dumps(gpus))
        done = subprocess.run(
            [sys.executable, str(self.script), *options],
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, answer


@pytest.fixture
def torch(tmp_path: Path) -> Torch:
    return Torch(tmp_path)


def test_every_gpu_computes(torch: Torch) -> None:
    code, answer = torch.ask(ROCM, GPUS)
    assert code == 0
    assert (answer["version"], answer["hip"], answer["arch_list"]) == (
        "2.3.0+rocm6.0",
        "6.0.32830-d62f6a171",
        ["gfx900", "gfx90a"],
    )
    assert [row["arch"] for row in answer["devices"]] == ["gfx90a:sramecc+:xnack-"] * 3
    assert [row["ok"] for row in answer["matmul"]] == [True] * 3
    assert (answer["notes"], answer["libraries"], answer["bandwidth"], answer["all_reduce"]) == ([], {}, [], None)


def test_a_gpu_that_hangs_or_computes_wrong_is_told_apart_from_the_others(torch: Torch) -> None:
    with (torch.package / "__init__.py").open("a") as handle:
        handle.write(FAULTS.replace("256", "16"))
    code, answer = torch.ask(ROCM, GPUS, "--limit", "3")
    assert code == 1
    assert [row["error"] for row in answer["matmul"]] == [
        "",
        "no end within the time limit",
        "the product differs from the processor's",
    ]


def test_without_a_gpu_the_reason_is_told(torch: Torch) -> None:
    code, answer = torch.ask(ROCM, [])
    assert (code, answer["available"], answer["reason"]) == (1, False, "No HIP GPUs are available")


@pytest.mark.parametrize(("version", "note"), [(CUDA, "torch-cuda-wheel"), (CPU, "torch-cpu-wheel")])
def test_another_build_is_noted_and_does_not_compute(torch: Torch, version: str, note: str) -> None:
    code, answer = torch.ask(version, GPUS)
    assert (code, answer["notes"], answer["matmul"]) == (1, [note], [])


def test_another_backend_computes_on_request(torch: Torch) -> None:
    cuda = torch.package / "cuda.py"
    cuda.write_text(cuda.read_text().replace("version.hip is None", "False"))
    code, answer = torch.ask(CUDA, GPUS, "--any-backend")
    assert (code, answer["notes"], len(answer["matmul"])) == (0, ["torch-cuda-wheel"], 3)


def test_a_torch_that_cannot_be_imported_is_an_answer_too(torch: Torch) -> None:
    text = "raise OSError('libamdhip64.so.6: cannot open shared object file: No such file or directory')\n"
    (torch.package / "__init__.py").write_text(text)
    code, answer = torch.ask(ROCM, GPUS)
    assert code == 1
    assert answer["error"].startswith("OSError: libamdhip64.so.6: cannot open")
    assert answer["missing"] == []
    shutil.rmtree(torch.package)
    torch.package.mkdir()
    assert "torch" in torch.ask(ROCM, GPUS)[1]["error"]


def test_loaded_libraries_are_told_by_name() -> None:
    spec = importlib.util.spec_from_file_location("torch_check", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    start = "7f1c40000000-7f1c41000000 r-xp 00000000 fe:01 1234 "
    paths = [
        "/srv/my venv/torch/lib/libamdhip64.so",
        "/srv/my venv/torch/lib/libamdhip64.so",
        "/opt/rocm-6.0.0/lib/libamdhip64.so.6.0.60000",
        "/srv/my venv/torch/lib/libhsa-runtime64.so",
        "/srv/my venv/torch/lib/libtorch_hip.so",
        "[heap]",
    ]
    lines = [f"{start}       {path}\n" for path in paths] + [f"{start}\n"]
    assert script.loaded_libraries(lines) == {
        "libamdhip64": ["/opt/rocm-6.0.0/lib/libamdhip64.so.6.0.60000", "/srv/my venv/torch/lib/libamdhip64.so"],
        "libhsa-runtime64": ["/srv/my venv/torch/lib/libhsa-runtime64.so"],
    }
