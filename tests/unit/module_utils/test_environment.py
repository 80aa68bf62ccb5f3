"""Assignments in shell start-up files."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import environment
from tests.unit.module_utils.tree import MakeHost

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("HSA_OVERRIDE_GFX_VERSION=10.3.0", [(OVERRIDE, "10.3.0")]),
        ('export HSA_OVERRIDE_GFX_VERSION="10.3.0"  # for the old card', [(OVERRIDE, "10.3.0")]),
        ("  export HSA_OVERRIDE_GFX_VERSION='10.3.0'", [(OVERRIDE, "10.3.0")]),
        ("declare -x HSA_OVERRIDE_GFX_VERSION=10.3.0", [(OVERRIDE, "10.3.0")]),
        (
            "export HIP_VISIBLE_DEVICES=0 ROCR_VISIBLE_DEVICES=1",
            [("HIP_VISIBLE_DEVICES", "0"), ("ROCR_VISIBLE_DEVICES", "1")],
        ),
        ("[ -d /opt/rocm ] && export ROCM_PATH=/opt/rocm", [("ROCM_PATH", "/opt/rocm")]),
        ("if [ -n x ]; then export HIP_PATH=/opt/rocm; fi", [("HIP_PATH", "/opt/rocm")]),
        (
            'export LD_LIBRARY_PATH="/opt/rocm/lib:$LD_LIBRARY_PATH"',
            [("LD_LIBRARY_PATH", "/opt/rocm/lib:$LD_LIBRARY_PATH")],
        ),
        ("CUDA_VISIBLE_DEVICES=", [("CUDA_VISIBLE_DEVICES", "")]),
        ("PYTORCH_ROCM_ARCH=gfx90a;gfx942", [("PYTORCH_ROCM_ARCH", "gfx90a")]),
        ("PYTORCH_ROCM_ARCH='gfx90a;gfx942'", [("PYTORCH_ROCM_ARCH", "gfx90a;gfx942")]),
        ("HSA_OVERRIDE_GFX_VERSION DEFAULT=10.3.0", [(OVERRIDE, "10.3.0")]),
        ("# export HSA_OVERRIDE_GFX_VERSION=10.3.0", []),
        ("HSA_OVERRIDE_GFX_VERSION=10.3.0 python3 train.py", []),
        ("alias train='HSA_OVERRIDE_GFX_VERSION=10.3.0 python3 train.py'", []),
        ("echo HSA_OVERRIDE_GFX_VERSION=10.3.0", []),
        ("unset HSA_OVERRIDE_GFX_VERSION", []),
        ("export PATH=/opt/rocm/bin:$PATH", []),
        ("export PATH=$PATH:/opt/rocm-5.0.0/bin", [("PATH", "$PATH:/opt/rocm-5.0.0/bin")]),
        ("PATH=/opt/rocm/core-7.14/bin:$PATH", [("PATH", "/opt/rocm/core-7.14/bin:$PATH")]),
        ('export HIP_PATH="/opt/rocm', [("HIP_PATH", "/opt/rocm")]),
    ],
)
def test_assignments(line: str, expected: list[tuple[str, str]]) -> None:
    assert environment.assignments(line + "\n") == expected


def test_files(make_host: MakeHost) -> None:
    text = "export HIP_VISIBLE_DEVICES=0\n"
    host = make_host(
        {
            "/etc/profile.d/gpu.sh": text,
            "/etc/profile.d/gpu.csh": text,
            "/etc/environment.d/10-gpu.conf": "HIP_VISIBLE_DEVICES=1\n",
            "/home/alice/.bashrc": text,
            "/home/bob/.bashrc": text,
        }
    )
    assert [(entry["file"], entry["value"]) for entry in environment.gather(host, ["/home/alice", "/home/alice"])] == [
        ("/etc/profile.d/gpu.sh", "0"),
        ("/etc/environment.d/10-gpu.conf", "1"),
        ("/home/alice/.bashrc", "0"),
    ]
