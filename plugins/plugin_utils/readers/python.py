"""What Python, pip and PyTorch complain about: tracebacks, pip's output, torch's collect_env, lists of packages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers import wheels
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.apt import DISK
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.network import CERTIFICATE, NO_ANSWER, PROXY
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import (
    Found,
    Problem,
    matching,
    problems,
    rule,
)

_ROCM_LIBRARY = r"lib(?:amdhip|hip|hsa|roc|rccl|miopen|migraphx|amd_comgr|amd_smi|amdsmi|rsmi|hsakmt)[\w.+-]{0,80}"
_CUDA_LIBRARY = (
    r"lib(?:cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|cupti|nccl|nvrtc|nvToolsExt|nvJitLink)[\w.+-]{0,80}"
)
_NOT_THERE = r": cannot open shared object file"
# PyTorch's own part for one kind of GPU, which another package of the environment was linked with.
_TORCH_LIBRARY = r"lib(?:torch|c10)_(?:cuda|hip)[\w+-]{0,80}\.so"

# "rocm", "rocm-6.0.0", and what holds the libraries of ROCm in an environment of Python.
_ROCM_FOLDER = r"(?:rocm(?:-\d[\w.]*)?|_rocm_sdk_\w+)"

RULES = (
    # The wrong PyTorch.
    rule(
        "torch-cpu-wheel",
        r"Torch not compiled with CUDA enabled|\bPyTorch version\s*: \S+\+cpu\b|^\d+\.\d+\.\d+\S*\+cpu\b"
        r"|CUDA used to build PyTorch\s*: None|\[conda\]\s+pytorch\s.*_cpu",
    ),
    rule(
        "torch-cuda-wheel",
        r"\bPyTorch version\s*: \S+\+cu\d|^\d+\.\d+\.\d+\S*\+cu\d+\b|CUDA used to build PyTorch\s*: \d"
        rf"|No CUDA GPUs are available|NVIDIA driver on your system|{_CUDA_LIBRARY}{_NOT_THERE}"
        r"|\[conda\]\s+pytorch\s.*_cuda",
    ),
    rule("torch-wrong-build", r"ROCM used to build PyTorch\s*: 0\.0\.0"),
    rule("torch-not-installed", r"No module named '?torch'?$"),
    rule(
        "torch-rocm-mismatch",
        rf"{_ROCM_LIBRARY}: (?:undefined symbol|version .* not found)|undefined symbol: (?:hip|hsa_|roc|miopen)\w*",
    ),
    rule(
        "torch-set-mismatch",
        r"operator torchvision::nms does not exist|torch(?:vision|audio)\S*\.so: undefined symbol"
        r"|torch(?:vision|audio) \S+ requires torch==|compiled with different (?:CUDA|ROCm|PyTorch)",
    ),
    # A GPU that cannot be used.
    rule(
        "hip-no-device",
        r"No HIP GPUs are available|no ROCm-capable device|hipErrorNoDevice"
        r"|Unexpected error from hipGetDeviceCount|Tensile host: No devices found",
    ),
    rule(
        "torch-arch-missing",
        r"device kernel image is invalid|invalid device function|no kernel image is available|hipErrorNoBinaryForGpu"
        r"|hipErrorInvalid(?:Image|DeviceFunction|KernelFile)|HSA_STATUS_ERROR_INVALID_ISA"
        r"|(?:hipError|HIP error: )shared ?object ?init(?:ialization )?failed"
        r"|Unable to find code object for all current devices",
    ),
    rule("torch-arch-missing", r"Illegal|No such file|not found", where="Tensile"),
    # How PyTorch with wheels for one family of GPUs names an invalid image: reported where the first GPU is of another.
    rule("igpu-first", r"Search for .hipErrorInvalidImage"),
    rule(
        "gpu-page-fault",
        r"Memory access fault by GPU|an illegal memory access was encountered|hipErrorIllegalAddress"
        r"|HSA_STATUS_ERROR_MEMORY_(?:APERTURE_VIOLATION|FAULT)",
    ),
    rule(
        "gpu-out-of-memory",
        r"(?:HIP|CUDA) out of memory|hipErrorOutOfMemory|HIP error: out of memory"
        r"|aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES",
    ),
    rule("gpu-hang", r"HW Exception by GPU|GPU Hang\b|hipErrorLaunch(?:TimeOut|Failure)|unspecified launch failure"),
    rule("kfd-permission", r"open /dev/kfd\b.*Permission denied"),
    rule("kfd-missing", r"open /dev/kfd\b.*No such file"),
    # "GPU models and configuration :  (gfx942:...)": the name comes from a file of libdrm.
    rule("gpu-name-empty", r"GPU models and configuration\s*:\s*(?:GPU \d+:\s*)?\(gfx|amdgpu\.ids: No such file"),
    # Libraries.
    rule("rocm-library-missing", rf"{_ROCM_LIBRARY}{_NOT_THERE}"),
    rule(
        "library-missing",
        rf"lib[\w.+-]{{1,80}}\.so[\w.]{{0,40}}{_NOT_THERE}",
        unless=rf"(?:{_ROCM_LIBRARY}|{_CUDA_LIBRARY}|{_TORCH_LIBRARY}){_NOT_THERE}",
    ),
    rule("venv-mixed-wheels", rf"{_TORCH_LIBRARY}{_NOT_THERE}"),
    rule("device-library-missing", r"cannot find ROCm device library"),
    rule("library-executable-stack", r"cannot enable executable stack as shared object"),
    rule("library-too-old", r"version .?(?:GLIBCXX|GLIBC|CXXABI)_[\d.]+.? not found"),
    rule(
        "numpy-abi",
        r"compiled using NumPy 1\.x cannot be run in|_ARRAY_API not found|numpy\.core\.multiarray failed to import"
        r"|numpy\.(?:dtype|ndarray) size changed|Numpy is not available",
    ),
    # pip and the environment.
    rule("python-externally-managed", r"externally-managed-environment|is externally managed"),
    rule("python-venv-missing", r"ensurepip is not\b|No module named '?(?:ensurepip|venv)'?"),
    rule("python-no-wheel", r"is not a supported wheel on this platform"),
    rule("wheel-hash-mismatch", r"DO NOT MATCH THE HASHES|^\W*(?:error: )?Hash mismatch for "),
    rule("pip-conflict", r"ResolutionImpossible|these package versions have conflicting dependencies"),
    rule(
        "pip-conflict",
        r" requires .*, but you have .* which is incompatible",
        unless=r"\btorch(?:vision|audio) \S+ requires torch==",
    ),
    rule("root-required", r"(?:due to an OS|^)Error: \[Errno 13\]"),
    PROXY,
    CERTIFICATE,
    NO_ANSWER,
    rule("torch-no-index", r"(?:40[34] Client Error|HTTP error 40[34]|client error \(40[34]).*(?:/whl/|\.whl\b)"),
    DISK,
    # Settings.
    rule("hsa-override-set", r"^(?!\s*#\s).*\bHSA_OVERRIDE_GFX_VERSION(?:_\d{1,3})?\s*[=:]\s*['\"]?\d"),
    rule("ld-library-path-set", rf"\bLD_LIBRARY_PATH\s*[=:]\s*\S{{0,2000}}/{_ROCM_FOLDER}(?:/[\w.+-]+)*/lib(?:64)?\b"),
)

_REQUIREMENT = re.compile(
    r"satisfies the requirement (?P<name>[\w.-]+)(?P<wanted>\S*) (?:\(from (?!versions)[^)]*\) )*"
    r"\(from versions: (?P<versions>[^)]*)\)"
)
# "1.21.2 Requires-Python >=3.7,<3.11; 1.21.3 ..."
_IGNORED = re.compile(r"versions that require a different python version: (?P<versions>.*)")
_NO_DISTRIBUTION = re.compile(r"No matching distribution found for (?P<name>[\w.-]+)")
_NO_SOLUTION = re.compile(r"No solution found when resolving", re.IGNORECASE)
_OTHER_PYTHON = re.compile(r"no wheels (?:are available )?with a matching|requested Python version .* does not satisfy")
_NO_VERSION = re.compile(
    r"no versions? of (\w[\w.-]*)|only (?:the following versions of )?(\w[\w.-]*)\S* (?:is|are) available"
)
_NOT_LISTED = re.compile(r"(\w[\w.-]*) was not found in the package registry")
_TORCH = re.compile(r"^(?:torch|torchvision|torchaudio|triton|pytorch-triton-rocm)$")
# A verifier that only prints the answer, collect_env's line, or the name of the question beside it.
_UNAVAILABLE = rule(
    "torch-gpu-unavailable",
    r"^\s*(?:\d+\.\d+\.\S+ (?:\S+ )?)?False$|Is CUDA available\s*: False"
    r"|is_available(?:\(\))?['\"]?\s*(?:[:=,]|[-=]>)?\s*False\b|\b(?:CUDA|ROCm|HIP|GPU) available\s*[:=]\s*False",
)
# collect_env looks for the HIP runtime in torch's configuration and falls over if that could not be started.
_NO_RUNTIME = re.compile(r"'HIP Runtime' in s\]\[0\]|hip_runtime_version = ")
_MODELS = re.compile(r"^GPU models and configuration\s*:(?P<first>.*)$")
_ARCHITECTURE = re.compile(r"\((gfx[0-9a-f]+)")
# Why an index shows nothing at all.
_NO_INDEX = {"repo-unreachable", "torch-no-index", "proxy-authentication", "tls-certificate"}
# What explains that no GPU is available.
_CAUSES = {
    "torch-cpu-wheel",
    "torch-cuda-wheel",
    "torch-wrong-build",
    "torch-rocm-mismatch",
    "hip-no-device",
    "rocm-library-missing",
    "kfd-permission",
    "kfd-missing",
}

IDS = (
    frozenset(one.id for one in (*RULES, _UNAVAILABLE))
    | wheels.IDS
    | {"torch-index-mixed", "torch-version-missing", "package-not-found"}
)


def read_problems(text: str) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the text, each id once with the line that says most."""
    lines = plain_lines(text)
    found = [*matching(RULES, lines), *wheels.read(lines), *_integrated_first(lines)]
    answered = not {id for id, _ in found} & _NO_INDEX
    found += [*_requirements(lines, answered), *_unresolved(lines)]
    ids = {id for id, _ in found}
    if not ids & _CAUSES:
        found += [("torch-gpu-unavailable", number) for number, line in enumerate(lines) if _NO_RUNTIME.search(line)]
        found += matching([_UNAVAILABLE], lines)
    return problems(found, lines)


def _requirements(lines: Sequence[str], answered: bool) -> Iterator[Found]:
    """What pip did not find, told apart by the versions that it saw; ``answered``: whether the index could be read."""
    explained = not answered
    ignored: set[str] = set()
    for number, line in enumerate(lines):
        if match := _IGNORED.search(line):
            # pip names them in front of the requirement, whatever the reason.
            ignored = {release.split()[0] for release in match["versions"].split(";") if release.strip()}
            if not any(map(_REQUIREMENT.search, lines[number:])):
                explained = True
                yield "python-no-wheel", number
        elif (match := _REQUIREMENT.search(line)) and _other_python(match["wanted"], ignored):
            explained = True
            yield "python-no-wheel", number
        elif (match := _REQUIREMENT.search(line)) and (answered or match["versions"].strip() != "none"):
            explained = True
            yield from ((id, number) for id in _unsatisfied(match))
        elif (match := _NO_DISTRIBUTION.search(line)) and not explained:
            yield ("python-no-wheel" if _TORCH.match(match["name"].lower()) else "package-not-found"), number


def _other_python(wanted: str, ignored: set[str]) -> bool:
    """Whether versions that another Python could have are the wanted ones; of a range that is taken for granted."""
    exact = wanted.removeprefix("==") if re.match(r"==[^=*,]+$", wanted) else ""
    return exact.partition("+")[0] in {version.partition("+")[0] for version in ignored} if exact else bool(ignored)


def _unresolved(lines: Sequence[str]) -> Iterator[Found]:
    """Why uv found no solution; it breaks its explanation into lines as wide as the terminal."""
    for number, line in enumerate(lines):
        if _NO_SOLUTION.search(line):
            paragraph = list(takewhile(str.strip, lines[number:]))
            reason = " ".join(" ".join(paragraph).replace("\u2502", " ").split())
            yield _unresolved_reason(reason), number + min(1, len(paragraph) - 1)


def _unresolved_reason(reason: str) -> str:
    if _OTHER_PYTHON.search(reason):
        return "python-no-wheel"
    for pattern, ours in ((_NO_VERSION, "torch-version-missing"), (_NOT_LISTED, "torch-no-index")):
        if missing := pattern.search(reason):
            name = next(filter(None, missing.groups())).lower()
            return ours if _TORCH.match(name) else "package-not-found"
    return "pip-conflict"


def _unsatisfied(match: re.Match[str]) -> Iterator[str]:
    versions = [version.strip() for version in match["versions"].split(",") if version.strip() not in ("", "none")]
    ours = _TORCH.match(match["name"].lower())
    if not versions:
        # An index without any file for this Python; pip does not say whether another one would do.
        yield "python-no-wheel" if ours else "package-not-found"
        return
    built = ["+rocm" in version for version in versions]
    if ours and any(built) and not all(built):
        yield "torch-index-mixed"
    yield "torch-version-missing" if ours else "package-not-found"


def _integrated_first(lines: Sequence[str]) -> Iterator[Found]:
    """collect_env's list of GPUs where an integrated one is in front of another."""
    for number, line in enumerate(lines):
        match = _MODELS.match(line)
        if not match:
            continue
        models = [match["first"]]
        for following in lines[number + 1 :]:
            if not _ARCHITECTURE.search(following):
                break
            models.append(following)
        targets = [found[1] for model in models if (found := _ARCHITECTURE.search(model))]
        if targets and _integrated(targets[0]) and not all(map(_integrated, targets)):
            yield "igpu-first", number if match["first"].strip() else number + 1


def _integrated(gfx: str) -> bool:
    """Whether the matrix knows a GPU target from processors only."""
    rows: list[Mapping[str, object]] = [row for row in table("gpus")["gpus"] if row["gfx"] == gfx]
    return bool(rows) and all(row.get("integrated") for row in rows)
