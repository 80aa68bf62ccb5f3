"""Whether the host is a container, a virtual machine, WSL or plain metal."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

CONTAINERS = frozenset(
    (
        "docker",
        "podman",
        "lxc",
        "lxc-libvirt",
        "systemd-nspawn",
        "openvz",
        "rkt",
        "proot",
        "pouch",
        "container-other",
    )
)
# Words that firmware puts into its vendor or product name, for a host without systemd-detect-virt.
_FIRMWARE = (
    ("qemu", "qemu"),
    ("kvm", "kvm"),
    ("vmware", "vmware"),
    ("virtualbox", "oracle"),
    ("xen", "xen"),
    ("microsoft corporation", "microsoft"),
    ("amazon ec2", "amazon"),
    ("google compute engine", "google"),
    ("openstack", "kvm"),
)


def classify(name: str) -> dict[str, str]:
    """The `virtualization` fact for a name as systemd-detect-virt prints it ('none' for metal)."""
    if name in ("", "none"):
        return {"kind": "none", "name": ""}
    if name == "wsl":
        return {"kind": "wsl", "name": "wsl"}
    return {"kind": "container" if name in CONTAINERS else "vm", "name": name}


def from_files(host: Host) -> str:
    """The same name worked out from marker files and firmware strings; 'none' when nothing says otherwise."""
    container = host.value("/run/systemd/container")
    if container:
        return container if container in CONTAINERS else "container-other"
    if host.exists("/run/.containerenv"):
        return "podman"
    if host.exists("/.dockerenv"):
        return "docker"
    words = " ".join(
        host.value("/sys/class/dmi/id/" + name) or "" for name in ("sys_vendor", "product_name", "bios_vendor")
    ).lower()
    for word, name in _FIRMWARE:
        if word in words and not (name == "microsoft" and "virtual machine" not in words):
            return name
    cpu = host.read("/proc/cpuinfo", 8192) or ""
    return "vm-other" if " hypervisor" in cpu else "none"


def gather(host: Host) -> dict[str, str]:
    # WSL is told by its kernel: containers inside it have no kernel module to install either.
    if "microsoft" in (host.value("/proc/sys/kernel/osrelease") or "").lower():
        return classify("wsl")
    answer = host.run(["systemd-detect-virt"], timeout=5)
    name = answer[1].strip() if answer else ""
    return classify(name or from_files(host))
