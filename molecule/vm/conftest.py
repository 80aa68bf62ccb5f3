"""What the tests after each step look at, read in one login: an emulated processor makes every further one slow."""

from __future__ import annotations

import json
from typing import Any

import pytest

LOOK = r"""
import glob, grp, json, os, pwd, stat, subprocess

def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()

def text(path):
    with open(path) as file:
        return file.read().strip()

kernels = [name[len("/boot/vmlinuz-"):] for name in glob.glob("/boot/vmlinuz-*")]
kfd = os.stat("/dev/kfd")
print(json.dumps({
    "kernel": os.uname().release,
    "kernels": text("/etc/gpufleet-kernels").split(),
    "package": output("dpkg-query", "--show", "--showformat=${Version}", "amdgpu-dkms"),
    "dkms": output("dkms", "status").splitlines(),
    "sources": glob.glob("/usr/src/amdgpu-*"),
    "trees": glob.glob("/var/lib/dkms/amdgpu/[0-9]*"),
    "loaded": {name: text("/sys/module/amdgpu/" + name) for name in ("version", "srcversion")},
    "on_disk": {kernel: output("modinfo", "-k", kernel, "-F", "filename", "amdgpu") for kernel in kernels},
    "booted_at": int(text("/proc/stat").split("btime ")[1].split()[0]),
    "built_at": {path: os.stat(path).st_mtime for path in glob.glob("/lib/modules/*/updates/dkms/amdgpu.ko")},
    "kfd": [pwd.getpwuid(kfd.st_uid).pw_name, grp.getgrgid(kfd.st_gid).gr_name, oct(stat.S_IMODE(kfd.st_mode))],
    "bound": [os.path.basename(os.readlink(path)) for path in glob.glob("/sys/bus/pci/devices/0001:*/driver")],
    "boot_id": text("/proc/sys/kernel/random/boot_id"),
    "boots": output("last", "-x", "reboot").count("reboot  "),
    "rebooted_for": json.loads(text("/var/lib/gpufleet.rocm/reboot.json")),
    "half_done": output("dpkg", "--audit"),
    "failed_units": output("systemctl", "--failed", "--plain", "--no-legend"),
    "modprobe": output("grep", "-rl", "amdgpu", "/etc/modprobe.d"),
    "images": {kernel: subprocess.run(["lsinitramfs", "/boot/initrd.img-" + kernel], stdout=-3).returncode
               for kernel in kernels},
}))
"""


@pytest.fixture(scope="module")
def seen(host: Any) -> dict[str, Any]:
    """What commands of the machine show; nothing of this passes through Ansible."""
    found: dict[str, Any] = json.loads(host.check_output("python3 -c %s", LOOK))
    return found


@pytest.fixture
def sound(seen: dict[str, Any]) -> None:
    """What holds after every step, failed ones too: every boot finds a driver, and nothing is half done."""
    assert seen["half_done"] == seen["failed_units"] == seen["modprobe"] == ""
    for kernel, path in seen["on_disk"].items():
        assert path == f"/lib/modules/{kernel}/updates/dkms/amdgpu.ko"
        assert seen["images"][kernel] == 0
    assert seen["kfd"] == ["root", "render", "0o660"]
    assert seen["bound"] == ["amdgpu", "amdgpu"]
