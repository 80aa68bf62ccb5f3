"""The whole module over the tree of a host, and over nothing at all."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import dkms, paths
from ansible_collections.gpufleet.rocm.plugins.module_utils.gather import gather
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from tests.unit.module_utils.hosts import NEXT_RELEASE, RELEASE, record, ubuntu
from tests.unit.module_utils.tree import MakeHost, Tree

KEYS = Path(__file__).parent / "keys"
MIRROR = "http://10.77.0.1:8600/repo.radeon.com"
LISTS = "/var/lib/apt/lists/10.77.0.1:8600_repo.radeon.com_rocm_apt_6.0_dists_jammy_"
VENV = "/opt/venvs/torch"


def host_tree() -> dict[str, str | bytes | None]:
    """A server with one MI250, ROCm 6.0 from a mirror, and a few things that are not as they should be."""
    gpu = "/sys/bus/pci/devices/0000:2f:00.0/"
    node = "/sys/class/kfd/kfd/topology/nodes/2/properties"
    return {
        "/etc/os-release": "ID=ubuntu\nVERSION_ID=22.04\nVERSION_CODENAME=jammy\nUBUNTU_CODENAME=jammy\n",
        "/proc/sys/kernel/osrelease": RELEASE + "\n",
        "/proc/cmdline": "root=/dev/sda1 ro iommu=pt\n",
        "/proc/sys/kernel/random/boot_id": "5a1f\n",
        paths.REBOOT: '{"boot_id": "3c2e", "module": "ABCDEF"}',
        paths.HOLDS: "linux-generic\namdgpu-dkms\n",
        "/boot/vmlinuz-6.8.0-41-generic": "",
        "/boot/vmlinuz-6.8.0-44-generic": "",
        f"/lib/modules/{RELEASE}/build": "-> /usr/src/linux-headers-" + RELEASE,
        f"/usr/src/linux-headers-{RELEASE}/Makefile": "",
        f"/lib/modules/{RELEASE}/modules.dep": "updates/dkms/amdgpu.ko: updates/dkms/amdttm.ko\n",
        "/etc/modprobe.d/blacklist-amdgpu.conf": "blacklist amdgpu\n",
        "/sys/firmware/acpi/pm_profile": "4\n",
        gpu + "vendor": "0x1002\n",
        gpu + "device": "0x740c\n",
        gpu + "class": "0x038000\n",
        gpu + "driver": "-> ../../../../bus/pci/drivers/amdgpu",
        gpu + "numa_node": "0\n",
        "/sys/module/amdgpu/initstate": "live\n",
        "/sys/module/amdgpu/version": "6.3.6\n",
        "/sys/module/amdgpu/srcversion": "ABCDEF\n",
        node: "simd_count 416\nsimd_per_cu 4\ngfx_target_version 90010\ndevice_id 29708\nlocation_id 12032\n"
        "domain 0\ndrm_render_minor 128\n",
        "/dev/kfd": "",
        "/dev/dri/renderD128": "",
        "/var/lib/dkms/amdgpu/6.3.6/source/dkms.conf": "",
        "/var/lib/dpkg/info/amdgpu-dkms.list": "/usr/src\n/usr/src/amdgpu-6.3.6\n/usr/src/amdgpu-6.3.6/dkms.conf\n",
        f"/var/lib/dkms/amdgpu/6.3.6/{RELEASE}/x86_64/module/amdgpu.ko": "",
        f"/var/lib/dkms/amdgpu/kernel-{RELEASE}-x86_64": f"-> 6.3.6/{RELEASE}/x86_64",
        "/var/lib/dpkg/status": record("dpkg", "1.21.1")
        + record("rocm-hip-sdk", "6.0.0.60000-91~22.04", "hold ok installed")
        + record("rocminfo", "5.0.0-1")
        + record("linux-modules-extra-" + RELEASE, "6.8.0-41.41")
        + record("linux-image-6.8.0-44-generic", "6.8.0-44.44", "install ok half-configured")
        + record("openssh-server", "1:8.9p1-3"),
        "/etc/apt/sources.list.d/rocm.sources": f"Types: deb\nURIs: {MIRROR}/rocm/apt/6.0\nSuites: jammy\n"
        "Components: main\nArchitectures: amd64\nSigned-By: /etc/apt/keyrings/rocm.asc\n",
        "/etc/apt/sources.list.d/amdgpu.list": f"deb {MIRROR}/amdgpu/6.0/ubuntu jammy main\n",
        "/etc/apt/keyrings/rocm.asc": (KEYS / "limited.asc").read_bytes(),
        "/etc/apt/preferences.d/rocm-pin-600": "Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n",
        LISTS + "InRelease": "Origin: repo.radeon.com\n",
        LISTS + "main_binary-amd64_Packages": "",
        "/etc/environment": "HSA_OVERRIDE_GFX_VERSION=9.0.0\n",
        "/etc/passwd": "root:x:0:0::/root:/bin/bash\nalice:x:1000:1000::/home/alice:/bin/bash\n",
        "/etc/group": "root:x:0:\nvideo:x:44:\nrender:x:109:alice\nalice:x:1000:\n",
        "/home/alice/.bashrc": "export HIP_VISIBLE_DEVICES=0\n",
        "/opt/rocm": "-> /etc/alternatives/rocm",
        "/etc/alternatives/rocm": "-> /opt/rocm-6.0.0",
        "/opt/rocm-6.0.0/.info/version": "6.0.0-91\n",
        "/usr/bin/python3": "-> python3.10",
        "/usr/bin/python3.10": "",
        VENV + "/pyvenv.cfg": "version = 3.10.12\n",
        VENV + "/lib/python3.10/site-packages/torch-2.3.0+rocm6.0.dist-info/METADATA": "",
        VENV + "/constraints.txt": "torch==2.3.0+rocm6.0\n",
    }


def test_a_server(make_host: MakeHost) -> None:
    root = make_host(host_tree()).root
    facts = gather(root, ["alice", "typo"], [VENV])
    assert facts["problems"] == []
    assert facts["os"]["base_codename"] == "jammy"
    assert facts["architecture"] == "x86_64"
    assert facts["kernel"] == {
        "release": RELEASE,
        "series": "6.8",
        "flavour": "generic",
        "mainline": False,
        "installed": ["6.8.0-44-generic", "6.8.0-41-generic"],
        "next_boot": "6.8.0-44-generic",
        "cmdline": "root=/dev/sda1 ro iommu=pt",
        "headers": {"package": "linux-headers-" + RELEASE, "installed": True, "candidate": None},
        "modules_extra": {"package": "linux-modules-extra-" + RELEASE, "installed": True, "candidate": None},
        "next": {
            "headers": {"package": "linux-headers-" + NEXT_RELEASE, "installed": False, "candidate": None},
            "modules_extra": {"package": "linux-modules-extra-" + NEXT_RELEASE, "installed": False, "candidate": None},
        },
    }
    assert facts["secure_boot"] == "disabled"
    assert facts["virtualization"] == {"kind": "none", "name": ""}
    assert [(gpu["device"], gpu["driver"]) for gpu in facts["gpus"]] == [("740c", "amdgpu")]
    assert facts["driver"] == {
        "loaded": True,
        "version": "6.3.6",
        "srcversion": "ABCDEF",
        "on_disk": {
            "path": f"/lib/modules/{RELEASE}/updates/dkms/amdgpu.ko",
            "version": None,
            "srcversion": None,
        },
        "dkms": [
            {
                "module": "amdgpu",
                "version": "6.3.6",
                "kernel": RELEASE,
                "arch": "x86_64",
                "state": "installed",
                "warning": None,
            }
        ],
        "sources": ["6.3.6"],
        "signing_key": None,
        "blacklist": [
            {
                "file": "/etc/modprobe.d/blacklist-amdgpu.conf",
                "line": 1,
                "text": "blacklist amdgpu",
                "package": None,
            }
        ],
    }
    assert facts["boot"] == {"id": "5a1f", "last": {"id": "3c2e", "module": "ABCDEF"}}
    assert facts["holds"] == ["amdgpu-dkms", "linux-generic"]
    assert facts["kfd"]["present"] is True
    assert [(node["gfx"], node["compute_units"]) for node in facts["kfd"]["nodes"]] == [("gfx90a", 104)]
    assert [node["minors"] for node in facts["render_nodes"]] == [[128]]
    assert {name: (fact["amd"], fact["held"]) for name, fact in facts["packages"].items()} == {
        "linux-modules-extra-" + RELEASE: (False, False),
        "rocm-hip-sdk": (True, True),
        "rocminfo": (False, False),
    }
    assert facts["dpkg_broken"] == [{"package": "linux-image-6.8.0-44-generic", "status": "half-configured"}]
    assert [(entry["file"], entry["indexed"], entry["signed_by"]) for entry in facts["apt"]["sources"]] == [
        ("/etc/apt/sources.list.d/amdgpu.list", False, None),
        ("/etc/apt/sources.list.d/rocm.sources", True, "/etc/apt/keyrings/rocm.asc"),
    ]
    assert [pin["priority"] for pin in facts["apt"]["pins"]] == [600]
    assert [ring["expires"] for ring in facts["apt"]["keyrings"]] == ["2025-01-30"]
    assert [path for path, fact in facts["files"].items() if fact] == [
        paths.ROCM_SOURCE,
        paths.ROCM_KEYRING,
        paths.ROCM_PIN,
        VENV + "/constraints.txt",
    ]
    assert facts["rocm"] == {
        "link": "/opt/rocm-6.0.0",
        "installs": [{"path": "/opt/rocm-6.0.0", "version": "6.0.0-91"}],
        "alternatives": [],
    }
    assert facts["groups"]["render"] == {"gid": 109, "members": ["alice"]}
    assert facts["users"]["alice"]["groups"] == ["alice", "render"]
    assert facts["users"]["typo"] is None
    assert [entry["file"] for entry in facts["environment"]] == ["/etc/environment", "/home/alice/.bashrc"]
    assert VENV in facts["disk"]
    assert [python["version"] for python in facts["python"]] == ["3.10"]
    assert facts["venvs"][0]["packages"] == {"torch": "2.3.0+rocm6.0"}
    json.dumps(facts)


def test_an_empty_tree_has_the_same_shape(tmp_path: Path) -> None:
    facts = gather(str(tmp_path), ["root"], ["/opt/v"])
    assert facts["problems"] == []
    assert facts["kernel"]["release"] is None
    assert facts["architecture"] is None
    assert facts["users"] == {"root": None}
    assert facts["groups"] == {"render": None, "video": None}
    assert facts["gpus"] == facts["python"] == facts["environment"] == []
    assert facts["ldconfig"] == facts["packages"] == {}


def test_upgrades_are_judged_by_the_newest_kernel(make_host: MakeHost) -> None:
    blacklist = 'Unattended-Upgrade::Package-Blacklist:: "linux-image-[0-9]";'
    facts = gather(make_host({**ubuntu(), "/etc/apt/apt.conf.d/51local": blacklist}).root)
    assert facts["unattended_upgrades"]["kernel_excluded"] is True


def test_a_missing_tree_is_an_empty_one(tmp_path: Path) -> None:
    assert gather(str(tmp_path / "none"))["gpus"] == []


def test_the_live_host_can_be_read() -> None:
    begin = time.monotonic()
    facts = gather("/", ["root"], ["/no/such/venv"])
    assert time.monotonic() - begin < 5
    assert facts["users"]["root"]["uid"] == 0
    assert facts["kernel"]["release"]
    json.dumps(facts)


def test_a_reader_that_fails_leaves_the_rest(make_host: MakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_host: object) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr(dkms, "gather", fail)
    facts = gather(make_host(host_tree()).root)
    assert facts["driver"]["dkms"] == []
    assert facts["rocm"]["link"] == "/opt/rocm-6.0.0"
    assert facts["problems"] == [{"section": "driver.dkms", "message": "KeyError: 'surprise'"}]


class Commands:
    """Stands for Host.run: answers by program name, and remembers what was asked."""

    def __init__(self, **answers: tuple[int, str, str]) -> None:
        self.answers = {name.replace("_", "-"): answer for name, answer in answers.items()}
        self.asked: list[list[str]] = []

    def __call__(self, argv: list[str], **_options: float) -> tuple[int, str, str] | None:
        self.asked.append(argv)
        return self.answers.get(argv[0])


POLICY = f"""rocm-hip-sdk:
  Installed: 6.0.0.60000-91~22.04
  Candidate: 6.0.0.60000-91~22.04
  Version table:
 *** 6.0.0.60000-91~22.04 600
        600 {MIRROR}/rocm/apt/6.0 jammy/main amd64 Packages
        100 /var/lib/dpkg/status
linux-headers-{RELEASE}:
  Installed: 6.8.0-41.41
  Candidate: 6.8.0-41.41
  Version table:
 *** 6.8.0-41.41 100
        100 /var/lib/dpkg/status
"""


def test_commands_are_asked_once_each(make_host: MakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands(
        apt_cache=(0, POLICY, ""),
        dkms=(0, f"amdgpu/6.3.6, {RELEASE}, x86_64: installed\n", ""),
        modinfo=(0, "filename: /lib/modules/x/updates/dkms/amdgpu.ko\nversion: 6.3.6\nsrcversion: ABC\n", ""),
        ldconfig=(0, "\tlibamdhip64.so.6 (libc6,x86-64) => /opt/rocm/lib/libamdhip64.so.6\n", ""),
        systemd_detect_virt=(1, "none\n", ""),
    )
    monkeypatch.setattr(Host, "run", commands)
    facts = gather(make_host(host_tree()).root)
    assert sorted(argv[0] for argv in commands.asked) == sorted(commands.answers)
    policy = next(argv for argv in commands.asked if argv[0] == "apt-cache")
    kernels = (RELEASE, NEXT_RELEASE)
    packages = [f"linux-{kind}-{kernel}" for kind in ("headers", "modules-extra") for kernel in kernels]
    assert policy[2:] == [*packages, "rocm-hip-sdk", "rocminfo"]
    assert facts["kernel"]["headers"]["candidate"] == "6.8.0-41.41"
    assert facts["kernel"]["modules_extra"]["candidate"] is None
    assert facts["driver"]["on_disk"]["srcversion"] == "ABC"
    assert facts["ldconfig"] == {"libamdhip64.so.6": "/opt/rocm/lib/libamdhip64.so.6"}


def test_secrets_do_not_reach_the_facts(make_host: MakeHost) -> None:
    seed, login = "http://ada:hunter2@boot.example/", "https://ada:hunter/2@"
    tree: Tree = {
        "/proc/cmdline": f"quiet ds=nocloud;s={seed} rd.iscsi.password=hunter2 iommu=pt",
        "/etc/apt/sources.list.d/rocm.list": f"deb {login}repo.radeon.com/rocm/apt/6.0 jammy main\n"
        "deb https://ada:hunter2@mirror.example/rocm/apt/6.0 jammy main\n",
        "/etc/environment": "ROCM_TOKEN=hunter2\nHIP_PROXY=http://ada:hunter2@proxy.example\n",
        "/etc/modprobe.d/a.conf": "install amdgpu /bin/false # password=hunter2\n",
    }
    facts = gather(make_host(tree).root)
    assert "hunter" not in json.dumps(facts)
    assert facts["kernel"]["cmdline"].endswith(" iommu=pt")
    assert [source["uri"] for source in facts["apt"]["sources"]][-1] == "https://mirror.example/rocm/apt/6.0"
    assert len(facts["environment"]) == 2
    assert len(facts["driver"]["blacklist"]) == 1


def test_a_container_is_not_asked_for_kernel_packages(make_host: MakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = Commands(systemd_detect_virt=(0, "podman\n", ""))
    monkeypatch.setattr(Host, "run", commands)
    facts = gather(make_host({"/proc/sys/kernel/osrelease": RELEASE}).root)
    assert facts["virtualization"] == {"kind": "container", "name": "podman"}
    assert [argv[0] for argv in commands.asked] == ["systemd-detect-virt", "ldconfig"]


def test_apts_error_is_a_problem_and_dkms_falls_back_to_its_tree(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands(
        apt_cache=(100, "", "E: Conflicting values set for option Signed-By\nE: The list of sources\n"),
        dkms=(
            4,
            "",
            "Error! Could not locate dkms.conf file.\nFile: /var/lib/dkms/amdgpu/6.7/source/dkms.conf does"
            " not exist.\n",
        ),
    )
    monkeypatch.setattr(Host, "run", commands)
    facts = gather(make_host({**host_tree(), "/var/lib/dkms/amdgpu/6.7": None}).root)
    assert facts["problems"] == [{"section": "apt", "message": "E: Conflicting values set for option Signed-By"}]
    assert [(entry["version"], entry["state"]) for entry in facts["driver"]["dkms"]] == [
        ("6.3.6", "installed"),
        ("6.7", "broken"),
    ]
    assert facts["packages"]["rocm-hip-sdk"]["amd"] is True
