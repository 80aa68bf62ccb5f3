"""What every ROCm program needs: devices that open, GPUs in the kernel's compute driver, tools, and their agents."""

from __future__ import annotations

import os
import re
import shlex
import stat

from ansible_collections.gpufleet.rocm.plugins.module_utils import rocminfo, sysfs
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import SETTINGS, Login
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_report import Report, tail

TOOLS = ("rocminfo", "hipcc", "hipify-clang", "hipify-perl", "cmake", "make", "ninja")
# The kernel's reason for refusing a device: only the first one is a matter of users and groups.
_REASONS = (
    ("Permission denied", "kfd-permission"),
    ("Operation not permitted", "kfd-open-failed"),
    ("Cannot allocate memory", "kfd-no-usable-device"),
    ("No such device", "kfd-no-usable-device"),
)
_ADDRESS = re.compile(r"^([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.[0-7]$")


def device_nodes(host: Host) -> list[str]:
    """What a HIP program opens: the compute device and the render nodes, without those of other vendors."""
    nodes = ["/dev/kfd"]
    for name in sorted(host.names("/dev/dri"), key=lambda name: (len(name), name)):
        vendor = host.value("/sys/class/drm/%s/device/vendor" % name)
        if name.startswith("renderD") and vendor in (None, "0x1002"):
            nodes.append("/dev/dri/" + name)
    return nodes


def check_devices(report: Report, login: Login, no_gpu: str, host: Host) -> None:
    """The user opens /dev/kfd and every render node for reading and writing."""
    name = "device-access"
    nodes = device_nodes(host)
    if no_gpu:
        report.not_run(name, no_gpu)
    elif not host.exists(nodes[0]):
        report.failed(
            name,
            "/dev/kfd does not exist",
            "kfd-missing",
            "see whether amdgpu is loaded (lsmod) and what dmesg says about it; playbooks/driver.yml installs it",
        )
    elif len(nodes) == 1:
        report.failed(name, "no render node of an AMD GPU in /dev/dri", "driver-probe-failed", "read dmesg for amdgpu")
    else:
        tries = ["(exec 3<>%s) 2>&1 || echo 'refused: %s'" % (shlex.quote(node), node) for node in nodes]
        _, output = login.run("; ".join(tries))
        refused = [node for node in nodes if "refused: %s" % node in output]
        if refused:
            _refused(report, name, login, host, refused, output)
        else:
            report.passed(name, "%s opens /dev/kfd and render nodes: %d" % (login.name, len(nodes) - 1))


def _refused(report: Report, name: str, login: Login, host: Host, refused: list[str], output: str) -> None:
    finding = next((id for reason, id in _REASONS if reason in output), "kfd-open-failed")
    if finding != "kfd-permission":
        report.failed(name, tail(output), finding, "read dmesg for amdgpu; in a container, pass the devices in")
        return
    _, groups = login.run("id -nG")
    info = host.stat(refused[0])
    rights = "%s, owner %d, group %d" % (stat.filemode(info.st_mode), info.st_uid, info.st_gid) if info else "gone"
    more = " and %d more" % (len(refused) - 1) if len(refused) > 1 else ""
    report.failed(
        name,
        "%s is %s%s; %s is in: %s" % (refused[0], rights, more, login.name, groups),
        finding,
        "name the user in rocm_users and run site.yml: it adds to the groups and writes the udev rule",
    )


def place(address: str) -> tuple[int, int] | None:
    """PCI domain, and bus and device as KFD's location_id has them; partitions differ in the function alone."""
    match = _ADDRESS.match(address)
    if not match:
        return None
    return int(match.group(1), 16), int(match.group(2), 16) << 8 | int(match.group(3), 16) << 3


def check_kfd(report: Report, addresses: list[str], host: Host) -> int:
    """Every GPU on the PCI bus is a compute node, or several where it is partitioned; returns the number of nodes."""
    name = "kfd-nodes"
    # The kernel shows its nodes to a user who may not open the device too.
    hidden = report.checks[-1]["finding"] not in ("kfd-permission", "kfd-open-failed")
    if hidden and report.blocked(name, "device-access"):
        return 0
    cards = sysfs.kfd_nodes(host)
    nodes = sum(int(str(card["partitions"])) for card in cards)
    known = {(card["domain"], int(str(card["location_id"])) & 0xFFF8) for card in cards}
    missing = [address for address in addresses if place(address) not in known]
    partitions = sorted({int(str(card["partitions"])) for card in cards})
    seen = "%d GPUs on the PCI bus, %d in KFD" % (len(addresses), len(cards))
    if partitions and partitions[-1] > 1:
        seen += ", %d nodes (%s partitions each)" % (nodes, " or ".join(map(str, partitions)))
    if missing:
        evidence = "%s; not there: %s" % (seen, ", ".join(missing))
        remedy = "read what dmesg says about that address; a GPU meant for a guest belongs to vfio-pci"
        report.failed(name, evidence, "kfd-device-failed" if cards else "kfd-no-usable-device", remedy)
    else:
        report.passed(name, seen)
    return nodes


def check_path(report: Report, login: Login, path: list[str], compiler: bool) -> dict[str, str]:
    """The login finds the tools; returns where each is.

    With a `path`, rocminfo and hipcc must come from its first folder. Without one they may come from anywhere.
    """
    name = "login-path"
    output = login.run("; ".join("command -v %s" % tool for tool in TOOLS) + "; true")[1]
    tools: dict[str, str] = {}
    for line in output.splitlines():
        if line.startswith("/") and os.path.basename(line) in TOOLS:
            tools.setdefault(os.path.basename(line), line)
    needed = ["rocminfo"] + (["hipcc"] if compiler or "hipcc" in tools else [])
    wanted = [os.path.join(path[0], tool) if path else tools.get(tool, "") for tool in needed]
    found = [tools.get(tool, "") for tool in needed]
    if found == wanted and all(found):
        direct = path or login.run("command -v rocminfo", settings=True)[1].endswith("/rocminfo")
        report.passed(name, " ".join(found) + ("" if direct else ", not on the PATH of %s" % login.name))
        return tools
    lacking = [tool for tool, file in zip(needed, found) if not file]
    expected = " ".join(wanted) if path else " and ".join(needed)
    report.failed(
        name,
        "found %s; expected %s" % (" ".join(filter(None, found)) or "nothing", expected),
        None if lacking else "distro-package-shadows",
        "install %s, or put its folder on the PATH" % " and ".join(lacking)
        if lacking
        else "put %s first on the PATH of %s: a file in its home, or a package of the distribution, comes before it"
        % (path[0], login.name),
    )
    return tools


def check_settings(report: Report, login: Login) -> None:
    """What the user's login sets that the checks take away; noted, since the checks then say nothing about it."""
    shown = "; ".join('printf "%%s\\n" "%s=$%s"' % (name, name) for name in SETTINGS)
    lines = [line.partition("=") for line in login.run(shown, settings=True)[1].splitlines()]
    found = {name: value for name, _, value in lines if name in SETTINGS and value}
    evidence = ", ".join("%s=%s" % item for item in found.items())
    if "HSA_OVERRIDE_GFX_VERSION" in found:
        finding: str | None = "hsa-override-set"
        remedy = "remove it from the login of %s, unless the GPU is one that ROCm does not know" % login.name
    elif "/rocm" in found.get("LD_LIBRARY_PATH", ""):
        finding, remedy = "ld-library-path-set", "remove it: it overrides the libraries inside PyTorch"
    else:
        finding, remedy = None, ""
    text = "the checks run without %s, which the login sets" % evidence if found else "nothing changes what ROCm sees"
    report.passed("login-settings", text, finding, remedy)


def check_rocminfo(report: Report, login: Login, nodes: int) -> list[str]:
    """rocminfo lists as many GPU agents as the kernel has nodes; returns their gfx targets, one for each agent."""
    name = "rocminfo"
    if report.blocked(name, "device-access", "login-path"):
        return []
    code, output = login.run("rocminfo")
    answer = rocminfo.parse(output)
    listed = answer["gpus"]
    agents = [str(gpu["gfx"]) for gpu in listed] if isinstance(listed, list) else []
    counts = ", ".join("%d x %s" % (agents.count(gfx), gfx) for gfx in dict.fromkeys(agents))
    if code or answer["problem"]:
        problem = answer["problem"]
        remedy = "read dmesg for amdgpu and kfd; run rocminfo as %s" % login.name
        report.failed(name, "exit %d: %s" % (code, tail(output)), str(problem) if problem else None, remedy)
    elif len(agents) < max(nodes, 1):
        evidence = "%s; expected %d GPU agents, as KFD has nodes" % (counts or "no GPU agent", nodes)
        report.failed(name, evidence, "hsa-init-failed", "read dmesg for amdgpu and kfd")
    else:
        report.passed(name, counts)
    return agents
