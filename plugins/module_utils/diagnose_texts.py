"""Texts of a host that say what is wrong with it: logs, and what a user's login gets from ROCm's tools.

Each is ``{name, source, text}``; source names the command or file for people. Nothing is changed on the host: the test
program lives in a temporary folder of the user that goes with it.
"""

from __future__ import annotations

import os
import re
import shlex

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked
from ansible_collections.gpufleet.rocm.plugins.module_utils.verify_login import Login

# Characters of one text: a thousand hosts are on the controller at once.
LIMIT = 24 * 1024
LOG_TIMEOUT_S = 60
TOOL_TIMEOUT_S = 120
# What a reader of the kernel log could want; the rest of a long log stays on the host.
_KERNEL_LINES = re.compile(
    r"amdgpu|amdkfd|kfd|radeon|amdkcl|amdttm|amddrm|amdxcp|amdchash|amd_sched|drm|AMD-Vi|DMAR|iommu|\bBAR\b|firmware"
    r"|lost from|unplugged|Completion-Wait|command line|cmdline|nomodeset|blacklist|VGACON|CRAT|PCIe Bus|tainting"
    r"|rejected|not available|restricted|PKCS#7|module key|vfio|probe of",
    re.I,
)
_BUILD_LINES = re.compile(r"make\.log for|error|\*\*\*|undefined|cannot|can't|No space|not found|exit status", re.I)
_ENVIRONMENT = re.compile(r"^(?:\w*(?:ROC|HIP|HSA|AMD|GPU|CUDA|MIOPEN)\w*|LD_LIBRARY_PATH|PATH)=")
TOOLS = ("rocminfo", "hipcc", "rocm-smi", "amd-smi")
TOOL_FOLDERS = ("/opt/rocm/bin", "/opt/rocm/core/bin")
HIP_LIBRARIES = ("/opt/rocm/lib/libamdhip64.so", "/opt/rocm/core/lib/libamdhip64.so")
_PROGRAM = "#include <hip/hip_runtime.h>\n__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); return 0; }\n"
_TORCH = """\
import torch
print("PyTorch version:", torch.__version__)
print("torch.version.hip:", torch.version.hip)
print("is_available:", torch.cuda.is_available())
for i in range(torch.cuda.device_count()):
    print(i, torch.cuda.get_device_name(i), float(torch.ones(8, device="cuda:%d" % i).sum()))
"""


class Texts:
    """Collects texts; one that is empty is left out, and one that cannot be had never hides another."""

    def __init__(self) -> None:
        self.rows: list[dict[str, str]] = []

    def add(self, name: str, source: str, text: str) -> None:
        if text.strip():
            self.rows.append({"name": name, "source": source, "text": shortened(masked(text))})


def shortened(text: str) -> str:
    """The text, or where it is too long its beginning and its end in whole lines."""
    if len(text) <= LIMIT:
        return text
    head, tail = text[: LIMIT // 2], text[-(LIMIT // 2) :]
    return head.rpartition("\n")[0] + "\n[...]\n" + tail.partition("\n")[2]


def matching(text: str, pattern: re.Pattern[str]) -> str:
    """The lines that fit; of lines that differ only in their time, the first."""
    seen = set()
    kept = []
    for line in text.splitlines():
        words = re.sub(r"^\[ *\d+\.\d+\] ?", "", line)
        if pattern.search(line) and words not in seen:
            seen.add(words)
            kept.append(line)
    return "\n".join(kept)


def read_logs(texts: Texts, host: Host) -> None:
    """Kernel logs of this boot and the one before, DKMS, and the last work of apt."""
    for name, boot, source in (
        ("kernel_log", "0", "kernel log"),
        ("previous_boot", "-1", "kernel log of the previous boot"),
    ):
        answer = host.run(
            ["journalctl", "-k", "-b", boot, "--no-pager", "-o", "short-monotonic", "--no-hostname"], LOG_TIMEOUT_S
        )
        log = answer[1] if answer and answer[0] == 0 else ""
        if name == "kernel_log" and len(log.splitlines()) < 5:
            answer = host.run(["dmesg"], LOG_TIMEOUT_S)
            log = answer[1] if answer else ""
        texts.add(name, source, matching(log, _KERNEL_LINES))
    answer = host.run(["dkms", "status"], LOG_TIMEOUT_S)
    texts.add("dkms_status", "dkms status", answer[1] + answer[2] if answer else "")
    log_path = newest_build_log(host)
    if log_path:
        texts.add("dkms_log", log_path, matching(host.read(log_path, 16 * 1024 * 1024) or "", _BUILD_LINES))
    texts.add("apt_log", "the last run of apt", last_run(host.read("/var/log/apt/term.log", 16 * 1024 * 1024) or ""))


def newest_build_log(host: Host) -> str:
    """The log of the latest build that did not end; that of a build that succeeded is elsewhere."""
    tree = "/var/lib/dkms/amdgpu"
    logs = ["%s/%s/build/make.log" % (tree, version) for version in host.names(tree)]
    dated = [(status.st_mtime, log) for log, status in ((log, host.stat(log)) for log in logs) if status]
    return max(dated)[1] if dated else ""


def last_run(log: str) -> str:
    """The last section of apt's log of what dpkg printed."""
    return log.rpartition("Log started: ")[2]


def read_login(texts: Texts, host: Host, login: Login, gpus: bool, python: str) -> None:
    """What a new login of the user sees and gets, with its own settings."""
    _, output = login.run("env", settings=True)
    lines = [line for line in output.splitlines() if _ENVIRONMENT.match(line)]
    texts.add("environment", "environment of a login of %s" % login.name, "\n".join(lines))
    _, output = login.run("; ".join("command -v %s" % tool for tool in TOOLS) + "; true", settings=True)
    found = {os.path.basename(line) for line in output.splitlines() if line.startswith("/")}
    hidden = [
        tool for tool in TOOLS if tool not in found and any(host.exists("%s/%s" % (f, tool)) for f in TOOL_FOLDERS)
    ]
    texts.add("path", "PATH of %s" % login.name, "\n".join("%s: command not found" % tool for tool in hidden))
    if "hipcc" in found:
        _compile(texts, login)
    _libraries(texts, host, login, python)
    if not gpus:
        return
    for tool, command in (("rocminfo", "rocminfo"), ("amd-smi", "amd-smi list"), ("rocm-smi", "rocm-smi")):
        if tool in found:
            _, output = login.run(command, TOOL_TIMEOUT_S, settings=True)
            texts.add(tool.replace("-", "_"), command, output)
    if python and host.exists(python):
        _, output = login.run("%s -c %s" % (shlex.quote(python), shlex.quote(_TORCH)), TOOL_TIMEOUT_S, settings=True)
        texts.add("torch", "PyTorch as %s" % login.name, output)


def _compile(texts: Texts, login: Login) -> None:
    """The errors of the compiler over an empty program; none where it succeeds."""
    steps = (
        'd=$(mktemp -d) && cd "$d" && printf "%s" ' + shlex.quote(_PROGRAM) + " > t.hip"
        " && hipcc --offload-arch=gfx90a -o t t.hip"
    )
    code, output = login.run(steps + '; status=$?; cd /; rm -rf "$d"; exit $status', TOOL_TIMEOUT_S, settings=True)
    texts.add("hipcc", "hipcc", output if code else "")


def _libraries(texts: Texts, host: Host, login: Login, python: str) -> None:
    """Libraries that HIP and PyTorch need and the login's linker does not find."""
    libraries = [path for path in HIP_LIBRARIES if host.exists(path)][:1]
    if python:
        base = os.path.dirname(os.path.dirname(python)) + "/lib"
        folders = ["%s/%s/site-packages/torch/lib" % (base, name) for name in host.names(base)]
        libraries += [f + "/libtorch_hip.so" for f in folders if host.exists(f + "/libtorch_hip.so")]
    for path in libraries:
        _, output = login.run("ldd %s" % shlex.quote(path), settings=True)
        missing = [line.strip() for line in output.splitlines() if "not found" in line]
        texts.add("libraries", "ldd %s" % path, "\n".join(missing))


def read_performance(texts: Texts, host: Host) -> None:
    """What holds a GPU back: fewer PCIe lanes than it has, a fixed performance level, memory that moves."""
    lines = []
    for address in host.names("/sys/bus/pci/drivers/amdgpu"):
        device = "/sys/bus/pci/drivers/amdgpu/" + address
        width, widest = (host.value("%s/%s_link_width" % (device, which)) for which in ("current", "max"))
        if ":" in address and width and widest:
            lines.append("%s link width %s of %s" % (address, width, widest))
        level = host.value(device + "/power_dpm_force_performance_level")
        if ":" in address and level:
            lines.append("%s performance level %s" % (address, level))
    nodes = [name for name in host.names("/sys/devices/system/node") if re.match(r"node\d+$", name)]
    balancing = host.value("/proc/sys/kernel/numa_balancing")
    if lines and balancing and len(nodes) > 1:
        lines.append("numa_balancing %s with %d memory nodes" % (balancing, len(nodes)))
    texts.add("performance", "sysfs", "\n".join(lines))
