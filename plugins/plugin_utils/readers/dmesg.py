"""What the kernel log says against the GPU driver."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import (
    Problem,
    matching,
    problems,
    rule,
)

# The driver, the compute driver and the modules that AMD's package builds beside it, as a name or the start of one.
_NAMES = r"(?:amdgpu|amdkfd|kfd|amdkcl|amdttm|amd_sched|amdxcp|amddrm_\w+|amdchash)"
_OURS = rf"\b{_NAMES}\b"
_DRIVER = rf"\b{_NAMES}"
_SIGNATURE = r"Key was rejected by service|Required key not available"
# From 256 MB on: smaller ones are no memory of a GPU.
_LARGE = r"\[mem size 0x0*[1-9a-f][0-9a-f]{7,}"

RULES = (
    rule("pcie-atomics", r"PCI rejects atomics"),
    rule("gpu-unknown-to-kfd", r"\bDID [0-9a-f]{4} is missing in supported_devices"),
    rule("gpu-unsupported", r"\S\s{1,4}not supported in kfd|kfd not supported on this ASIC"),
    rule(
        "gpu-unsupported",
        r"\b(?:SI|CIK) support (?:provided by radeon|disabled)|unsupported asic|unknown asic",
        where=r"\bamdgpu\b",
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
        r"Loading of (?:unsigned )?module (?:with unavailable key )?is rejected|unsigned module loading is restricted",
    ),
    rule("secure-boot-unsigned", _SIGNATURE, where=_DRIVER),
    # The firmware of the trusted applications (ta, cap) and of the camera (isp) is optional.
    rule(
        "firmware-missing",
        r"(?:Direct firmware load for|firmware: failed to load) (?:amdgpu|radeon)/\S+"
        r"|\bfail(?:ed)? .{0,80}firmware.{0,80} \"?(?:amdgpu|radeon)/\w+\.bin",
        unless=r"(?:_ta|_cap)\.bin|/isp_",
    ),
    rule("firmware-missing", r"Failed to (?:load|get) (?:gpu_info|ip discovery|\w+) firmware", where=_DRIVER),
    rule(
        "firmware-rejected", r"\bPSP (?:firmware )?load(?:ing)? .{0,40}failed|failed to load (?:asd|sos)", where=_DRIVER
    ),
    rule("vbios-missing", r"Unable to locate a BIOS ROM|No (?:valid )?VBIOS", where=_DRIVER),
    rule(
        "driver-probe-failed",
        r"\bprobe (?:of \S+ |with driver \S+ )?failed with error -?\d+|Fatal error during GPU init"
        r"|amdgpu_device_ip_init failed|\b(?:hw|sw|early)_init of IP block \S+ failed",
        where=_DRIVER,
    ),
    rule("kfd-device-failed", r"device \S+ NOT added due to errors|Error adding device to topology", where=_DRIVER),
    rule(
        "vf-mailbox-timeout",
        r"ACK should not assert|Doesn't get .{1,60}from pf|VF exclusive mode timeout"
        r"|failed to (?:get|request) (?:full )?(?:gpu )?(?:full )?access"
        r"|timed? ?out.{0,60}mailbox|mailbox.{0,60}timed? ?out",
        where=_DRIVER,
    ),
    rule(
        "gpu-page-fault",
        r"\b(?:gfxhub|mmhub|vmhub)\d*\]? ?(?:no-retry |retry )?page fault|VM_L2_PROTECTION_FAULT"
        r"|VM_CONTEXT1_PROTECTION_FAULT|GPU fault detected|page fault \(src_id|Memory access fault by GPU",
        where=_DRIVER,
    ),
    rule(
        "gpu-hang",
        r"\bring \S+ timeout|GPU (?:reset(?:\(\d+\))? (?:begin|failed|end with ret = -)|recovery (?:failed|disabled))"
        r"|SMU: (?:I'm not done|No response)|MES ring buffer is full|MES (?:\w+ )?failed to respon(?:d|se)"
        r"|qcm fence wait loop timeout|unsuccessful queues? preemption|queue preemption time ?out|\bIB test failed on",
        where=_DRIVER,
    ),
    rule(
        "gpu-lost",
        r"device (?:is )?lost from bus|lost from the bus|GPU has fallen off|device unplugged"
        r"|Unable to change power state .{0,60}device inaccessible",
        where=_DRIVER,
    ),
    rule(
        "gpu-hardware-error",
        r"uncorrectable (?:hardware )?errors?|poison (?:is )?consum|RAS .{0,60}fatal|ERREVENT_ATHUB|ECC error"
        r"|RAS records:\d+ exceed|PCIe Bus Error: severity=Uncorrect",
        unless=r"\b0 (?:new )?uncorrectable|no user action",
        where=_DRIVER,
    ),
    rule(
        "bar-no-space",
        r"Not enough PCI address space for a large BAR"
        rf"|BAR \d+:? .{{0,40}}(?:no space for|can't assign; no space|failed to assign).{{0,40}}{_LARGE}"
        rf"|BAR \d+ {_LARGE} 64bit pref\]: (?:can't assign|failed to assign)",
    ),
    rule("bar-no-space", r"Problem resizing BAR", where=_DRIVER),
    rule(
        "kfd-iommu",
        r"error getting iommu info|Failed to (?:resume|init) IOMMU|error initializing iommuv2",
        where=_DRIVER,
    ),
    rule(
        "crat-invalid",
        r"(?:invalid|error|failed|failure).{0,40}\bCRAT\b|\bCRAT\b.{0,40}(?:invalid|error|failed|corrupt)",
        where=_DRIVER,
    ),
    rule(
        "svm-failed",
        r"SVM mapping failed|Failed to register hmm|svm_range.{0,80}failed|failed to allocate svm",
        where=_DRIVER,
    ),
    rule(
        "gpu-out-of-memory",
        r"Not enough memory for command submission|out of memory.{0,60}VRAM",
        where=_DRIVER,
    ),
    rule(
        "blacklist-left-behind",
        r"(?:modprobe\.blacklist|module_blacklist)=(?:[\w,-]*,)?amdgpu\b|Module amdgpu is blacklisted",
    ),
    rule(
        "nomodeset",
        r"Booted with the nomodeset parameter|VGACON disables? amdgpu|(?:command line|cmdline):.*\bnomodeset\b",
    ),
    rule(
        "module-option-invalid",
        rf"{_OURS}: (?:\w+ has invalid value|unknown parameter|'?\S+'? invalid for parameter|parameter \S+ is invalid)",
    ),
)
# The IOMMU tells of all devices.
_IOMMU = rule(
    "iommu-page-fault",
    r"AMD-Vi: Event logged \[(?:IO_PAGE_FAULT|INVALID_DEVICE_REQUEST|ILLEGAL_DEV_TABLE_ENTRY)"
    r"|DMAR: .{0,80}fault addr|Completion-Wait loop timed out",
)
_PLACE = r"(?:[0-9a-f]{4,8}:)?(?P<slot>[0-9a-f]{2}:[0-9a-f]{2})\.[0-7]"
_FAULT_AT = re.compile(rf"device[= ]\[?{_PLACE}", re.IGNORECASE)
_DRIVES = re.compile(rf"(?:^|[\s\]])(?P<driver>[a-z][\w-]*) {_PLACE}: ", re.IGNORECASE)
# They name devices that others drive.
_NO_DRIVERS = ("pci", "pcieport", "vfio-pci", "iommu", "vgaarb", "device")
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

IDS = frozenset(one.id for one in (*RULES, _IOMMU))


def read_problems(text: str) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the log, each id once with the line that showed it first."""
    lines = plain_lines(text)
    weak = (one for one in WEAK_RULES if not any(map(_WORKS[one.id].search, lines)))
    found = [*matching([*RULES, *weak], lines), *matching([_IOMMU], lines, _ours(lines))]
    return problems(found, lines)


def _ours(lines: Sequence[str]) -> Sequence[int]:
    """The lines about devices of this driver, and those that name no device, or one whose driver the log does not tell.

    A sound device of a GPU is in the slot of the GPU.
    """
    if not any(map(_IOMMU.matches, lines)):
        return ()
    drivers: dict[str, set[str]] = {}
    for line in lines:
        for match in _DRIVES.finditer(line):
            if match["driver"] not in _NO_DRIVERS:
                drivers.setdefault(match["slot"], set()).add(match["driver"])
    numbers = []
    for number, line in enumerate(lines):
        place = _FAULT_AT.search(line) or _DRIVES.search(line)
        named = drivers.get(place["slot"]) if place else None
        if not named or "amdgpu" in named:
            numbers.append(number)
    return numbers
