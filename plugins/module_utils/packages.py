"""Which of a host's packages matter to ROCm, and which of them are AMD's own."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.dpkg import INSTALLED, Package

# What follows roc or hip in the names of libraries and tools; an explicit list, since rocs and hippo are games.
_PARTS = (
    "al|alution|blas|cc|cub|decode|dnn|fft|file|fort|ify|jpeg|prim|profiler|rand|shmem|solver|sparse|tensor|thrust"
    "|tracer|tx|wmma"
)
# The ROCm stack and the driver, in AMD's packaging and in the distributions', whose libraries carry their ABI number
# (librocblas0, libhsa-runtime64-1).
_STACK = re.compile(
    r"^(?:"
    r"(?:rocm|amdgpu)(?:[-0-9].*)?|rocminfo.*|amdrocm.*|rock-dkms.*|hip(?:-.*|[0-9.]*)|hsa-.*|hsakmt.*|comgr.*"
    r"|(?:roc|hip)(?:" + _PARTS + r").*"
    r"|rccl.*|miopen.*|migraphx.*|mivisionx.*|composablekernel.*|openmp-extras.*|(?:half|rpp|rdc|rvs)(?:-dev)?[0-9.]*"
    r"|amd-smi(?:-lib.*)?|(?:python3-)?amdsmi.*|aqlprofile.*|transferbench.*"
    r"|lib(?:roc|hip)(?:" + _PARTS + r"|m-smi|rtc).*"
    r"|lib(?:amdhip64|hsa-runtime|hsakmt|amd-comgr|amd-smi|amdsmi|rccl|miopen|migraphx)[-0-9].*"
    r"|libdrm2?-amdgpu(?:-common|-amdgpu1|-dev)?"
    r")$"
)
_BESIDE = re.compile(
    r"^(?:dkms|linux-firmware|firmware-amd-graphics|unattended-upgrades|proxmox-ve|pve-(?:manager|kernel.*)"
    r"|proxmox-(?:kernel|default-kernel).*|python3(?:\.\d+)?-venv"
    # Prerequisites of ROCm (packages.yml).
    r"|python3-(?:setuptools|wheel)|libatomic1|libquadmath0"
    # Kernel metapackages: the ones that bring a new kernel with the next upgrade.
    r"|linux-(?:image|headers|modules-extra)-(?!unsigned-)[a-z].*"
    r"|linux-(?:generic|lowlatency|virtual|realtime|oem|kvm|nvidia|aws|azure|gcp|gke|gkeop|ibm|oracle|intel|raspi)"
    r"(?!.*-(?:headers|tools)-)(?:-.*)?"
    r")$"
)
# AMD numbers its builds inside the version: 1.0.0.60000-91~22.04, 6.12.12.60400-2147987.24.04.
# A date (0.20240131-1) has eight digits too and is none.
_BUILD = re.compile(r"\.(?!(?:19|20)\d{6}-)([1-9]\d{4,7})-\d")
# The whole form, strict enough to take a package in whose name is not known: 1.12.0.60402-120~24.04.
_BUILD_STRICT = re.compile(r"\.[1-9]\d{4,7}-\d+[~.]\d\d\.\d\d$")
# Names that no distribution uses; some carry no build field (amdrocm10.0 10.0.0-4, amdgpu-dkms 19.50-967956).
_ONLY_AMD = re.compile(r"^(?:amdrocm.*|rock-dkms.*|amdgpu-(?:dkms.*|core|install|pro.*|lib.*|insecure.*|repo.*))$")
AMD_ORIGINS = ("repo.radeon.com", "AMD ROCm")


def in_stack(name: str, version: str = "") -> bool:
    """Whether a package belongs to the ROCm stack or the driver, whoever built it."""
    return bool(_STACK.match(name) or _BUILD_STRICT.search(version))


def relevant(name: str, version: str, kernels: list[str]) -> bool:
    """Whether facts mention a package; `kernels` are the releases that run now and after the next boot."""
    if in_stack(name, version) or _BESIDE.match(name):
        return True
    kernel = name.partition("linux-headers-")[2] or name.partition("linux-modules-extra-")[2]
    return bool(kernel) and kernel in kernels


def build_field(version: str) -> str | None:
    """AMD's build number inside a version ('60000'); None when there is none."""
    match = _BUILD.search(version)
    return match.group(1) if match else None


def is_amd(name: str, version: str, origin: str | None = None) -> bool:
    """Whether AMD built this package, by its version, its name or the origin that apt knows."""
    if origin in AMD_ORIGINS:
        return True
    return in_stack(name, version) and bool(build_field(version) or _ONLY_AMD.match(name))


def select(packages: list[Package], kernels: list[str], native: str | None) -> dict[str, Package]:
    """Relevant packages that are installed, by name; a foreign architecture is part of the name."""
    chosen = {}
    for package in sorted(packages):
        if package.status not in INSTALLED or not relevant(package.name, package.version, kernels):
            continue
        foreign = package.architecture not in ("all", native or package.architecture)
        chosen[package.name + ":" + package.architecture if foreign else package.name] = package
    return chosen


def fact(package: Package, origin: str | None) -> dict[str, object]:
    """One value of the `packages` fact."""
    return {
        "version": package.version or None,
        "held": package.want == "hold",
        "amd": is_amd(package.name, package.version, origin),
    }
