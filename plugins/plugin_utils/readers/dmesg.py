"""What the kernel log says against the GPU driver."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import (
    Problem,
    matching,
    problems,
    rule,
)

# The driver and the modules that AMD's package builds beside it.
_OURS = r"\b(?:amdgpu|amdkfd|kfd|amdkcl|amdttm|amd_sched|amdxcp|amddrm_\w+|amdchash)\b"

RULES = (
    rule("pcie-atomics", r"PCI rejects atomics"),
    rule("gpu-unknown-to-kfd", r"\bDID [0-9a-f]{4} is missing in supported_devices"),
    rule(
        "gpu-unsupported",
        r"\S\s{1,4}not supported in kfd|kfd not supported on this ASIC"
        r"|\bamdgpu [0-9a-f:.]+: (?:amdgpu: )?(?:SI|CIK) support (?:provided by radeon|disabled)"
        r"|amdgpu.*(?:unsupported asic|asic .*not supported|unknown asic)",
    ),
    # amd_iommu_v2 lives in the package linux-modules-extra of cloud kernels.
    rule("modules-extra-missing", rf"{_OURS}: Unknown symbol amd_iommu_|Module amdgpu not found in directory"),
    rule(
        "module-kernel-mismatch",
        rf"{_OURS}: (?:Unknown symbol|disagrees about version of symbol|version magic)"
        r"|could not insert '?amdgpu'?: (?:Unknown symbol|Invalid module format|Exec format error)",
        unless="amd_iommu_",
    ),
    rule(
        "secure-boot-unsigned",
        r"Loading of (?:unsigned )?module (?:with unavailable key )?is rejected|unsigned module loading is restricted"
        rf"|{_OURS}.*(?:Key was rejected by service|Required key not available)"
        r"|(?:Key was rejected by service|Required key not available).*amdgpu",
    ),
    # The firmware of the trusted applications (ta, cap) and of the camera (isp) is optional.
    rule(
        "firmware-missing",
        r"(?:Direct firmware load for|firmware: failed to load) (?:amdgpu|radeon)/\S+"
        r"|\bfail(?:ed)? .*firmware.* \"?(?:amdgpu|radeon)/\w+\.bin"
        r"|amdgpu.*Failed to (?:load|get) (?:gpu_info|ip discovery|\w+) firmware",
        unless=r"(?:_ta|_cap)\.bin|/isp_",
    ),
    rule("firmware-rejected", r"amdgpu.*\bPSP (?:firmware )?load(?:ing)? .*failed|psp.*failed to load (?:asd|sos)"),
    rule("vbios-missing", r"amdgpu.*(?:Unable to locate a BIOS ROM|No (?:valid )?VBIOS)"),
    rule(
        "driver-probe-failed",
        r"amdgpu.*\bprobe (?:of \S+ |with driver \S+ )?failed with error -?\d+|Fatal error during GPU init"
        r"|amdgpu_device_ip_init failed|\b(?:hw|sw|early)_init of IP block \S+ failed",
    ),
    rule("kfd-device-failed", r"(?:kfd|amdgpu).*device \S+ NOT added due to errors|Error adding device to topology"),
    rule(
        "vf-mailbox-timeout",
        r"ACK should not assert|xgpu_\w+_mailbox|Doesn't get \w*:?\d* ?(?:msg|ack|.*from pf)"
        r"|failed to (?:get|request) (?:full )?(?:gpu )?access|VF exclusive mode timeout"
        r"|timed? ?out.*mailbox|mailbox.*timed? ?out",
    ),
    rule(
        "gpu-page-fault",
        r"\b(?:gfxhub|mmhub|vmhub)\d*\]? ?(?:no-retry |retry )?page fault"
        r"|VM_L2_PROTECTION_FAULT|VM_CONTEXT1_PROTECTION_FAULT"
        rf"|{_OURS}.*(?:GPU fault detected|page fault \(src_id)|Memory access fault by GPU",
    ),
    rule(
        "gpu-hang",
        r"(?:amdgpu.*|\*ERROR\* )ring \S+ timeout"
        r"|amdgpu.*GPU (?:reset(?:\(\d+\))? (?:begin|failed|end with ret = -)|recovery (?:failed|disabled))"
        r"|amdgpu.*SMU: (?:I'm not done|No response)|MES ring buffer is full"
        r"|MES (?:\w+ )?failed to respon(?:d|se)|qcm fence wait loop timeout|unsuccessful queues? preemption"
        r"|HIQ .*hang|\bIB test failed on",
    ),
    rule(
        "gpu-lost",
        r"amdgpu.*(?:device (?:is )?lost from bus|lost from the bus|GPU has fallen off)|amdgpu.*device unplugged"
        r"|amdgpu.*Unable to change power state .*device inaccessible",
    ),
    rule(
        "gpu-hardware-error",
        r"amdgpu.*(?:uncorrectable (?:hardware )?errors?|poison (?:is )?consum|RAS .*fatal|ERREVENT_ATHUB|ECC error)"
        r"|amdgpu.*RAS records:\d+ exceed|amdgpu.*PCIe Bus Error: severity=Uncorrect",
        unless=r"\b0 (?:new )?uncorrectable|no user action",
    ),
    rule(
        "bar-no-space",
        r"Not enough PCI address space for a large BAR|amdgpu.*Problem resizing BAR"
        r"|BAR \d+:? .*(?:no space for|can't assign; no space|failed to assign).*\[mem size 0x0*[1-9a-f][0-9a-f]{7,}"
        r"|BAR \d+ \[mem size 0x0*[1-9a-f][0-9a-f]{7,} 64bit pref\]: (?:can't assign|failed to assign)",
    ),
    rule(
        "iommu-page-fault",
        r"AMD-Vi: Event logged \[(?:IO_PAGE_FAULT|INVALID_DEVICE_REQUEST|ILLEGAL_DEV_TABLE_ENTRY)"
        r"|DMAR: .*fault addr|Completion-Wait loop timed out",
    ),
    rule(
        "kfd-iommu",
        r"kfd.*(?:error getting iommu info|Failed to (?:resume|init) IOMMU)|error initializing iommuv2",
    ),
    rule(
        "crat-invalid",
        r"(?:invalid|error|failed|failure).{0,40}\bCRAT\b|\bCRAT\b.{0,40}(?:invalid|error|failed|corrupt)",
        unless=r"Ignoring ACPI CRAT",
    ),
    rule("svm-failed", r"SVM mapping failed|Failed to register (?:hmm|HMM)|svm_range.*failed|failed to allocate svm"),
    rule("gpu-out-of-memory", r"Not enough memory for command submission|amdgpu.*(?:out of memory|OOM).*(?:VRAM|vram)"),
    rule(
        "blacklist-left-behind",
        r"(?:modprobe\.blacklist|module_blacklist)=(?:[\w,-]*,)?amdgpu\b|Module amdgpu is blacklisted"
        r"|amdgpu.*blacklisted",
    ),
    rule(
        "nomodeset",
        r"Booted with the nomodeset parameter|VGACON disables? amdgpu|(?:Command line|cmdline):.*\bnomodeset\b",
    ),
    rule(
        "module-option-invalid",
        rf"{_OURS}: (?:\w+ has invalid value|unknown parameter|'?\S+'? invalid for parameter|parameter \S+ is invalid)",
    ),
)
# Only noted where the system works nevertheless: a module without a valid signature is loaded and taints the kernel
# unless Secure Boot is on, and many GPUs need no atomics.
WEAK_RULES = (
    rule("secure-boot-unsigned", r"PKCS#7 signature not signed with a trusted key|Request for unknown module key"),
    rule("pcie-atomics", r"PCIe? atomic ops? (?:is|are) not supported"),
)
_WORKS = {
    "secure-boot-unsigned": re.compile(r"module verification failed.*tainting kernel", re.IGNORECASE),
    "pcie-atomics": re.compile(r"kfd.*: added device ", re.IGNORECASE),
}

IDS = frozenset(one.id for one in RULES)


def read_problems(text: str) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the log, each id once with the line that showed it first."""
    lines = plain_lines(text)
    weak = (one for one in WEAK_RULES if not any(map(_WORKS[one.id].search, lines)))
    return problems(matching([*RULES, *weak], lines), lines)
