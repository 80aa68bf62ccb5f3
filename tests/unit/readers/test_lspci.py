"""lspci in the forms that people pass on."""

# Lines of output stand as they were printed.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.lspci_gpus import lspci_gpus
from tests.unit.readers.captures import capture, names

# address, device, class, driver, virtual function
Gpu = tuple[str, str | None, str | None, str | None, bool | None]

READINGS: dict[str, list[Gpu]] = {
    "01-mi300x-pf-on-gim-and-vf-on-vfio": [
        ("85:00.0", "74a1", "1200", "gim", False),
        ("85:02.0", "74b5", "1200", "vfio-pci", True),
    ],
    "03-pensando-dpu-trap": [],
    "04-rx580-vga-and-audio": [("01:00.0", "67df", "0300", None, False)],
    "06-v620-mxgpu-azure-pci-domain": [("0002:00:00.0", "73ae", "0380", None, True)],
    "07-rx7900xtx-iommu-groups-with-host-bridges": [("03:00.0", "744c", "0300", None, False)],
    "09-rx6650xt-indented-iommu-form": [("09:00.0", "73ef", "0300", None, False)],
    "10-rx9070xt-and-amd-chipset-bridges": [("03:00.0", "7550", "0300", None, False)],
    # The plain lines at the end show the same two devices again.
    "12-gtx1060-plus-cezanne-two-forms": [("09:00.0", "1638", "0300", None, False)],
    # -P names the slots on the way and no bus: the address stays the path.
    "13-rx7600-and-phoenix-host-bridges-path-form": [("00:01.1/00.0/00.0/00.0", "7480", "0300", None, False)],
    "15-fury-polaris-x5-without-nn": [
        ("01:00.0", None, "0300", None, None),
        ("02:00.0", "67df", "0300", None, False),
        ("05:00.0", "67df", "0300", None, False),
        ("06:00.0", "67df", "0300", None, False),
        ("07:00.0", None, "0300", None, None),
    ],
    # 75c1 is in no list: a GPU, and nobody knows of what kind.
    "16-vm-75c1-and-pensando-nic": [("00:06.0", "75c1", "1200", None, None)],
    "18-mi300x-vf-guest-74b5": [("83:00.0", "74b5", "1200", None, True)],
    "19-polaris-x2-tree-old-pciids": [("01:00.0", "67df", None, None, False), ("02:00.0", "67df", None, None, False)],
}


def read(text: str) -> list[Gpu]:
    found = lspci_gpus(text)
    assert all(gpu["vendor"] == "1002" for gpu in found)
    return [tuple(gpu[key] for key in ("address", "device", "class", "driver", "virtual_function")) for gpu in found]


def test_every_capture_is_read() -> None:
    assert names("lspci") == [f"lspci/{name}" for name in sorted(READINGS)]


@pytest.mark.parametrize("name", READINGS)
def test_capture(name: str) -> None:
    assert read(capture(f"lspci/{name}")) == READINGS[name]


def test_plain_output_is_not_no_gpu() -> None:
    plain = "\n".join(capture("lspci/12-gtx1060-plus-cezanne-two-forms").splitlines()[2:])
    assert read(plain) == [("09:00.0", None, "0300", None, None)]


XTX = "Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XT/7900 XTX]"
TREE = """\
-+-[0000:ff]-+-08.0  Intel Corporation Device 6f80
 |           \\-1e.4  Intel Corporation Device 6f9d
 +-[0001:00]-+-00.0  Advanced Micro Devices, Inc. [AMD] Device 14a4
 |           \\-01.1-[01-03]----00.0-[02-03]----00.0-[03]--+-00.0  Advanced Micro Devices, Inc. [AMD/ATI] Navi 31
 |                                                        \\-00.1  Advanced Micro Devices, Inc. [AMD/ATI] Device ab30
 \\-[0000:00]-+-00.0  Advanced Micro Devices, Inc. [AMD] Raphael/Granite Ridge Root Complex
             +-01.1-[01]--+-00.0  Advanced Micro Devices, Inc. [AMD/ATI] Navi 33 [1002:7480]
             |            \\-00.1  Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 HDMI/DP Audio [1002:ab30]
             +-02.0-[02]----00.0  AMD Pensando Systems DSC Ethernet Controller [1dd8:1002]
             \\-08.1-[0c]--+-00.0  Advanced Micro Devices, Inc. [AMD/ATI] Raphael [1002:164e]
                          +-00.1  Advanced Micro Devices, Inc. [AMD/ATI] Radeon High Definition Audio Controller
                          \\-00.2  Advanced Micro Devices, Inc. [AMD] Family 19h PSP/CCP [1022:1649]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"0000:03:00.0 VGA compatible controller: {XTX} (rev c8)", [("0000:03:00.0", None, "0300", None, None)]),
        (f"03:00.0 3D controller: {XTX}", [("03:00.0", None, "0302", None, None)]),
        (
            f"03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c] (rev c8) (prog-if 00 [VGA controller])\n"
            "\tSubsystem: Sapphire Technology Limited Device [1da2:471e]\n"
            "\tFlags: bus master, fast devsel, latency 0, IRQ 96, IOMMU group 17\n"
            "\tMemory at 7800000000 (64-bit, prefetchable) [size=32G]\n"
            "\tCapabilities: <access denied>\n"
            "\tKernel driver in use: amdgpu\n"
            "\tKernel modules: amdgpu\n\n"
            f"03:00.1 Audio device [0403]: {XTX} [1002:ab30]\n"
            "\tKernel driver in use: snd_hda_intel\n",
            [("03:00.0", "744c", "0300", "amdgpu", False)],
        ),
        ("85:00.0 1200: 1002:74a1 (rev 02)\n85:00.1 0403: 1002:ab30\n", [("85:00.0", "74a1", "1200", None, False)]),
        ("83:00.0 Class 0380: Device 1002:740f (rev 02)", [("83:00.0", "740f", "0380", None, False)]),
        (
            "c00c:00:00.0 1200: 1002:74b5\n10000:e1:00.0 1200: 1002:74a1\n",
            [("c00c:00:00.0", "74b5", "1200", None, True), ("10000:e1:00.0", "74a1", "1200", None, False)],
        ),
        ("85:00.0 Class 1200: ATI Technologies Inc Device 74b5", [("85:00.0", "74b5", "1200", None, True)]),
        (
            "85:00.0 Class [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Device [1002:74a1]",
            [("85:00.0", "74a1", "1200", None, False)],
        ),
        (
            "02:00.0 VGA compatible controller: Advanced Micro Devices [AMD] nee ATI Cypress",
            [("02:00.0", None, "0300", None, None)],
        ),
        (
            '03:00.0 "VGA compatible controller [0300]" "Advanced Micro Devices, Inc. [AMD/ATI] [1002]" "Navi 31 [744c]"'
            ' -rc8 "Sapphire [1da2]" "Device [471e]"\n'
            '04:00.0 "0300" "1002" "7480" -rc8 "1da2" "471e"\n'
            '05:00.0 "VGA compatible controller" "Advanced Micro Devices, Inc. [AMD/ATI]" "Navi 31" -rc8 "" ""\n'
            '06:00.0 "0300" "10de" "1002" -ra1 "1002" "744c"\n',
            [
                ("03:00.0", "744c", "0300", None, False),
                ("04:00.0", "7480", "0300", None, False),
                ("05:00.0", None, "0300", None, None),
            ],
        ),
        (
            "Slot:\t0000:03:00.0\nClass:\tVGA compatible controller [0300]\nVendor:\tAdvanced Micro Devices [1002]\n"
            "Device:\tNavi 31 [744c]\nSVendor:\tSapphire [1da2]\nRev:\tc8\nDriver:\tamdgpu\nModule:\tamdgpu\n\n"
            "Slot:\t0000:03:00.1\nClass:\tAudio device [0403]\nVendor:\tAMD [1002]\nDevice:\tNavi 31 [ab30]\n",
            [("0000:03:00.0", "744c", "0300", "amdgpu", False)],
        ),
        # -vm calls the slot Device too.
        (
            "Device:\t03:00.0\nClass:\tVGA compatible controller\nVendor:\tAdvanced Micro Devices, Inc. [AMD/ATI]\nDevice:\tNavi 31\n\n"
            "Device:\t04:00.0\nClass:\tEthernet controller\nVendor:\tIntel Corporation\nDevice:\tI225\n",
            [("03:00.0", None, "0300", None, None)],
        ),
        (
            "Slot:\tc1:00.0\nClass:\tProcessing accelerators [1200]\nVendor:\tAMD [1002]\nDevice:\tMI300X [74a1]\nPhySlot:\t12\nProgIf:\t00\n"
            "Driver:\tamdgpu\n\nSlot:\tc2:00.0\nClass:\tEthernet controller [0200]\nVendor:\tAMD Pensando [1dd8]\nDevice:\tDSC [1002]\n",
            [("c1:00.0", "74a1", "1200", "amdgpu", False)],
        ),
        (
            f"> 03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]\n> \tKernel driver in use: vfio-pci\n",
            [("03:00.0", "744c", "0300", "vfio-pci", False)],
        ),
        (
            f'        "03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]",\n        "\\tKernel driver in use: amdgpu",\n',
            [("03:00.0", "744c", "0300", "amdgpu", False)],
        ),
        (
            f"40:00.0 PCI bridge [0604]: AMD [1022:1471]\n\tKernel driver in use: pcieport\n03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]\n"
            "42:00.0 Ethernet controller [0200]: Intel [8086:1533]\n\tKernel driver in use: igb\n",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        (
            f"00:01.1/01:00.0/02:00.0/03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        (
            f"0001:00:01.1/01:00.0/03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]",
            [("0001:03:00.0", "744c", "0300", None, False)],
        ),
        (
            "Group 18:\t[1002:73ef] [R] 09:00.0  VGA compatible controller                Navi 23 [Radeon RX 6650 XT]",
            [("09:00.0", "73ef", "0300", None, False)],
        ),
        (
            f"IOMMU group 17\n\t03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        (
            f"IOMMU Group 17: 03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        (
            f"node1: 03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        (f"12:03:00.0 VGA compatible controller [0300]: {XTX} [1002:744c]", [("03:00.0", "744c", "0300", None, False)]),
        (
            "03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31\n"
            " [Radeon RX 7900 XT/7900 XTX] [1002:744c] (rev c8)",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        (
            "\x1b[1m03:00.0\x1b[0m VGA compatible controller [0300]: Advanced [\x1b[31mAMD\x1b[0m/ATI] [1002:744c]",
            [("03:00.0", "744c", "0300", None, False)],
        ),
        # No GPUs of ours.
        ("00:00.2 Signal processing controller [1180]: AMD Strix Neural Processing Unit [1022:17f0]", []),
        ("c5:00.1 Processing accelerators: Xilinx Corporation Alveo U250", []),
        ("08:00.0 Processing accelerators [1200]: AMD Pensando Systems Device [1dd8:1002]", []),
        ("08:00.0 Processing accelerators: AMD Pensando Systems Device 1002", []),
        ("c1:00.0 PCI bridge [0604]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 10 XL Upstream Port [1002:1478]", []),
        ("03:00.2 USB controller [0c03]: Advanced Micro Devices, Inc. [AMD/ATI] Device [1002:7446]", []),
        (
            "       product: Navi 31 [1002:744C]\n       vendor: Advanced Micro Devices, Inc. [AMD/ATI] [1002]\n       bus info: pci@0000:03:00.0",
            [],
        ),
        ("My VGA compatible controller is an AMD Radeon [AMD/ATI] card at 03:00.0, I think [1002:744c].", []),
        (
            "01:00.0 VGA compatible controller: NVIDIA Corporation GP106 [GeForce GTX 1060 6GB] (rev a1)\n"
            "[    0.512345] pci 0000:03:00.0: [1002:744c] type 00 class 0x030000",
            [],
        ),
        ("00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 630\nCard 0: [1002:744c]", []),
        ("00:0f.0 VGA compatible controller [0300]: VMware SVGA II Adapter [15ad:0405]", []),
        ("[    6.5] pci 0000:e3:00.0: [1002:738c] type 00 class 0x038000 PCIe Legacy Endpoint", []),
        ("GPU: 0\n    BDF: 0000:c5:00.0\n    UUID: 00ff1586-0000-1000-8000-000000000000\n", []),
        (
            TREE,
            [
                ("0001:03:00.0", None, None, None, None),
                ("01:00.0", "7480", None, None, False),
                ("0c:00.0", "164e", None, None, False),
            ],
        ),
        ("", []),
    ],
)
def test_form(text: str, expected: list[Gpu]) -> None:
    assert read(text) == expected


def test_one_device_in_two_forms_is_one_gpu() -> None:
    text = f"03:00.0 VGA compatible controller: {XTX}\n0000:03:00.0 0300: 1002:744c\n"
    assert read(text) == [("03:00.0", "744c", "0300", None, False)]
