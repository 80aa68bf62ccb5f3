"""Trees of whole hosts, as realistic as their size and the readers need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

from tests.unit.module_utils.tree import Tree

RELEASE = "6.8.0-41-generic"
NEXT_RELEASE = "6.8.0-44-generic"
VENV = "/opt/pytorch-rocm"
ORIGIN = "repo.radeon.com"
ROCM = f"https://{ORIGIN}/rocm/apt/7.2.4"
DRIVER = f"https://{ORIGIN}/amdgpu/30.30/ubuntu"
TIMER = "/etc/systemd/system/timers.target.wants/apt-daily-upgrade.timer"
KEY = (Path(__file__).parent / "keys" / "limited.asc").read_bytes()

# What `apt-get install rocm` brings: libraries that come with a -dev twin, the rest, and the metapackages.
_LIBRARIES = """
hipblas hipblaslt hipfft hiprand hipsolver hipsparse hipsparselt hiptensor hsa-rocr migraphx miopen-hip mivisionx rccl
rdc rocal rocalution rocblas rocdecode rocfft rocjpeg rocm-opencl rocprofiler rocrand rocsolver rocsparse roctracer rpp
"""
_OTHERS = """
amd-smi-lib comgr composablekernel-dev half hip-dev hip-doc hip-runtime-amd hip-samples hipcc hipcub-dev hipfort-dev
hipify-clang hsa-amd-aqlprofile hsakmt-roct-dev openmp-extras-dev openmp-extras-runtime rocm-bandwidth-test rocm-cmake
rocm-core rocm-dbgapi rocm-debug-agent rocm-device-libs rocm-gdb rocm-llvm rocm-ocl-icd rocm-smi-lib rocminfo
rocprim-dev rocprofiler-compute rocprofiler-plugins rocprofiler-register rocprofiler-sdk rocprofiler-systems
rocshmem-dev rocthrust-dev rocwmma-dev
rocm rocm-dev rocm-developer-tools rocm-hip-libraries rocm-hip-runtime rocm-hip-runtime-dev rocm-hip-sdk
rocm-language-runtime rocm-libs rocm-ml-libraries rocm-ml-sdk rocm-opencl-runtime rocm-opencl-sdk rocm-openmp-sdk
rocm-utils
"""
STACK = [*_LIBRARIES.split(), *(name + "-dev" for name in _LIBRARIES.split()), *_OTHERS.split()]
# The new stream splits some components by GPU target.
_WHOLE = "amdsmi base debugger developer-tools hipify llvm opencl profiler runtime runtime-dev smi sysdeps"
_SPLIT = "amdrocm amdrocm-blas amdrocm-core amdrocm-core-dev amdrocm-core-sdk amdrocm-dnn amdrocm-fft amdrocm-rccl"
_TARGETS = "908 90a 942 950 1030 1100 1101 1102 1103 1150 1151 1152 1153 1200 1201"
CORE_STACK = [
    *(f"amdrocm-{name}10.0" for name in _WHOLE.split()),
    *(f"{name}10.0{end}" for name in _SPLIT.split() for end in ["", *("-gfx" + part for part in _TARGETS.split())]),
]

# Names that stay with one release, as they are installed beside those of the newest.
OLDER_STACK = [f"{name}7.1.1" for name in STACK]


def record(name: str, version: str, status: str = "install ok installed", architecture: str = "amd64") -> str:
    """One record of dpkg's status file."""
    return f"Package: {name}\nStatus: {status}\nArchitecture: {architecture}\nVersion: {version}\n\n"


def database(rows: Iterable[tuple[str, str]], others: int = 0) -> str:
    """dpkg's status file with these packages among `others` that do not matter, of the usual length."""
    text = " A sentence about what the package is good for, as long as they usually are.\n" * 10
    many = (
        f"Package: package-{number}\nStatus: install ok installed\nSection: libs\nArchitecture: amd64\n"
        f"Version: 1.{number}-1\nDepends: libc6 (>= 2.34)\nDescription: something\n{text}\n"
        for number in range(others)
    )
    return record("dpkg", "1.22.6ubuntu6") + "".join(many) + "".join(record(*row) for row in rows)


def policy(names: Iterable[str]) -> str:
    """What `apt-cache policy` says where AMD's repository offers each installed package."""
    return "".join(
        f"{name}:\n  Installed: 1\n  Candidate: 1\n  Version table:\n"
        f" *** 1 600\n        600 {ROCM} noble/main amd64 Packages\n        100 /var/lib/dpkg/status\n"
        for name in names
    )


def ubuntu(packages: Iterable[tuple[str, str]] = (), others: int = 0) -> dict[str, str | bytes | None]:
    """Ubuntu Server 24.04 as its installer leaves it, on plain metal and with users alice and bob."""
    rows = [
        ("linux-generic", "6.8.0-44.44"),
        ("linux-image-generic", "6.8.0-44.44"),
        ("linux-headers-generic", "6.8.0-44.44"),
        ("linux-headers-" + RELEASE, "6.8.0-41.41"),
        ("linux-firmware", "20240318.git3b128b60-0ubuntu2.4"),
        ("unattended-upgrades", "2.9.1+nmu4ubuntu1"),
        ("openssh-server", "1:9.6p1-3ubuntu13"),
        *packages,
    ]
    return {
        "/etc/os-release": "-> ../usr/lib/os-release",
        "/usr/lib/os-release": 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\n'
        "VERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\nUBUNTU_CODENAME=noble\n",
        "/proc/sys/kernel/osrelease": RELEASE + "\n",
        "/proc/cmdline": f"BOOT_IMAGE=/vmlinuz-{RELEASE} root=/dev/mapper/vg-root ro iommu=pt\n",
        "/proc/cpuinfo": "flags : fpu vme de pse tsc msr\n",
        "/sys/firmware/acpi/pm_profile": "4\n",
        "/sys/class/dmi/id/sys_vendor": "Supermicro\n",
        "/boot/vmlinuz-" + RELEASE: "",
        "/boot/vmlinuz-" + NEXT_RELEASE: "",
        "/boot/grub/grub.cfg": "set default=\"0\"\nmenuentry 'Ubuntu' --class ubuntu {\n\tlinux\t/vmlinuz-"
        + NEXT_RELEASE
        + " root=/dev/mapper/vg-root ro\n}\n",
        f"/lib/modules/{RELEASE}/build": "-> /usr/src/linux-headers-" + RELEASE,
        f"/usr/src/linux-headers-{RELEASE}/Makefile": "",
        f"/lib/modules/{RELEASE}/modules.dep": "kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko.zst:\n",
        "/var/lib/dpkg/status": database(rows, others),
        "/etc/apt/sources.list.d/ubuntu.sources": "Types: deb\nURIs: http://archive.ubuntu.com/ubuntu/\n"
        "Suites: noble noble-updates\nComponents: main universe\n"
        "Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n",
        "/etc/apt/apt.conf.d/20auto-upgrades": 'APT::Periodic::Update-Package-Lists "1";\n'
        'APT::Periodic::Unattended-Upgrade "1";\n',
        "/etc/apt/apt.conf.d/50unattended-upgrades": "Unattended-Upgrade::Package-Blacklist {\n"
        '    // The following matches all packages starting with linux-\n//  "linux-";\n};\n',
        TIMER: "-> /lib/systemd/system/apt-daily-upgrade.timer",
        "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000::/home/alice:/bin/bash\n"
        "bob:x:1001:1001::/home/bob:/bin/zsh\n",
        "/etc/group": "root:x:0:\nvideo:x:44:\nrender:x:993:\nalice:x:1000:\nbob:x:1001:\n",
        "/etc/environment": 'PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\n',
        "/home/alice/.bashrc": "alias ll='ls -alF'\nexport EDITOR=vim\n",
        "/usr/bin/python3": "-> python3.12",
        "/usr/bin/python3.12": "",
        "/usr/lib/python3.12/ensurepip/__init__.py": "",
    }


def _cards(count: int, partitions: int) -> dict[str, str | bytes | None]:
    """MI300X cards on the PCI bus and in the topology."""
    tree: dict[str, str | bytes | None] = {
        "/sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 96\nsimd_count 0\n",
        "/sys/class/kfd/kfd/topology/nodes/1/properties": "cpu_cores_count 96\nsimd_count 0\n",
    }
    for card, part in product(range(count), range(partitions)):
        bus, number = 0x05 + 0x20 * card, card * partitions + part
        pci = f"/sys/bus/pci/devices/0000:{bus:02x}:00.0/"
        tree |= {
            pci + "vendor": "0x1002\n",
            pci + "device": "0x74a1\n",
            pci + "class": "0x120000\n",
            pci + "numa_node": f"{card // 4}\n",
            pci + "driver": "-> ../../../../bus/pci/drivers/amdgpu",
            f"/sys/class/kfd/kfd/topology/nodes/{number + 2}/properties": f"cpu_cores_count 0\n"
            f"simd_count {1216 // partitions}\nsimd_per_cu 4\ngfx_target_version 90402\nvendor_id 4098\n"
            f"device_id 29857\nlocation_id {bus << 8 | part << 28}\ndomain 0\ndrm_render_minor {128 + number}\n",
            f"/dev/dri/renderD{128 + number}": "",
        }
    return tree


def gpu_server(
    partitions: int = 1, stack: list[str] | None = None, version: str = "7.2.4.70204-93~24.04", others: int = 0
) -> dict[str, str | bytes | None]:
    """Eight MI300X with the driver, the whole stack and PyTorch, in the wanted state."""
    packages = [(name, version) for name in stack or STACK]
    packages += [("amdgpu-dkms", "1:6.16.13.30300000-2278356.24.04"), ("amdgpu-dkms-firmware", "30.30-2278356.24.04")]
    packages += [("dkms", "3.0.11"), ("python3.12-venv", "3.12.3-1"), ("linux-modules-extra-" + RELEASE, "6.8.0-41.41")]
    site = VENV + "/lib/python3.12/site-packages/"
    wheels = [
        "torch-2.9.1+rocm6.4",
        "torchvision-0.24.1+rocm6.4",
        "torchaudio-2.9.1+rocm6.4",
        "triton-3.5.1",
        "pip-24.0",
    ]
    module = "/var/lib/dkms/amdgpu/6.16.13-2278356.24.04/{}/x86_64/module/amdgpu.ko.zst"
    sources = "Types: deb\nURIs: {}\nSuites: noble\nComponents: main\nSigned-By: /etc/apt/keyrings/rocm.asc\n"
    tree = {
        **ubuntu(packages, others),
        **_cards(8, partitions),
        **{f"{site}{wheel}.dist-info/METADATA": "" for wheel in wheels},
        "/dev/kfd": "",
        "/sys/module/amdgpu/initstate": "live\n",
        "/sys/module/amdgpu/version": "6.16.13\n",
        "/sys/module/amdgpu/srcversion": "0123456789ABCDEF0123456\n",
        f"/lib/modules/{RELEASE}/modules.dep": "updates/dkms/amdgpu.ko.zst: updates/dkms/amdttm.ko.zst\n",
        module.format(RELEASE): "",
        module.format(NEXT_RELEASE): "",
        "/etc/apt/sources.list.d/rocm.sources": sources.format(ROCM),
        "/etc/apt/sources.list.d/amdgpu.sources": sources.format(DRIVER),
        "/etc/apt/keyrings/rocm.asc": KEY,
        "/etc/apt/preferences.d/rocm-pin-600": f"Package: *\nPin: release o={ORIGIN}\nPin-Priority: 600\n",
        "/etc/profile.d/rocm.sh": "# ours\n",
        "/etc/ld.so.conf.d/rocm.conf": "/opt/rocm/lib\n",
        "/etc/group": "root:x:0:\nvideo:x:44:alice,bob\nrender:x:993:alice,bob\nalice:x:1000:\nbob:x:1001:\n",
        "/opt/rocm": "-> /etc/alternatives/rocm",
        "/etc/alternatives/rocm": "-> /opt/rocm-7.2.4",
        "/opt/rocm-7.2.4/.info/version": "7.2.4-93\n",
        "/var/lib/dpkg/alternatives/rocm": "auto\n/opt/rocm\n\n/opt/rocm-7.2.4\n70204\n\n",
        VENV + "/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.3\n",
        VENV + "/bin/python": "-> /usr/bin/python3.12",
        VENV + "/constraints.txt": "torch==2.9.1+rocm6.4\n",
    }
    for source in (ROCM, DRIVER):
        stem = "/var/lib/apt/lists/" + source.partition("://")[2].replace("/", "_") + "_dists_noble_"
        tree |= {stem + "InRelease": f"Origin: {ORIGIN}\n", stem + "main_binary-amd64_Packages": ""}
    return tree


def processes(count: int, uid: int = 1000, groups: str = "1000") -> Tree:
    """As many kernel threads, one daemon, and a shell of a login with these groups."""
    tree = {f"/proc/{number}/loginuid": "4294967295" for number in range(2, count + 2)}
    status = "Name:\tbash\nUid:\t{0}\t{0}\t{0}\t{0}\nGid:\t{0}\t{0}\t{0}\t{0}\nGroups:\t{1} \n"
    for number, login in ((90001, "4294967295"), (90002, str(uid))):
        tree |= {f"/proc/{number}/loginuid": login, f"/proc/{number}/status": status.format(uid, groups)}
    return tree


def container() -> Tree:
    """A Docker image of Ubuntu on somebody's GPU server, with the devices passed in."""
    tree = {name: text for name, text in ubuntu().items() if not name.startswith(("/boot", "/lib/modules", "/sys"))}
    return {**tree, **_cards(1, 1), "/.dockerenv": "", "/dev/kfd": "", "/dev/dri/renderD128": ""}


def wsl() -> Tree:
    """Ubuntu under Windows."""
    tree = {name: text for name, text in ubuntu().items() if not name.startswith(("/boot", "/lib/modules"))}
    return {**tree, "/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"}


def mint() -> Tree:
    """Linux Mint 22, which is built on Ubuntu 24.04."""
    release = "ID=linuxmint\nID_LIKE=ubuntu\nVERSION_ID=22\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n"
    return {**ubuntu(), "/usr/lib/os-release": release}


def broken_dpkg() -> Tree:
    """A kernel update that failed half-way, with the journal that an interrupted dpkg leaves."""
    kernel = record("linux-image-" + NEXT_RELEASE, "6.8.0-44.44", "install ok half-configured")
    journal = record("amdgpu-dkms", "1:6.8.5.60200-2009582.24.04", "install reinstreq half-installed")
    return {
        **ubuntu(),
        "/var/lib/dpkg/status": database([("linux-generic", "6.8.0-44.44")]) + kernel,
        "/var/lib/dpkg/updates/0000": journal,
        "/var/lib/dkms/amdgpu/6.7.0-1787201.22.04": None,
        "/etc/modprobe.d/blacklist-amdgpu.conf": "blacklist amdgpu\n",
    }


def foreign_bytes() -> Tree:
    """Text in another encoding wherever people write some, and names that are no UTF-8."""
    return {
        **gpu_server(),
        "/usr/lib/os-release": b'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="caf\xe9"\nUBUNTU_CODENAME=noble\n',
        "/etc/environment": b"HSA_OVERRIDE_GFX_VERSION=\xff\xfe10.3.0\n",
        "/etc/apt/sources.list.d/mirr\udcf3r.list": f"deb {ROCM} noble main\n",
        "/etc/apt/apt.conf.d/99local": b'// caf\xe9\nAPT::Periodic::Unattended-Upgrade "1";\n',
        "/opt/rocm-6\udcff.0/.info/version": b"\xff\n",
        "/etc/passwd": b"root:x:0:0::/root:/bin/sh\nalice:x:1000:1000:Al\xefce:/home/alice:/bin/sh\n",
    }


def loops() -> Tree:
    """Links that lead to themselves in the places of files and directories."""
    places = (
        "/usr/lib/os-release /etc/passwd /etc/group /etc/environment /etc/profile.d /etc/modprobe.d /opt/rocm "
        "/boot/grub /etc/apt/keyrings /etc/apt/apt.conf.d /var/lib/dkms /dev/kfd /dev/dri /usr/bin/python3.12 "
        "/var/lib/apt/lists"
    )
    tree = {name: text for name, text in gpu_server().items() if not name.startswith(tuple(places.split()))}
    return {**tree, **{place: f"-> {place}" for place in places.split()}}


def huge_files() -> Tree:
    """Files of megabytes in one line or in very many."""
    line, lines = "A" * 2_000_000, "deb http://a.example b c\nexport PATH=$PATH:/x\n" * 50_000
    places = (
        "/usr/lib/os-release /etc/environment /etc/passwd /etc/group /proc/cmdline /etc/apt/keyrings/rocm.asc "
        "/etc/apt/apt.conf.d/20auto-upgrades /boot/grub/grub.cfg /sys/module/amdgpu/version"
    )
    return {
        **gpu_server(),
        **dict.fromkeys(places.split(), line),
        "/home/alice/.bashrc": lines,
        "/etc/profile.d/a.sh": "export HSA_A='" + line + "'\n",
        "/etc/apt/sources.list": lines,
        "/etc/modprobe.d/a.conf": lines,
        "/etc/apt/preferences": "Package: *\nPin: " + line,
    }


HOSTS: dict[str, Callable[[], Tree]] = {
    "bare": ubuntu,
    "server": gpu_server,
    "partitions": lambda: gpu_server(8),
    "two-stacks": lambda: gpu_server(stack=[*STACK, *OLDER_STACK]),
    "core": lambda: gpu_server(stack=CORE_STACK, version="10.0.0-4"),
    "container": container,
    "wsl": wsl,
    "mint": mint,
    "broken-dpkg": broken_dpkg,
    "foreign-bytes": foreign_bytes,
    "loops": loops,
    "huge-files": huge_files,
    "nothing": lambda: {"/etc": None},
}
