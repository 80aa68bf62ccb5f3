"""The kernel log of hosts with broken GPUs, and of healthy ones."""

# Lines of output stand as they were printed.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.dmesg_problems import dmesg_problems
from tests.unit.readers.captures import capture, names

# capture: ids with the words that the evidence must hold
READINGS: dict[str, list[tuple[str, str]]] = {
    "01-atomics-rejected": [("pcie-atomics", "skipped device 1002:67df, PCI rejects atomics")],
    "03-did-missing-in-kfd": [("gpu-unknown-to-kfd", "DID 7340 is missing")],
    "04-unknown-symbol-iommu-no-modules-extra": [("modules-extra-missing", "Unknown symbol amd_iommu_bind_pasid")],
    "06-chip-not-supported-by-kfd": [("gpu-unsupported", "PITCAIRN  not supported in kfd")],
    "07-vf-mailbox-hang": [("vf-mailbox-timeout", "0000:08:00.0: amdgpu: trn=2 ACK should not assert")],
    # Banners of a driver that works.
    "09-dkms-driver-banner": [],
    "10-navi31-ip-discovery": [("module-option-invalid", "sched_policy has invalid value")],
    # The PCI scan names every device, whoever drives it.
    "12-mi100-large-bar-pci-scan": [],
    # Hidden from compute on purpose.
    "13-igpu-crat-disabled": [],
    "15-gfxhub-page-fault": [("gpu-page-fault", "0000:c2:00.0: amdgpu: [gfxhub] page fault")],
    "16-vega10-kvm-probe-fail": [("driver-probe-failed", "probe of 0000:00:09.0 failed with error -22")],
}


def test_every_capture_is_read() -> None:
    assert names("dmesg") == [f"dmesg/{name}" for name in sorted(READINGS)]


@pytest.mark.parametrize("name", READINGS)
def test_capture(name: str) -> None:
    found = dmesg_problems(capture(f"dmesg/{name}"))
    assert [problem["id"] for problem in found] == [id for id, _ in READINGS[name]]
    for problem, (_, words) in zip(found, READINGS[name], strict=True):
        assert words in problem["evidence"]


@pytest.mark.parametrize(
    ("id", "line"),
    [
        ("pcie-atomics", "[    1.1] kfd kfd: skipped device 1002:67ef, PCI rejects atomics"),
        (
            "driver-probe-failed",
            "kern  :err   : [    5.161923] amdgpu 0000:30:00.0: amdgpu: Fatal error during GPU init",
        ),
        (
            "pcie-atomics",
            "kern  :warn  : [Mon Dec 18 08:34:36 2023] kfd kfd: amdgpu: skipped device 1002:67df, PCI rejects atomics",
        ),
        (
            "gpu-hang",
            "2024-12-18T08:34:36,123456+00:00 amdgpu 0000:0b:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=100, emitted seq=102",
        ),
        ("driver-probe-failed", "[    4.1][  T812] amdgpu 0000:0b:00.0: amdgpu: Fatal error during GPU init"),
        (
            "firmware-missing",
            "[    4.1] [drm:amdgpu_ucode_request [amdgpu]] *ERROR* fail to request_firmware named amdgpu/gc_11_0_0_pfp.bin",
        ),
        (
            "gpu-hang",
            "[    4.1] amdgpu 0000:c7:00.0: amdgpu: SMU: I'm not done with your previous command: SMN_C2PMSG_66:0x00000006 SMN_C2PMSG_82:0x00000000",
        ),
        ("gpu-hang", "[    4.1] amdgpu 0000:03:00.0: amdgpu: MES ring buffer is full."),
        ("gpu-hang", "[    4.1] amdgpu 0000:03:00.0: amdgpu: GPU reset(2) failed"),
        (
            "gpu-lost",
            "[    4.1] amdgpu 0000:03:00.0: Unable to change power state from D3cold to D0, device inaccessible",
        ),
        (
            "gpu-hardware-error",
            "[  100.0] amdgpu 0000:c7:00.0: amdgpu: RAS event of type ERREVENT_ATHUB_INTERRUPT detected!",
        ),
        (
            "gpu-hardware-error",
            "[  100.0] amdgpu 0000:c7:00.0: amdgpu: RAS records:130 exceed threshold:128, GPU will not be initialized. Replace this GPU or increase the threshold",
        ),
        ("module-kernel-mismatch", "modprobe: ERROR: could not insert 'amdgpu': Exec format error"),
        (
            "gpu-hang",
            "[    4.212601] amdgpu 0000:03:00.0: [drm:amdgpu_ib_ring_tests [amdgpu]] *ERROR* IB test failed on comp_1.0.1 (-110).",
        ),
        (
            "modules-extra-missing",
            "modprobe: FATAL: Module amdgpu not found in directory /lib/modules/6.8.0-1021-azure",
        ),
        (
            "gpu-hardware-error",
            "amdgpu 0000:03:00.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
        ),
        ("pcie-atomics", "[    1.1] kfd kfd: amdgpu: skipped device 1002:7341, PCI rejects atomics 123<145"),
        ("pcie-atomics", "[    1.1] [drm] PCIE atomic ops is not supported"),
        ("gpu-unsupported", "[    0.7] kfd kfd: kfd not supported on this ASIC"),
        ("gpu-unsupported", "[    4.6] kfd kfd: amdgpu: OLAND  not supported in kfd"),
        ("gpu-unsupported", "amdgpu 0000:01:00.0: amdgpu: SI support provided by radeon. Use radeon.si_support=0"),
        ("modules-extra-missing", "[    5.0] amdkfd: Unknown symbol amd_iommu_free_device (err -2)"),
        ("module-kernel-mismatch", "[    5.0] amdgpu: Unknown symbol drm_dp_add_payload_part2 (err -22)"),
        ("module-kernel-mismatch", "[    5.0] amdkcl: disagrees about version of symbol module_layout"),
        ("module-kernel-mismatch", "amdgpu: version magic '6.8.0-41-generic SMP' should be '6.8.0-44-generic SMP'"),
        ("module-kernel-mismatch", "modprobe: ERROR: could not insert 'amdgpu': Invalid module format"),
        ("secure-boot-unsigned", "[    4.1] Loading of unsigned module is rejected"),
        ("secure-boot-unsigned", "[    4.1] amdkcl: Loading of module with unavailable key is rejected"),
        ("secure-boot-unsigned", "[    4.1] Lockdown: modprobe: unsigned module loading is restricted; see man"),
        ("secure-boot-unsigned", "modprobe: ERROR: could not insert 'amdgpu': Key was rejected by service"),
        ("secure-boot-unsigned", "modprobe: ERROR: could not insert 'amdgpu': Required key not available"),
        ("secure-boot-unsigned", "[    4.1] PKCS#7 signature not signed with a trusted key"),
        (
            "firmware-missing",
            "amdgpu 0000:01:00.0: Direct firmware load for amdgpu/polaris12_mc.bin failed with error -2",
        ),
        ("firmware-missing", "amdgpu 0000:c4:00.0: firmware: failed to load amdgpu/gc_11_5_1_pfp.bin (-2)"),
        ("firmware-missing", 'amdgpu 0000:03:00.0: amdgpu: Failed to load firmware "amdgpu/psp_14_0_3_sos.bin"'),
        ("vbios-missing", "amdgpu 0000:00:09.0: amdgpu: Unable to locate a BIOS ROM"),
        ("driver-probe-failed", "amdgpu 0000:c2:00.0: probe with driver amdgpu failed with error -22"),
        ("driver-probe-failed", "[    4.8] amdgpu 0000:01:00.0: amdgpu: Fatal error during GPU init"),
        ("driver-probe-failed", "[drm:amdgpu_device_init [amdgpu]] *ERROR* hw_init of IP block <psp> failed -22"),
        ("kfd-device-failed", "kfd kfd: amdgpu: device 1002:15dd NOT added due to errors"),
        ("kfd-iommu", "kfd kfd: error getting iommu info. is the iommu enabled?"),
        ("vf-mailbox-timeout", "amdgpu 0000:08:00.0: amdgpu: failed to request full gpu access"),
        ("vf-mailbox-timeout", "[   10.0] [drm:xgpu_nv_mailbox_trans_msg [amdgpu]] *ERROR* Doesn't get ack from pf"),
        ("gpu-page-fault", "amdgpu 0000:41:00.0: amdgpu: [mmhub0] no-retry page fault (src_id:0 ring:40 vmid:8)"),
        ("gpu-page-fault", "amdgpu 0000:0b:00.0: GPU fault detected: 147 0x0c604402"),
        ("gpu-hang", "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=613206"),
        ("gpu-hang", "[drm:mes_v11_0_submit_pkt [amdgpu]] *ERROR* MES failed to response msg=2"),
        ("gpu-hang", "amdgpu: qcm fence wait loop timeout expired"),
        ("gpu-lost", "amdgpu 0000:0d:00.0: amdgpu: device lost from bus!"),
        ("gpu-hardware-error", "amdgpu 0000:26:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block"),
        ("bar-no-space", "[drm] Not enough PCI address space for a large BAR."),
        ("bar-no-space", "pci 0000:e3:00.0: BAR 0: no space for [mem size 0x800000000 64bit pref]"),
        ("bar-no-space", "pci 0000:e3:00.0: BAR 0 [mem size 0x800000000 64bit pref]: can't assign; no space"),
        (
            "iommu-page-fault",
            "AMD-Vi: Event logged [IO_PAGE_FAULT device=0b:00.0 domain=0x0013 address=0x1120 flags=0x0070]",
        ),
        ("crat-invalid", "kfd kfd: amdgpu: Invalid CRAT table, image size is too small"),
        ("svm-failed", "amdgpu: SVM mapping failed, exceeds resident system memory limit"),
        ("gpu-out-of-memory", "[drm:amdgpu_cs_ioctl [amdgpu]] *ERROR* Not enough memory for command submission!"),
        (
            "blacklist-left-behind",
            "Command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 modprobe.blacklist=nouveau,amdgpu quiet",
        ),
        ("nomodeset", "Booted with the nomodeset parameter. Only the system framebuffer will be available"),
        ("module-option-invalid", "amdgpu: unknown parameter 'si_suport' ignored"),
        ("gpu-unsupported", "amdgpu 0000:01:00.0: amdgpu: unsupported asic type 0x5"),
        ("gpu-unsupported", "amdgpu: unknown asic: 0x7e"),
        ("gpu-unsupported", "amdgpu 0000:01:00.0: CIK support disabled by module param"),
        (
            "secure-boot-unsigned",
            "Key was rejected by service: loading amdgpu from /lib/modules/6.8.0-44-generic/updates/dkms/amdgpu.ko",
        ),
        ("firmware-missing", "[drm:amdgpu_device_init [amdgpu]] *ERROR* Failed to get ip discovery firmware"),
        ("firmware-missing", "amdgpu 0000:03:00.0: amdgpu: Failed to load gpu_info firmware"),
        ("firmware-rejected", "[drm:psp_hw_start [amdgpu]] *ERROR* PSP load kdb failed!"),
        ("firmware-rejected", "amdgpu 0000:03:00.0: amdgpu: PSP firmware loading failed"),
        ("firmware-rejected", "[drm:psp_v13_0_load_toc [amdgpu]] *ERROR* failed to load asd"),
        ("driver-probe-failed", "amdgpu 0000:03:00.0: amdgpu: amdgpu_device_ip_init failed"),
        (
            "driver-probe-failed",
            "[drm:amdgpu_device_ip_early_init [amdgpu]] *ERROR* early_init of IP block <gmc_v9_0> failed -19",
        ),
        ("driver-probe-failed", "amdgpu: probe of 0000:03:00.0 failed with error -12"),
        ("vbios-missing", "amdgpu 0000:03:00.0: amdgpu: No VBIOS for the device"),
        ("kfd-device-failed", "kfd kfd: amdgpu: Error adding device to topology"),
        (
            "vf-mailbox-timeout",
            "[drm:xgpu_nv_mailbox_rcv_msg [amdgpu]] *ERROR* Doesn't get READY_TO_ACCESS_GPU from pf, give up",
        ),
        ("vf-mailbox-timeout", "amdgpu 0000:08:00.0: amdgpu: Doesn't get msg:3 from pf, error=-62"),
        ("vf-mailbox-timeout", "amdgpu 0000:08:00.0: amdgpu: VF exclusive mode timeout"),
        ("vf-mailbox-timeout", "amdgpu 0000:08:00.0: amdgpu: failed to get GPU full access"),
        ("vf-mailbox-timeout", "amdgpu 0000:08:00.0: amdgpu: mailbox request timed out"),
        ("vf-mailbox-timeout", "amdgpu 0000:08:00.0: amdgpu: timeout in mailbox interrupt"),
        (
            "gpu-page-fault",
            "amdgpu 0000:0b:00.0: amdgpu: [gfxhub] retry page fault (src_id:0 ring:0 vmid:8 pasid:32770)",
        ),
        ("gpu-page-fault", "amdgpu 0000:0b:00.0: amdgpu: vmhub0 page fault"),
        ("gpu-page-fault", "amdgpu 0000:0b:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00841051"),
        ("gpu-page-fault", "amdgpu 0000:0b:00.0:   VM_CONTEXT1_PROTECTION_FAULT_ADDR   0x00000000"),
        ("gpu-page-fault", "amdgpu: page fault (src_id:0 ring:24 vmid:3)"),
        ("gpu-page-fault", "amdgpu 0000:0b:00.0: amdgpu: Memory access fault by GPU node-1"),
        ("gpu-hang", "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!"),
        ("gpu-hang", "amdgpu 0000:03:00.0: amdgpu: GPU reset end with ret = -62"),
        ("gpu-hang", "amdgpu 0000:03:00.0: amdgpu: GPU recovery disabled."),
        ("gpu-hang", "amdgpu 0000:03:00.0: amdgpu: SMU: No response msg_reg: 6 resp_reg: 0"),
        ("gpu-hang", "amdgpu: The cp might be in an unrecoverable state due to an unsuccessful queues preemption"),
        ("gpu-hang", "kfd kfd: amdgpu: HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out"),
        ("gpu-lost", "amdgpu 0000:0d:00.0: amdgpu: device unplugged, skipping"),
        ("gpu-lost", "amdgpu 0000:0d:00.0: amdgpu: GPU is lost from the bus"),
        ("gpu-lost", "amdgpu 0000:0d:00.0: amdgpu: GPU has fallen off the bus"),
        ("gpu-hardware-error", "amdgpu 0000:26:00.0: amdgpu: poison is consumed by client 12, kick off gpu reset flow"),
        ("gpu-hardware-error", "amdgpu 0000:26:00.0: amdgpu: RAS reported a fatal event"),
        ("gpu-hardware-error", "amdgpu 0000:26:00.0: amdgpu: ECC error detected in SRAM"),
        ("bar-no-space", "amdgpu 0000:03:00.0: amdgpu: Problem resizing BAR0 (-16)."),
        ("bar-no-space", "pci 0000:e3:00.0: BAR 0: failed to assign [mem size 0x800000000 64bit pref]"),
        (
            "iommu-page-fault",
            "DMAR: [DMA Read NO_PASID] Request device [0b:00.0] fault addr 0xffff0000 [fault reason 0x06] PTE Read access is not set",
        ),
        ("iommu-page-fault", "AMD-Vi: Completion-Wait loop timed out"),
        (
            "iommu-page-fault",
            "amdgpu 0000:0b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 address=0x1120 flags=0x0070]",
        ),
        (
            "iommu-page-fault",
            "AMD-Vi: Event logged [INVALID_DEVICE_REQUEST device=0000:0b:00.0 pasid=0x00000 address=0xfffffffdf8000000 flags=0x0a00]",
        ),
        ("kfd-iommu", "kfd kfd: amdgpu: error initializing iommuv2 for device 1002:15d8"),
        ("kfd-iommu", "kfd kfd: Failed to resume IOMMU for device 1002:15dd"),
        ("crat-invalid", "amdgpu: CRAT table is corrupt, ignored"),
        ("svm-failed", "amdgpu: Failed to register hmm device memory"),
        ("svm-failed", "amdgpu: svm_range_validate_and_map failed -14"),
        ("svm-failed", "amdgpu 0000:26:00.0: amdgpu: failed to allocate svm bo"),
        ("gpu-out-of-memory", "amdgpu 0000:26:00.0: amdgpu: out of memory: no VRAM left"),
        ("blacklist-left-behind", "modprobe: ERROR: Module amdgpu is blacklisted"),
        ("blacklist-left-behind", "Command line: BOOT_IMAGE=/vmlinuz module_blacklist=amdgpu"),
        ("nomodeset", "Command line: BOOT_IMAGE=/boot/vmlinuz-6.8.0-44-generic root=/dev/sda1 ro nomodeset quiet"),
        ("nomodeset", "[drm:amdgpu_init [amdgpu]] *ERROR* VGACON disables amdgpu kernel modesetting."),
        ("module-option-invalid", "amdgpu: 'x' invalid for parameter 'vm_size'"),
        ("module-option-invalid", "amdgpu: parameter vm_size is invalid"),
    ],
)
def test_known_complaint(id: str, line: str) -> None:
    assert dmesg_problems(f"Nov 30 10:00:00 gpu01 kernel: {line}\n") == [
        {"id": id, "evidence": f"Nov 30 10:00:00 gpu01 kernel: {line}"}
    ]


@pytest.mark.parametrize(
    "text",
    [
        "amdgpu: module verification failed: signature and/or required key missing - tainting kernel",
        "PKCS#7 signature not signed with a trusted key\n"
        "amdkcl: module verification failed: signature and/or required key missing - tainting kernel",
        "amdgpu 0000:01:00.0: amdgpu: PCIE atomic ops is not supported\nkfd kfd: amdgpu: added device 1002:73ff",
        "amdgpu 0000:19:00.0: Direct firmware load for amdgpu/vega20_ta.bin failed with error -2",
        "amdgpu 0000:65:00.0: Direct firmware load for amdgpu/isp_4_1_0.bin failed with error -2",
        "amdgpu 0000:03:00.0: amdgpu: SMU driver if version not matched",
        "amdgpu 0000:03:00.0: amdgpu: RAP: optional rap ta ucode is not available",
        "amdgpu 0000:01:00.0: amdgpu: Trusted Memory Zone (TMZ) feature not supported",
        "amdgpu 0000:2a:00.0: Invalid PCI ROM header signature: expecting 0xaa55, got 0xffff",
        "radeon 0000:01:00.0: SI support disabled by module param",
        "amdgpu: Ignoring ACPI CRAT on non-APU system\namdgpu: Virtual CRAT table created for CPU",
        "pci 0000:00:1c.0: BAR 13: no space for [io  size 0x1000]",
        "pcieport 0000:00:01.1: BAR 15: failed to assign [mem size 0x00200000 64bit pref]",
        "nouveau 0000:01:00.0: probe with driver nouveau failed with error -12",
        "vboxdrv: Unknown symbol kvm_get_kvm (err -2)",
        "amdgpu 0000:26:00.0: amdgpu: 0 uncorrectable hardware errors detected in gfx block",
        "amdgpu 0000:26:00.0: amdgpu: socket: 0, die: 0, 0 new uncorrectable hardware errors detected in umc block",
        "amdgpu 0000:26:00.0: amdgpu: socket: 0, die: 0, 3 new correctable hardware errors detected in umc block",
        "amdgpu 0000:03:00.0: Direct firmware load for amdgpu/psp_13_0_7_ta.bin failed with error -2",
        "iwlwifi 0000:02:00.0: Direct firmware load for iwlwifi-cc-a0-77.ucode failed with error -2",
        "NVRM: Xid (PCI:0000:01:00): 79, pid=812, GPU has fallen off the bus.",
        "i915 0000:00:02.0: [drm] GPU HANG: ecode 9:1:85dffffb, in Xorg [812]",
        "i915: unknown parameter 'foo' ignored",
        "Kernel command line: BOOT_IMAGE=/vmlinuz root=x ro modprobe.blacklist=nouveau,radeon",
        "amdgpu 0000:cc:00.0: BAR 6: can't assign [??? 0x00000000 flags 0x20000000] (bogus alignment)",
        "pcieport 0000:00:1c.0: BAR 13: no space for [io  size 0x1000]",
        "amdgpu 0000:03:00.0: amdgpu: GPU reset(1) succeeded!",
        "amdgpu: CRAT table not found\namdgpu: SRAT table not found\namdgpu: CRAT table disabled by module option",
        "lpfc 0000:5e:00.0: 0:(0):0310 Mailbox command x5 timeout Data: x0 x700 xff",
        "qla2xxx [0000:05:00.0]-1005:1: Mailbox command timeout occurred. Scheduling ISP abort.",
        "i40e 0000:17:00.0: failed to get access",
        "mlx5_core 0000:17:00.0: Doesn't get ack from pf",
        "kvm: SVM mapping failed",
        "nouveau: Failed to register hmm device",
        "nouveau 0000:01:00.0: SVM mapping failed",
        "mlx5_core 0000:17:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 address=0x1120 flags=0x0070]",
        "mlx5_core 0000:17:00.0: firmware version: 20.35\nAMD-Vi: Event logged [IO_PAGE_FAULT device=17:00.0 domain=0x0013 address=0x1120 flags=0x0070]",
        "nvme nvme0: pci function 0000:17:00.0\nnvme 0000:17:00.0: enabling device\nDMAR: [DMA Read] Request device [17:00.0] fault addr ffff0000",
        "radeon 0000:01:00.0: ring gfx timeout",
        "i915 0000:00:02.0: Fatal error during GPU init",
        "radeon 0000:01:00.0: GPU fault detected: 147 0x0c604402",
        "xe 0000:03:00.0: VM_CONTEXT1_PROTECTION_FAULT",
        "nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible",
        "nvme 0000:02:00.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer",
        "EDAC MC0: 2 uncorrectable errors detected in memory",
        "ACPI: CRAT 0x00000000 000F28 (v01 AMD    AMD CRAT 00000001)\nACPI Error: failed CRAT evaluation",
        "virtio: out of memory: no VRAM left",
        "sfc 0000:03:00.0: Key was rejected by service",
        "i915 0000:00:02.0: [drm] Failed to load guc firmware",
        "ccp 0000:22:00.1: PSP firmware load failed",
        "radeon 0000:01:00.0: Unable to locate a BIOS ROM",
        "xe 0000:03:00.0: Problem resizing BAR0 (-16).",
        "arm-smmu: Failed to init IOMMU",
        "thunderbolt 0-1: Error adding device to topology",
        "parm:           lockup_timeout:GPU lockup timeout in ms (string)\nparm:           ras_enable:int",
    ],
)
def test_what_only_looks_alarming(text: str) -> None:
    assert dmesg_problems(text) == []


FAULT = "AMD-Vi: Event logged [IO_PAGE_FAULT device=0b:00.1 domain=0x0013 address=0x1120 flags=0x0070]"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "amdgpu 0000:0b:00.0: enabling device (0006 -> 0007)",
        # The sound of the GPU.
        "amdgpu 0000:0b:00.0: enabling device (0006 -> 0007)\nsnd_hda_intel 0000:0b:00.1: Force to non-snoop mode",
        "pci 0000:0b:00.1: [1002:ab38] type 00 class 0x040300\nvfio-pci 0000:0b:00.1: enabling device (0000 -> 0002)",
        "mlx5_core 0000:17:00.0: firmware version: 20.35",
    ],
)
def test_a_fault_of_a_device_that_may_be_the_gpu(before: str) -> None:
    assert [problem["id"] for problem in dmesg_problems(f"{before}\n{FAULT}\n")] == ["iommu-page-fault"]


def test_the_first_fault_of_the_gpu_counts() -> None:
    nic = "mlx5_core 0000:17:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 address=0x1120 flags=0x0070]"
    assert dmesg_problems(f"{nic}\n{FAULT}\n") == [{"id": "iommu-page-fault", "evidence": FAULT}]


def test_each_id_once_in_order() -> None:
    text = capture("dmesg/04-unknown-symbol-iommu-no-modules-extra") + capture("dmesg/01-atomics-rejected") * 3
    assert [problem["id"] for problem in dmesg_problems(text)] == ["modules-extra-missing", "pcie-atomics"]


def test_a_missing_firmware_and_its_consequence() -> None:
    text = (
        "amdgpu 0000:c2:00.0: Direct firmware load for amdgpu/gc_12_0_1_pfp.bin failed with error -2\n"
        "amdgpu 0000:c2:00.0: amdgpu: Fatal error during GPU init\n"
        "amdgpu 0000:c2:00.0: probe with driver amdgpu failed with error -2\n"
    )
    assert [problem["id"] for problem in dmesg_problems(text)] == ["firmware-missing", "driver-probe-failed"]
