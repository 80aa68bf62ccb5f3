"""Python, pip and PyTorch."""

# Lines of output stand as they were printed.
# ruff: noqa: E501, RUF001

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
        ("igpu-first", "Search for `hipErrorInvalidImage'"),
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
        (
            (
                "  × No solution found when resolving dependencies:\n"
                "  ╰─▶ Because torch==2.8.0+rocm6.4 has no wheels with a matching Python version\n"
                "      tag (e.g., `cp314`) and you require torch==2.8.0+rocm6.4, we can conclude\n"
                "      that your requirements are unsatisfiable.\n"
                "\n"
                "      hint: You require CPython 3.14 (`cp314`), but we only found wheels for\n"
                "      `torch` (v2.8.0+rocm6.4) with the following Python ABI tags: `cp310`, `cp311`, `cp312`, `cp313`"
            ),
            ["python-no-wheel"],
        ),
        (
            (
                "  × No solution found when resolving dependencies:\n"
                "  ╰─▶ Because there is no version of torch==2.9.9+rocm6.4 and you require torch==2.9.9+rocm6.4, we can conclude that your requirements are unsatisfiable."
            ),
            ["torch-version-missing"],
        ),
        (
            (
                "  × No solution found when resolving dependencies:\n"
                "  ╰─▶ Because torch was not found in the package registry and you require torch, we can conclude that your requirements are unsatisfiable."
            ),
            ["torch-no-index"],
        ),
        (
            (
                "  × No solution found when resolving dependencies:\n"
                "  ╰─▶ Because optax==0.2.2 depends on chex>=0.1.86 and you require chex==0.1.82, we can\n"
                "      conclude that your requirements and optax==0.2.2 are incompatible."
            ),
            ["pip-conflict"],
        ),
        (
            (
                "error: The interpreter at /usr is externally managed, and indicates the following:\n"
                "\n"
                "  To install Python packages system-wide, try apt install\n"
                "  python3-xyz"
            ),
            ["python-externally-managed"],
        ),
        (
            (
                "error: Failed to fetch: `https://download.pytorch.org/whl/rocm6.4/torch/`\n"
                "  Caused by: Request failed after 3 retries\n"
                "  Caused by: error sending request for url (https://download.pytorch.org/whl/rocm6.4/torch/)\n"
                "  Caused by: client error (Connect)\n"
                "  Caused by: invalid peer certificate: UnknownIssuer"
            ),
            ["tls-certificate"],
        ),
        (
            (
                "error: Failed to fetch: `https://download.pytorch.org/whl/rocm6.4/torch/`\n"
                "  Caused by: error sending request for url (https://download.pytorch.org/whl/rocm6.4/torch/)\n"
                "  Caused by: client error (Connect)\n"
                "  Caused by: dns error\n"
                "  Caused by: failed to lookup address information: Temporary failure in name resolution"
            ),
            ["repo-unreachable"],
        ),
        (
            ("error: Hash mismatch for `torch==2.8.0+rocm6.4`\n\nExpected:\n  sha256:aaa\n\nComputed:\n  sha256:bbb"),
            ["wheel-hash-mismatch"],
        ),
        (
            (
                "error: Failed to fetch: `https://download.pytorch.org/whl/rocm9.9/torch/`\n"
                "  Caused by: HTTP status client error (404 Not Found) for url (https://download.pytorch.org/whl/rocm9.9/torch/)"
            ),
            ["torch-no-index"],
        ),
        (
            'pip._vendor.urllib3.exceptions.ProtocolError: ("Connection broken: IncompleteRead(123 bytes read, 456 more expected)", IncompleteRead)',
            ["repo-unreachable"],
        ),
        (
            (
                "ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/opt/pytorch-rocm/lib/python3.12/site-packages/x'\n"
                "Check the permissions."
            ),
            ["root-required"],
        ),
        (
            (
                "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.\n"
                "foo 1.0 requires bar<2, but you have bar 2.1 which is incompatible."
            ),
            ["pip-conflict"],
        ),
        (
            (
                "The virtual environment was not created successfully because ensurepip is not\n"
                "available.  On Debian/Ubuntu systems, you need to install the python3-venv\n"
                "package using the following command.\n"
                "\n"
                "    apt install python3.12-venv"
            ),
            ["python-venv-missing"],
        ),
        ("OSError: libtorch_cuda.so: cannot open shared object file: No such file or directory", ["venv-mixed-wheels"]),
        ("RuntimeError: HIP error: shared object initialization failed", ["torch-arch-missing"]),
        (
            (
                "UserWarning: HIP initialization: Unexpected error from hipGetDeviceCount(). Did you run some cuda functions before calling NumHipDevices() that might have already set an error? Error 101: hipErrorInvalidDevice (Triggered internally at ../c10/hip/HIPFunctions.cpp:110.)\n"
                "  return torch._C._cuda_getDeviceCount() > 0\n"
                "False"
            ),
            ["hip-no-device"],
        ),
        ("rocBLAS error: Could not initialize Tensile host: No devices found", ["hip-no-device"]),
        ("RuntimeError: No CUDA GPUs are available", ["torch-cuda-wheel"]),
        ("RuntimeError: HIP error: unspecified launch failure", ["gpu-hang"]),
        (
            ":0:rocdevice.cpp            :2982: 1234567890 us: 812 : [tid:0x7f] Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. Code: 0x1008 Available Free mem : 0 MB",
            ["gpu-out-of-memory"],
        ),
        (
            ":0:rocdevice.cpp            :2786: us: 812 : Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address. code: 0x29",
            ["gpu-page-fault"],
        ),
        (
            ":0:rocdevice.cpp: Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid. code: 0x100f",
            ["torch-arch-missing"],
        ),
        (
            (
                "torch @ https://repo.radeon.com/rocm/manylinux/rocm-rel-6.4/torch-2.6.0%2Brocm6.4.0.git2fb0ac2b-cp312-cp312-linux_x86_64.whl#sha256=aa\n"
                "torchvision @ https://repo.radeon.com/rocm/manylinux/rocm-rel-6.4/torchvision-0.21.0%2Brocm6.4.0.git4040d51f-cp312-cp312-linux_x86_64.whl"
            ),
            [],
        ),
        (
            "torch @ https://download.pytorch.org/whl/cu121/torch-2.3.0%2Bcu121-cp310-cp310-linux_x86_64.whl",
            ["torch-cuda-wheel"],
        ),
        (
            (
                "Looking in indexes: https://download.pytorch.org/whl/rocm6.4\n"
                "Collecting torch\n"
                "  Downloading https://download.pytorch.org/whl/rocm6.4/torch-2.8.0%2Brocm6.4-cp312-cp312-manylinux_2_28_x86_64.whl (4404.0 MB)\n"
                "Installing collected packages: mpmath, typing-extensions, sympy, pytorch-triton-rocm, torch\n"
                "Successfully installed mpmath-1.3.0 pytorch-triton-rocm-3.4.0 sympy-1.13.3 torch-2.8.0+rocm6.4 typing-extensions-4.12.2"
            ),
            [],
        ),
        (
            (
                "Collecting torch\n"
                "  Downloading torch-2.7.1-cp312-cp312-manylinux_2_28_x86_64.whl (821.2 MB)\n"
                "Installing collected packages: nvidia-cublas-cu12, torch\n"
                "Successfully installed nvidia-cublas-cu12-12.6.4.1 torch-2.7.1"
            ),
            ["torch-cuda-wheel"],
        ),
        ("2.8.0+rocm6.4 6.4.43482 False", ["torch-gpu-unavailable"]),
        (
            "ERROR: HTTP error 404 while getting https://repo.radeon.com/rocm/manylinux/rocm-rel-6.9/torch-2.6.whl",
            ["torch-no-index"],
        ),
        (
            (
                "Requirement already satisfied: torch==2.8.0+rocm6.4 in /opt/v/lib/python3.12/site-packages (2.8.0+rocm6.4)\n"
                "Requirement already satisfied: filelock in /opt/v/lib/python3.12/site-packages (from torch) (3.13.1)"
            ),
            [],
        ),
        (
            (
                "ERROR: Could not find a version that satisfies the requirement pytorch-triton-rocm==3.2.0 (from torch) (from versions: 0.0.1, 2.0.2)\n"
                "ERROR: No matching distribution found for pytorch-triton-rocm==3.2.0"
            ),
            ["torch-version-missing"],
        ),
        (
            (
                "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 407 Proxy Authentication Required'))': /whl/rocm6.4/torch/\n"
                "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
                "ERROR: No matching distribution found for torch"
            ),
            ["proxy-authentication"],
        ),
        (
            (
                "WARNING: Retrying (Retry(total=0)) after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1000)'))': /whl/rocm6.4/torch/\n"
                "Could not fetch URL https://download.pytorch.org/whl/rocm6.4/torch/: There was a problem confirming the ssl certificate: HTTPSConnectionPool(host='download.pytorch.org', port=443): Max retries exceeded with url: /whl/rocm6.4/torch/ (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))) - skipping\n"
                "ERROR: Could not find a version that satisfies the requirement torch (from versions: none)\n"
                "ERROR: No matching distribution found for torch"
            ),
            ["tls-certificate"],
        ),
        (
            (
                "Resolved 12 packages in 1.2s\n"
                "Installed 12 packages in 3s\n"
                " + torch==2.8.0+rocm6.4\n"
                " + torchvision==0.23.0+rocm6.4"
            ),
            [],
        ),
        (("Installed 24 packages in 3s\n + nvidia-cublas-cu12==12.8.4.1\n + torch==2.8.0"), ["torch-cuda-wheel"]),
        ("torch.cuda.is_available() -> False", ["torch-gpu-unavailable"]),
        (
            "xformers 0.0.28 requires torch==2.5.0, but you have torch 2.8.0+rocm6.4 which is incompatible.",
            ["pip-conflict"],
        ),
        (
            ("- PyTorch version: 2.3.0+cu121\n- CUDA used to build PyTorch: 12.1\n- Is CUDA available: True"),
            ["torch-cuda-wheel"],
        ),
        ("You may need to set HSA_OVERRIDE_GFX_VERSION to make it work.", []),
        (
            "ImportError: libamdhip64.so.6: cannot enable executable stack as shared object requires: Invalid argument",
            ["library-executable-stack"],
        ),
        ("PyTorch version: 2.3.0+cpu", ["torch-cpu-wheel"]),
        ("[conda] pytorch   2.0.1   py3.10_cpu_0  pytorch", ["torch-cpu-wheel"]),
        ("PyTorch version: 2.3.0\nCUDA used to build PyTorch: 12.1", ["torch-cuda-wheel"]),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).", ["torch-cuda-wheel"]),
        ("ImportError: /opt/rocm/lib/libMIOpen.so.1: undefined symbol: _ZN7rocblas", ["torch-rocm-mismatch"]),
        ("ImportError: libtorch_hip.so: undefined symbol: miopenCreate", ["torch-rocm-mismatch"]),
        (
            "OSError: /v/lib/python3.12/site-packages/torchvision/_C.so: undefined symbol: _ZN3c10",
            ["torch-set-mismatch"],
        ),
        ("OSError: /v/torchaudio/lib/libtorchaudio.so: undefined symbol: _ZN3c10", ["torch-set-mismatch"]),
        (
            "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions.",
            ["torch-set-mismatch"],
        ),
        ("RuntimeError: hipErrorNoDevice", ["hip-no-device"]),
        ("RuntimeError: HIP error: no kernel image is available for execution on the device", ["torch-arch-missing"]),
        ("hipErrorNoBinaryForGpu: 209", ["torch-arch-missing"]),
        ("hipErrorInvalidDeviceFunction: 98", ["torch-arch-missing"]),
        ("hipErrorInvalidKernelFile: 218", ["torch-arch-missing"]),
        ("Unable to find code object for all current devices!", ["torch-arch-missing"]),
        ("rocBLAS error: Cannot read TensileLibrary.dat: Illegal seek for GPU arch : gfx1031", ["torch-arch-missing"]),
        ("hipBLASLt error: TensileLibrary_lazy_gfx1103.dat not found", ["torch-arch-missing"]),
        ("RuntimeError: HIP error: device kernel image is invalid", ["torch-arch-missing"]),
        ("hipErrorInvalidImage: device kernel image is invalid", ["torch-arch-missing"]),
        ("RuntimeError: HIP error: an illegal memory access was encountered", ["gpu-page-fault"]),
        ("hipErrorIllegalAddress: 700", ["gpu-page-fault"]),
        ("hipErrorOutOfMemory: 2", ["gpu-out-of-memory"]),
        ("RuntimeError: HIP error: out of memory", ["gpu-out-of-memory"]),
        ("HW Exception by GPU node-1 (Agent handle: 0x55)", ["gpu-hang"]),
        ("rocdevice: GPU Hang", ["gpu-hang"]),
        ("hipErrorLaunchFailure: 719", ["gpu-hang"]),
        ("hipErrorLaunchTimeOut: 702", ["gpu-hang"]),
        ("Unable to open /dev/kfd read-write: No such file or directory\nFalse", ["kfd-missing"]),
        ("AttributeError: _ARRAY_API not found", ["numpy-abi"]),
        ("ImportError: numpy.core.multiarray failed to import", ["numpy-abi"]),
        (
            "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88",
            ["numpy-abi"],
        ),
        ("RuntimeError: Numpy is not available", ["numpy-abi"]),
        ("/usr/bin/python3: No module named venv", ["python-venv-missing"]),
        ("ModuleNotFoundError: No module named 'ensurepip'", ["python-venv-missing"]),
        (
            "ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.",
            ["pip-conflict"],
        ),
        (
            "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by /v/torch/lib/libtorch_hip.so)",
            ["library-too-old"],
        ),
        (
            "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /opt/rocm/lib/libamdhip64.so.6)",
            ["library-too-old"],
        ),
        (
            "ImportError: /v/libstdc++.so.6: version `CXXABI_1.3.15' not found (required by /v/torch/lib/libtorch_hip.so)",
            ["library-too-old"],
        ),
        # Versions that another Python could have: the wanted one, a range, and others than the wanted one.
        (
            "ERROR: Ignored the following versions that require a different python version: 2.9.0 Requires-Python >=3.10;"
            f" 2.9.1 Requires-Python >=3.10\n{NOT_FOUND}torch==2.9.0 (from versions: 2.7.0+rocm6.3, 2.8.0+rocm6.3)\n"
            "ERROR: No matching distribution found for torch==2.9.0",
            ["python-no-wheel"],
        ),
        (
            "ERROR: Ignored the following versions that require a different python version: 2.9.0+rocm6.4 Requires-Python >=3.10\n"
            f"{NOT_FOUND}torch>=2.9 (from versions: 2.7.0+rocm6.3)\nERROR: No matching distribution found for torch>=2.9",
            ["python-no-wheel"],
        ),
        (
            "ERROR: Ignored the following versions that require a different python version: 2.9.0 Requires-Python >=3.10\n"
            f"{NOT_FOUND}torch==2.3.1 (from versions: 2.7.0+rocm6.3)\nERROR: No matching distribution found for torch==2.3.1",
            ["torch-version-missing"],
        ),
        # torchaudio stays at 2.11, in releases of PyTorch that nobody knows yet too.
        ("torch==2.14.0+rocm7.2\ntorchaudio==2.11.0+rocm7.2\ntorchvision==0.29.0+rocm7.2\n", []),
        ("torch==2.15.0+rocm7.2\ntorchaudio==2.11.0+rocm7.2\ntorchvision==0.30.0+rocm7.2\n", []),
        ("torch==2.15.0+rocm7.2\ntorchaudio==2.10.0+rocm7.2\n", ["torch-set-mismatch"]),
        ("torch==2.15.0+rocm7.2\ntorchvision==0.29.0+rocm7.2\n", ["torch-set-mismatch"]),
        ("torch==1.14.0+rocm5.4\ntorchaudio==0.14.0\n", []),
        # It only asks the driver of NVIDIA.
        ("torch==2.8.0+rocm6.4\nnvidia-ml-py==12.575.51\npynvml==12.0.0\n", []),
        ("torch==2.8.0\nnvidia-ml-py==12.575.51\n", []),
        ("torch==2.8.0+rocm6.4\nnvidia-nccl-cu12==2.27.3\n", ["venv-mixed-wheels"]),
        ("torch==2.8.0+rocm6.4\nnvidia-nvtx-cu12==12.8.90\n", ["venv-mixed-wheels"]),
        ("export HSA_OVERRIDE_GFX_VERSION_1=10.3.0", ["hsa-override-set"]),
        ("# HSA_OVERRIDE_GFX_VERSION=11.0.0 is not set here", []),
        ("LD_LIBRARY_PATH=/usr/lib:/opt/rocm/lib64", ["ld-library-path-set"]),
        ("LD_LIBRARY_PATH: /opt/rocm/core-7.14/lib", ["ld-library-path-set"]),
        ("export LD_LIBRARY_PATH=$HOME/v/site-packages/_rocm_sdk_core/lib", ["ld-library-path-set"]),
        ("LD_LIBRARY_PATH=/usr/local/rocm-tools/lib:/usr/lib", []),
        ("LD_LIBRARY_PATH=/usr/local/cuda/lib64\nPATH=/opt/rocm/bin:/opt/rocm/lib", []),
        ("True\n", []),
        ("UserWarning: Attempting to use hipBLASLt on an unsupported architecture!", []),
        ("", []),
    ],
)
def test_form(text: str, expected: list[str]) -> None:
    assert ids(text) == expected
