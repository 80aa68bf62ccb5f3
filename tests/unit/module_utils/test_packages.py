"""Which packages matter and whose they are."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import packages
from ansible_collections.gpufleet.rocm.plugins.module_utils.dpkg import Package


@pytest.mark.parametrize(
    ("name", "version", "field"),
    [
        ("rocminfo", "1.0.0.60000-91~22.04", "60000"),
        ("rocm-cmake", "0.14.0.70204-93~24.04", "70204"),
        ("amdgpu-dkms", "1:6.3.6.60000-1697589.22.04", "60000"),
        ("amdgpu-dkms", "6.12.12.60400-2147987.24.04", "60400"),
        ("amdgpu-dkms", "1:6.14.14.30100000-2193512.24.04", "30100000"),
        ("amdgpu-dkms", "1:7.1.3.31500000-2300000.24.04", "31500000"),
        ("hsakmt-roct-dev", "20231016.2.245.60000-91~22.04", "60000"),
        ("rocminfo", "5.7.1-3build1", None),
        ("rocminfo", "7.1.1-0ubuntu1", None),
        ("libhsakmt1", "5.2.3+dfsg-1", None),
        ("amdrocm10.0", "10.0.0-4", None),
        ("linux-firmware", "20240318.git3b128b60-0ubuntu2.4", None),
        ("hipcc", "0.20240131-1", None),
    ],
)
def test_build_field(name: str, version: str, field: str | None) -> None:
    assert packages.build_field(version) == field
    assert packages.is_amd(name, version) == (field is not None or name.startswith("amdrocm"))


@pytest.mark.parametrize(
    ("name", "version", "origin", "amd"),
    [
        ("amdgpu-dkms", "19.50-967956", None, True),
        ("rock-dkms", "3.9-19", None, True),
        ("rocm-core", "6.4.0-1", "repo.radeon.com", True),
        ("amd-thing", "1-1", "AMD ROCm", True),
        ("rocm-core", "6.4.0-1", "Debian", False),
        # The field alone is no proof for a package that has nothing to do with ROCm.
        ("unrelated", "0.52417-1", None, False),
    ],
)
def test_is_amd(name: str, version: str, origin: str | None, amd: bool) -> None:
    assert packages.is_amd(name, version, origin) is amd


STACK = """rocm rocm-hip-sdk rocm-hip-sdk6.0.0 rocminfo rocm-core rocm-llvm rocm-device-libs rocblas rocblas-dev
rocblas6.0.0 rocsparse rocprim-dev rocprofiler-register roctracer rocwmma-dev rocalution hipcc hip-dev hip-runtime-amd
hipblaslt hsa-rocr hsa-rocr-dev hsakmt-roct-dev hsa-amd-aqlprofile comgr composablekernel-dev rccl rccl-dev
miopen-hip miopen-hip-gfx90akdb migraphx openmp-extras-runtime half amd-smi-lib amdgpu-dkms amdgpu-dkms-firmware
amdgpu-install amdgpu-core rock-dkms amdrocm10.0 amdrocm-core-sdk7.14-gfx90a amdrocm-base libamdhip64-5
libhsa-runtime64-1 libhsakmt1 libamd-comgr2 libamd-comgr-dev libamdhip64-dev librocblas0 librocblas-dev libhipblas0
libhiprtc-builtins5 librccl1 librocm-smi64-1 libdrm-amdgpu-common libdrm2-amdgpu amd-smi python3-amdsmi
rocm-core7.2.4 rocm-device-libs-17 amdrocm-repo rock-dkms-firmware"""
BESIDE = """dkms linux-firmware firmware-amd-graphics unattended-upgrades proxmox-ve pve-manager python3-venv
python3.12-venv linux-generic linux-image-generic linux-generic-hwe-24.04 linux-headers-generic linux-oem-24.04c
linux-image-amd64 linux-headers-6.8.0-41-generic linux-modules-extra-6.8.0-44-generic linux-aws-lts-24.04
linux-image-azure-lts-22.04 linux-nvidia-hwe-24.04 linux-gcp-edge linux-azure-fde linux-image-rt-amd64 linux-raspi"""
OTHERS = """rocksdb-tools rocs roccat-tools hippo-canvas libamd3 libdrm-amdgpu1x linux-libc-dev linux-base
linux-headers-6.5.0-1-generic linux-image-6.8.0-41-generic
linux-image-unsigned-6.8.0-41-generic linux-aws-headers-6.8.0-1021 linux-azure-6.8-tools-6.8.0-1021
linux-tools-common python3 python3-numpy libhippomocks-dev libroc
libhipposomething half-life openssh-server"""


@pytest.mark.parametrize("name", (STACK + " " + BESIDE).split())
def test_relevant(name: str) -> None:
    assert packages.relevant(name, "1-1", ["6.8.0-41-generic", "6.8.0-44-generic"])
    assert packages.in_stack(name) is (name in STACK.split())


@pytest.mark.parametrize("name", OTHERS.split())
def test_not_relevant(name: str) -> None:
    assert not packages.relevant(name, "1.0.60000-1", ["6.8.0-41-generic"])


def test_an_unknown_name_with_amds_version_is_relevant() -> None:
    assert packages.in_stack("brand-new-thing", "1.12.0.70204-93~24.04")
    assert not packages.in_stack("brand-new-thing", "1.12.0-93~24.04")


def package(name: str, architecture: str = "amd64", status: str = "installed", want: str = "install") -> Package:
    return Package(name, architecture, "1.0.0.60000-91~22.04", want, "ok", status)


def test_select() -> None:
    records = [
        package("rocminfo"),
        package("libhsakmt1", "i386"),
        package("amdgpu-install", "all", "config-files"),
        package("hipcc", status="not-installed"),
        package("rocblas", status="half-configured"),
        package("migraphx", status="triggers-awaited"),
    ]
    assert list(packages.select(records, [], "amd64")) == ["libhsakmt1:i386", "migraphx", "rocminfo"]


def test_fact() -> None:
    assert packages.fact(package("rocminfo", want="hold"), None) == {
        "version": "1.0.0.60000-91~22.04",
        "held": True,
        "amd": True,
    }
