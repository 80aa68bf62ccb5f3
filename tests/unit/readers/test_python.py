"""Python, pip and PyTorch."""

# Lines of output stand as they were printed.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.python_problems import python_problems
from tests.unit.readers.captures import capture, names

READINGS: dict[str, list[tuple[str, str]]] = {
    "01-collect-env-crash-no-hip-runtime": [("torch-gpu-unavailable", "hip_runtime_version = ")],
    "03-collect-env-rocm-build-000-false": [("torch-wrong-build", "ROCM used to build PyTorch: 0.0.0")],
    # A GPU is available all the same: an NVIDIA card.
    "04-collect-env-cuda-wheel": [("torch-cuda-wheel", "2.0.1+cu117")],
    "06-collect-env-gfx942-empty-name": [("gpu-name-empty", "(gfx942:sramecc+:xnack-)")],
    "07-no-hip-gpus": [("hip-no-device", "RuntimeError: No HIP GPUs are available")],
    "09-importerror-rocm-sysdeps": [("rocm-library-missing", "librocm_sysdeps_liblzma.so.5")],
    "10-rocm-wheel-mixed-with-cuda-parts": [
        ("venv-mixed-wheels", "nvidia-cuda-runtime-cu13==0.0.0a0"),
        ("torch-set-mismatch", "torchaudio==2.8.0.dev20250930+rocm7.0"),
    ],
    "12-device-kernel-image-invalid-igpu-first": [
        ("torch-arch-missing", "device kernel image is invalid"),
        ("igpu-first", "device kernel image is invalid"),
    ],
    "13-is-available-false-plain": [("torch-gpu-unavailable", "False")],
    "15-no-matching-distribution-python314": [("python-no-wheel", "requirement torch (from versions: none)")],
    "16-externally-managed": [("python-externally-managed", "externally-managed-environment")],
    # One set, with the build of the same day in every part.
    "18-pip-freeze-therock-wheels": [],
    "19-cpu-index-fallback-versions": [
        ("torch-index-mixed", "2.6.0+rocm6.1, 2.7.0, 2.7.1"),
        ("torch-version-missing", "torch==2.3.1"),
    ],
}


def ids(text: str) -> list[str]:
    return [problem["id"] for problem in python_problems(text)]


def test_every_capture_is_read() -> None:
    assert names("torch") == [f"torch/{name}" for name in sorted(READINGS)]


@pytest.mark.parametrize("name", READINGS)
def test_capture(name: str) -> None:
    found = python_problems(capture(f"torch/{name}"))
    assert [problem["id"] for problem in found] == [id for id, _ in READINGS[name]]
    for problem, (_, words) in zip(found, READINGS[name], strict=True):
        assert words in problem["evidence"]


NOT_FOUND = "ERROR: Could not find a version that satisfies the requirement "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AssertionError: Torch not compiled with CUDA enabled", ["torch-cpu-wheel"]),
        ("PyTorch version: 2.3.0+cpu\nCUDA used to build PyTorch: None\nIs CUDA available: False", ["torch-cpu-wheel"]),
        ("PyTorch version: 2.3.0\nCUDA used to build PyTorch: None\nIs CUDA available: False", ["torch-cpu-wheel"]),
        ("2.3.0+cpu\nFalse\n", ["torch-cpu-wheel"]),
        ("2.3.1+cu121 None False\n", ["torch-cuda-wheel"]),
        ("RuntimeError: Found no NVIDIA driver on your system.", ["torch-cuda-wheel"]),
        (
            "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
            ["torch-cuda-wheel"],
        ),
        ("[conda] pytorch   2.0.1   py3.10_cuda11.7_cudnn8.5.0_0  pytorch", ["torch-cuda-wheel"]),
        ("torch==2.3.0\nnvidia-cublas-cu12==12.1.3.1\n", ["torch-cuda-wheel"]),
        ("torch                2.3.0+cpu\ntorchvision          0.18.0+cpu\n", ["torch-cpu-wheel"]),
        ("torch 2.3.0+rocm6.0\ntorchvision 0.18.0+rocm6.0\ntorchaudio 2.3.0+rocm6.0\nTrue\n", []),
        ("torch==2.3.0+rocm6.0\ntorchvision==0.18.0+rocm5.7\n", ["torch-rocm-mismatch"]),
        ("torch==2.3.0+rocm6.0\ntorchvision==0.17.2+rocm6.0\n", ["torch-set-mismatch"]),
        ("torch==2.3.0+rocm6.0\ntorchvision==0.18.0+cu121\n", ["venv-mixed-wheels"]),
        ("torch==2.4.0+rocm6.3.4.git7cecbf6d\ntorchvision==0.19.0+rocm6.3.4.gitfab84886\n", []),
        ("ModuleNotFoundError: No module named 'torch'", ["torch-not-installed"]),
        ("ModuleNotFoundError: No module named 'torchaudio'", []),
        ("RuntimeError: HIP error: no ROCm-capable device is detected\nFalse", ["hip-no-device"]),
        (
            "PyTorch version: 2.3.0+rocm6.0\nROCM used to build PyTorch: 6.0.32830\nIs CUDA available: False",
            ["torch-gpu-unavailable"],
        ),
        ("PyTorch version: 2.3.0+rocm6.0\nROCM used to build PyTorch: 6.0.32830\nIs CUDA available: True", []),
        (">>> torch.cuda.is_available()\nFalse", ["torch-gpu-unavailable"]),
        ("torch.cuda.is_available(): False", ["torch-gpu-unavailable"]),
        ("RuntimeError: HIP error: invalid device function", ["torch-arch-missing"]),
        ("hipErrorNoBinaryForGpu: Unable to find code object for all current devices!", ["torch-arch-missing"]),
        (
            "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: No such file or directory for GPU arch : gfx1103",
            ["torch-arch-missing"],
        ),
        (
            "ImportError: libamdhip64.so.6: cannot open shared object file: No such file or directory",
            ["rocm-library-missing"],
        ),
        (
            "OSError: libhsa-runtime64.so.1: cannot open shared object file: No such file or directory",
            ["rocm-library-missing"],
        ),
        ("ImportError: libnuma.so.1: cannot open shared object file: No such file or directory", ["library-missing"]),
        (
            "ImportError: /lib/libamdhip64.so.5: version `hip_6.0' not found (required by libtorch_hip.so)",
            ["torch-rocm-mismatch"],
        ),
        ("ImportError: libtorch_hip.so: undefined symbol: hipGetDevicePropertiesR0600", ["torch-rocm-mismatch"]),
        ("RuntimeError: operator torchvision::nms does not exist", ["torch-set-mismatch"]),
        (
            "torchvision 0.18.0 requires torch==2.3.0, but you have torch 2.4.0 which is incompatible.",
            ["torch-set-mismatch"],
        ),
        ("ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found", ["library-too-old"]),
        ("A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.0 as it may crash.", ["numpy-abi"]),
        ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 GiB.", ["gpu-out-of-memory"]),
        (
            "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f. Reason: Page not present.",
            ["gpu-page-fault"],
        ),
        ("HW Exception by GPU node-1 (Agent handle: 0x55) reason :GPU Hang", ["gpu-hang"]),
        ("Unable to open /dev/kfd read-write: Permission denied\nFalse", ["kfd-permission"]),
        ("/opt/amdgpu/share/libdrm/amdgpu.ids: No such file or directory\nTrue", ["gpu-name-empty"]),
        (
            "clang: error: cannot find ROCm device library; provide its path via '--rocm-path'",
            ["device-library-missing"],
        ),
        (
            "GPU models and configuration: AMD Radeon Graphics (gfx1036)\nAMD Radeon RX 7900 XTX (gfx1100)",
            ["igpu-first"],
        ),
        (
            "GPU models and configuration: \nGPU 0: AMD Radeon Graphics (gfx1036)\nGPU 1: AMD Radeon RX 7900 XTX (gfx1100)",
            ["igpu-first"],
        ),
        ("GPU models and configuration: AMD Radeon RX 7900 XTX (gfx1100)\nAMD Radeon Graphics (gfx1036)", []),
        (f"{NOT_FOUND}torch==2.3.0+rocm6.0 (from versions: 2.1.0, 2.2.0, 2.3.0)", ["torch-version-missing"]),
        (f"{NOT_FOUND}torch==9.9 (from versions: 2.3.0+rocm6.0, 2.3.1+rocm6.0)", ["torch-version-missing"]),
        (f"{NOT_FOUND}rocm-thing (from versions: none)", ["package-not-found"]),
        ("ERROR: No matching distribution found for torch==2.3.0+rocm6.0", ["python-no-wheel"]),
        ("ERROR: torch-2.3.0-cp310-linux_x86_64.whl is not a supported wheel on this platform.", ["python-no-wheel"]),
        (
            "ERROR: Ignored the following versions that require a different python version: 2.0 Requires-Python <3.11",
            ["python-no-wheel"],
        ),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError: Failed to establish a new connection:"
            f" [Errno -2] Name or service not known': /whl/rocm6.0/torch/\n{NOT_FOUND}torch (from versions: none)\n"
            "ERROR: No matching distribution found for torch",
            ["repo-unreachable"],
        ),
        ("OSError('Tunnel connection failed: 407 Proxy Authentication Required')", ["proxy-authentication"]),
        (
            "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))",
            ["tls-certificate"],
        ),
        ("ERROR: HTTP error 404 while getting https://download.pytorch.org/whl/rocm9.9/torch/", ["torch-no-index"]),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", ["disk-space"]),
        (
            "The virtual environment was not created successfully because ensurepip is not available.",
            ["python-venv-missing"],
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", ["wheel-hash-mismatch"]),
        ("ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/", ["pip-conflict"]),
        (
            "HSA_OVERRIDE_GFX_VERSION=11.0.0\nLD_LIBRARY_PATH=/opt/rocm-6.0.0/lib:/usr/lib",
            ["hsa-override-set", "ld-library-path-set"],
        ),
        ("True\n", []),
        ("UserWarning: Attempting to use hipBLASLt on an unsupported architecture!", []),
        ("", []),
    ],
)
def test_form(text: str, expected: list[str]) -> None:
    assert ids(text) == expected
