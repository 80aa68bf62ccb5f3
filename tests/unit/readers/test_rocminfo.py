"""rocminfo through the releases, whole, cut down and failed."""

# Lines of output stand as they were printed.
# ruff: noqa: E501

from __future__ import annotations

import json
import re
import textwrap
from typing import Any

import pytest
import yaml

from ansible_collections.gpufleet.rocm.plugins.filter.rocminfo import rocminfo
from tests.unit.readers.captures import capture, names

Gpu = tuple[str, str | None, int | None, str | None, str | None]

# capture: driver version, GPUs, problem, whether the listing is complete
READINGS: dict[str, tuple[str | None, list[Gpu], str | None, bool]] = {
    "01-mi300x-vf-gfx942": ("6.12.12", [("gfx942", "AMD Instinct MI300X VF", 304, "74b5", "05:00.0")], None, True),
    "03-mi325x-hand-shortened": ("6.14.14", [("gfx942", "AMD Instinct MI325X", 304, "74a5", "75:00.0")], None, False),
    "04-mi250x-one-gcd-four-numa-cpus": (
        None,
        [("gfx90a", "AMD Instinct MI250X", 110, "7408", "d1:00.0")],
        None,
        True,
    ),
    "06-radeon-vii-gfx906-rocm50": (None, [("gfx906", "AMD Radeon VII", 60, "66af", "01:00.0")], None, True),
    "07-mi210-mi50-mi100-mixed-host": (
        None,
        [
            ("gfx90a", "AMD Instinct MI210", 104, "740f", "63:00.0"),
            ("gfx906", "AMD Instinct MI50/MI60", 60, "66a1", "e3:00.0"),
            ("gfx908", "AMD Instinct MI100", 120, "738c", "c3:00.0"),
            ("gfx90a", "AMD Instinct MI210", 104, "740f", "83:00.0"),
        ],
        None,
        False,
    ),
    "10-radeon-vii-x2-celeron-grep-form": (
        None,
        [("gfx906", "AMD Radeon VII", None, None, None)] * 2,
        None,
        False,
    ),
    "11-mi300x-cpx-nps4-two-partitions": (
        None,
        [
            ("gfx942", "AMD Instinct MI300X", 38, "74a1", "05:00.0"),
            ("gfx942", "AMD Instinct MI300X", 38, "74a1", "05:00.1"),
        ],
        None,
        False,
    ),
    "12-mi350x-joined-on-one-line": (None, [("gfx950", "AMD Instinct MI350X", None, None, None)], None, False),
    "13-rx7900xtx-wsl": (None, [("gfx1100", "AMD Radeon RX 7900 XTX", 96, "744c", None)], None, True),
    "15-r9700-and-8060s-after-unset-grep-gfx": (
        None,
        [("gfx1201", None, None, None, None), ("gfx1151", None, None, None, None)],
        None,
        False,
    ),
    "16-raven-ridge-gfx902-rocm3": (
        None,
        [("gfx902", "AMD Ryzen 5 2500U with Radeon Vega Mobile Gfx", 11, "15dd", "04:00.0")],
        None,
        True,
    ),
    "18-rx6900xt-gfx1030-in-tree-driver": (
        None,
        [("gfx1030", "AMD Radeon RX 6900 XT", 80, "73bf", "0c:00.0")],
        None,
        True,
    ),
    "19-phoenix-780m-gfx1103": (None, [("gfx1103", "AMD Radeon Graphics", 12, "15bf", "c3:00.0")], None, True),
    "21-err-kfd-denied-though-member-of-render": (None, [], "kfd-permission", False),
    "22-err-kfd-denied-not-member": (None, [], "kfd-permission", False),
    "24-err-kfd-einval-nogroup": ("6.7.0", [], "kfd-open-failed", False),
    "25-err-kfd-missing": (None, [], "kfd-missing", False),
    # The banner is false: the node opens. The listing is cut off before its first agent.
    "27-err-libkmod-noise-then-kfd-open": (None, [], None, False),
    "28-err-4104-rocm2": (None, [], "hsa-init-failed", False),
    # EPERM is no matter of groups: the driver itself refused.
    "30-err-kfd-eperm-member-of-render": (None, [], "kfd-open-failed", False),
    "31-wsl-rocm61-cpu-agent-named-CPU": (None, [], None, False),
    "33-krackan-gfx1152-npu-grep-form": (
        None,
        [("gfx1152", "AMD Radeon 860M Graphics", None, None, None)],
        None,
        False,
    ),
    "34-7840hs-override-gfx1102-npu-grep-form": (
        None,
        [("gfx1102", "AMD Radeon Graphics", None, None, None)],
        None,
        False,
    ),
}


def gpus(reading: dict[str, Any]) -> list[Gpu]:
    return [tuple(gpu[key] for key in ("gfx", "name", "compute_units", "chip_id", "bdf")) for gpu in reading["gpus"]]


def test_every_capture_is_read() -> None:
    assert names("rocminfo") == [f"rocminfo/{name}" for name in sorted(READINGS)]


@pytest.mark.parametrize("name", READINGS)
def test_capture(name: str) -> None:
    version, expected, problem, complete = READINGS[name]
    reading = rocminfo(capture(f"rocminfo/{name}"))
    assert gpus(reading) == expected
    assert (reading["driver_version"], reading["problem"], reading["complete"]) == (version, problem, complete)
    assert reading["wsl"] == (name == "13-rx7900xtx-wsl")


LOADED = "ROCk module is loaded\n"
NOT_LOADED = "ROCk module is NOT loaded, possibly no GPU devices\n"
REFUSED = LOADED + "Unable to open /dev/kfd read-write: "
RESOURCES = (
    "hsa api call failure at: /src/rocminfo/rocminfo.cc:1142\n"
    "Call returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (NOT_LOADED, "module-not-loaded"),
        ("\x1b[31mROCk module is NOT loaded, possibly no GPU devices\x1b[0m\n", "module-not-loaded"),
        ("sh: 1: lsmod: not found\n" + NOT_LOADED, "module-not-loaded"),
        (NOT_LOADED + "Unable to open /dev/kfd read-write: No such file or directory\n", "module-not-loaded"),
        # Only a loaded driver owns the node that answers.
        (NOT_LOADED + "Unable to open /dev/kfd read-write: Permission denied\n", "kfd-permission"),
        ("\x1b[31mROCk module is NOT live, possibly no GPU devices\x1b[0m\n", "module-not-live"),
        (REFUSED + "No such file or directory\n", "kfd-missing"),
        (REFUSED + 'Permission denied\r\nada is not member of "render" group\r\n', "kfd-permission"),
        (REFUSED + "Cannot allocate memory\nroot is member of render group\n", "kfd-no-usable-device"),
        (REFUSED + "Cannot allocate memory\nroot is member of render group\n" + RESOURCES, "kfd-no-usable-device"),
        (REFUSED + "No such device or address\n", "kfd-no-usable-device"),
        (REFUSED + "No such device\n", "kfd-no-usable-device"),
        (REFUSED + "Bad address\n", "kfd-open-failed"),
        (REFUSED + "Device or resource busy\n", "kfd-open-failed"),
        (REFUSED + "\n", "kfd-open-failed"),
        (LOADED + "carlos is member of video group\n" + RESOURCES, "hsa-init-failed"),
        (LOADED + 'ada is not member of "video" group, the default DRM access group.\n' + RESOURCES, "kfd-permission"),
        (LOADED + "Able to open /dev/kfd read-write\n" + RESOURCES, "hsa-init-failed"),
        ("ROCk module version 6.16.13 is loaded\n" + RESOURCES, "hsa-init-failed"),
        (RESOURCES.replace("_OUT_OF_RESOURCES", ""), "hsa-init-failed"),
        ("rocminfo: error while loading shared libraries: libhsa-runtime64.so.1: cannot open\n", "hsa-init-failed"),
        (
            '<font color="#CC0000">ROCk module is NOT loaded, possibly no GPU devices</font>\n'
            '<font color="#CC0000">Unable to open /dev/kfd read-write: No such file or directory</font>\n',
            "module-not-loaded",
        ),
        (REFUSED + "Invalid argument\nroot is member of nogroup group\n", "kfd-open-failed"),
        (LOADED + "rocminfo: symbol lookup error: rocminfo: undefined symbol: hsa_amd_x\n", "hsa-init-failed"),
        ("rocminfo: libhsa-runtime64.so.1: version `ROCR_1' not found (required by rocminfo)\n", "hsa-init-failed"),
        (LOADED + "Segmentation fault (core dumped)\n", "hsa-init-failed"),
        (LOADED + "rocminfo: amd_topology.cpp:341: Assertion `ret' failed.\nAborted\n", "hsa-init-failed"),
        # What Kubernetes, SLURM and others describe.
        ("Name:         web-0\nNamespace:    default\nNode:         worker-3/10.0.0.7\n", "unparseable"),
        ("Name: worker-3\nFeatures: gpu\nProfile: throughput\nNode: 3\nUuid: 5a1c\n", "unparseable"),
        ("Name: torch\nVersion: 2.8.0\nName: numpy\n", "unparseable"),
        # Crashes of other programs.
        ("Segmentation fault (core dumped)\n", "unparseable"),
        ("", "unparseable"),
        (LOADED, "unparseable"),
        ("bash: rocminfo: command not found\n", "unparseable"),
        ("      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-\n", "unparseable"),
    ],
)
def test_failures(text: str, problem: str) -> None:
    reading = rocminfo(text)
    assert (reading["problem"], reading["gpus"]) == (problem, [])


LISTING = """\
=====================
HSA System Attributes
=====================
Runtime Version:         1.1
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD Eng Sample: 100-000000314-21_42/32_N
  Marketing Name:          AMD Eng Sample: 100-000000314-21_42/32_N
  Vendor Name:             CPU
  Device Type:             CPU
  Chip ID:                 0(0x0)
  BDFID:                   0
  Compute Unit:            16
*******
Agent 2
*******
  Name:                    gfx1151
  Uuid:                    GPU-XX
  Marketing Name:          Radeon 8060S Graphics
  Vendor Name:             AMD
  Device Type:             GPU
  Chip ID:                 5510(0x1586)
  BDFID:                   50432
  Internal Node ID:        1
  Compute Unit:            40
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx1151
    ISA 2
      Name:                    amdgcn-amd-amdhsa--gfx11-generic
*******
Agent 3
*******
  Name:                    aie2p
  Marketing Name:          RyzenAI-npu5
  Vendor Name:             AMD
  Device Type:             DSP
  Chip ID:                 0(0x0)
  Compute Unit:            0
*** Done ***
"""
STRIX_HALO: list[Gpu] = [("gfx1151", "Radeon 8060S Graphics", 40, "1586", "c5:00.0")]


@pytest.mark.parametrize(
    "text",
    [
        LISTING,
        NOT_LOADED + LISTING,
        "lsmod: command not found\n" + NOT_LOADED + "Able to open /dev/kfd read-write\n" + LISTING,
        "\x1b[37mROCk module is loaded\x1b[0m\n" + LISTING,
        'ada is not member of "video" group, the default DRM access group.\n' + LISTING,
        LISTING.replace("\n", "\r\n"),
        " ".join(LISTING.split("\n")),
        " ".join(LISTING.split()),
        "\n".join(f"> {line}" for line in LISTING.split("\n")),
        "\n".join(f"gpu-01: {line}" for line in LISTING.split("\n")),
        "\n".join(f"{number}:{line}" for number, line in enumerate(LISTING.split("\n"), 1)),
        "\n".join(line.strip() for line in LISTING.split("\n")),
        "\ufeff" + LISTING,
        "\n".join(f"rocm-1  | {line}" for line in LISTING.split("\n")),
        "\n".join(f"2026-05-06T12:00:00.123456789Z {line}" for line in LISTING.split("\n")),
        "\n".join(f"[2026-05-06T12:00:00Z] {line}" for line in LISTING.split("\n")),
        "\n".join(f"May  6 12:00:00 gpu-01 rocminfo[812]: {line}" for line in LISTING.split("\n")),
        "\n".join(f"[1,0]<stdout>:{line}" for line in LISTING.split("\n")),
        f'<pre><font color="#D3D7CF">ROCk module is loaded</font>\n{LISTING}</pre>',
        json.dumps({"stdout": f"\x1b[37mROCk module is loaded\x1b[0m\n{LISTING}"}),
        json.dumps({"stdout_lines": LISTING.split("\n")}, indent=4),
        "\n".join(f"  - '{line}'" for line in LISTING.split("\n")),
    ],
    ids=[
        "plain",
        "banner",
        "lsmod",
        "colours",
        "groups",
        "windows",
        "joined",
        "squeezed",
        "quoted",
        "pdsh",
        "numbered",
        "flush",
        "bom",
        "compose",
        "kubernetes",
        "brackets",
        "journal",
        "mpi",
        "html",
        "json",
        "json-lines",
        "yaml-lines",
    ],
)
def test_a_listing_wins(text: str) -> None:
    reading = rocminfo(text)
    assert gpus(reading) == STRIX_HALO
    assert (reading["problem"], reading["complete"]) == (None, True)


@pytest.mark.parametrize(
    "agent",
    [
        "Name: EPYC\nMarketing Name: EPYC\n",
        "Name: EPYC\nUuid: CPU-XX\n",
        "Name: EPYC\nDevice Type: CPU\n",
        "Name: EPYC\nCompute Unit: 16\n",
        "Name: EPYC\nBDFID: 0\n",
        "Name: EPYC\nInternal Node ID: 0\n",
        "Name: aie2\nWavefront Size: 0\n",
        "Name: aie2\nQueue Max Size: 0\n",
    ],
)
def test_a_processor_alone_is_a_listing(agent: str) -> None:
    reading = rocminfo(agent)
    assert (reading["gpus"], reading["problem"]) == ([], None)


RESULT = {
    "changed": False,
    "rc": 0,
    "stderr": "",
    "stderr_lines": [],
    "stdout": LISTING,
    "stdout_lines": LISTING.split("\n"),
}
WRAPPED = yaml.safe_dump({"answer": RESULT}, width=60)
BLOCKS = "stdout: |-\n" + textwrap.indent(LISTING, "    ")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RESULT),
        json.dumps(RESULT, indent=4),
        f"ok: [gpu-01] => {json.dumps(RESULT)}\n\nok: [gpu-01] => {json.dumps({'answer': RESULT}, indent=4)}\n",
        json.dumps(RESULT)[:-400],
        json.dumps({"answer.stdout_lines": LISTING.split("\n")}),
        WRAPPED,
        f"ok: [gpu-01] => \n{textwrap.indent(WRAPPED, '    ')}",
        BLOCKS + "stdout_lines: <omitted>\n",
        f"{textwrap.indent(BLOCKS, '  ')}  stdout_lines:\n"
        + "".join(f"  - '{line}'\n" for line in LISTING.split("\n")),
        f"{BLOCKS}TASK\nok => \n{textwrap.indent(BLOCKS, '  ')}",
        f"{BLOCKS}ok: [gpu-01] => {json.dumps(RESULT)}\n",
    ],
    ids=[
        *("json", "indented", "-v", "cut", "lines", "yaml", "debug", "omitted", "yaml-lines", "yaml -v", "both"),
    ],
)
def test_a_result_of_ansible_is_read_once(text: str) -> None:
    reading = rocminfo(text)
    assert gpus(reading) == STRIX_HALO
    assert (reading["problem"], reading["complete"]) == (None, True)


def test_grep_in_a_result_of_ansible() -> None:
    output = "  Name:   gfx1100\n  Name:   gfx1100"
    result = {"stdout": output, "stdout_lines": output.split("\n")}
    for text in (json.dumps(result), json.dumps(result, indent=2), yaml.safe_dump(result)):
        assert [gpu["gfx"] for gpu in rocminfo(text)["gpus"]] == ["gfx1100", "gfx1100"]


def test_a_listing_that_comes_twice_is_one() -> None:
    text = LISTING.replace("BDFID:                   50432", "BDFID:                   50432\n  Node:  1")
    assert gpus(rocminfo(LISTING + LISTING)) == STRIX_HALO
    assert gpus(rocminfo(text + text)) == STRIX_HALO
    # Cut off in the middle of the second copy.
    assert gpus(rocminfo(LISTING + LISTING[: LISTING.index("  Compute Unit:            40")])) == STRIX_HALO
    other = LISTING.replace("Node ID:        1", "Node ID:        2")
    assert gpus(rocminfo(LISTING + other)) == STRIX_HALO * 2


def test_lines_are_as_good_as_text() -> None:
    assert rocminfo(LISTING.split("\n")) == rocminfo(LISTING)


def test_a_failure_after_the_listing_counts() -> None:
    reading = rocminfo(LISTING.replace("*** Done ***\n", RESOURCES))
    assert (reading["problem"], gpus(reading)) == ("hsa-init-failed", STRIX_HALO)


def test_a_gpu_type_without_a_target_is_no_gpu() -> None:
    assert rocminfo("Name: Fiji\nDevice Type: GPU\n")["gpus"] == []
    assert rocminfo("Name: gfx803\nDevice Type: CPU\n")["gpus"] == []


@pytest.mark.parametrize(
    "text",
    [
        "GPU[0]\t\t: Device Name: \t\tgfx942\n",
        "GPU: 0\n    ASIC:\n        MARKET_NAME: AMD Instinct MI300X\n        TARGET_GRAPHICS_VERSION: gfx942\n",
        "  Device Type:\t\t\t CL_DEVICE_TYPE_GPU\n  Board name:\t\t\t AMD Radeon VII\n  Name:\t\t\t gfx906:sramecc+:xnack-\n",
        "  Device Name                                     gfx1100\n  Device Type                                     GPU\n",
        "gfx000\ngfx942\n",
        "The MI300X (gfx942) is a GPU. Name: it as you like; gfx90a and gfx1100 are GPUs too.\n",
    ],
    ids=["rocm-smi", "amd-smi", "clinfo-amd", "clinfo", "enumerator", "prose"],
)
def test_other_tools_name_no_agents(text: str) -> None:
    assert rocminfo(text)["gpus"] == []


@pytest.mark.parametrize("keep", ["gfx", "Name", "Name|Device Type", "Agent|Name|Uuid|Compute Unit"])
def test_grep_leaves_the_gpu(keep: str) -> None:
    kept = "\n".join(line for line in LISTING.split("\n") if re.search(keep, line))
    assert [gpu["gfx"] for gpu in rocminfo(kept)["gpus"]] == ["gfx1151"]


def test_a_processor_named_like_an_accelerator_is_none() -> None:
    text = (
        "  Name:  AMD Instinct MI300A Accelerator\n  Marketing Name:  AMD Instinct MI300A Accelerator\n  Device Type:  CPU\n"
        "  Name:  gfx942\n  Marketing Name:  AMD Instinct MI300A\n  Device Type:  GPU\n  Chip ID:  29856(0x74a0)\n"
        "  BDFID:  256\n  Compute Unit:  228\n"
    )
    assert gpus(rocminfo(text)) == [("gfx942", "AMD Instinct MI300A", 228, "74a0", "01:00.0")]


def test_features_in_the_name_of_an_old_release() -> None:
    text = (
        "  Name:  gfx906+sram-ecc\n  Marketing Name:  Vega 20\n  Device Type:  GPU\n  Chip ID:  26272\n  BDFID:  768\n"
    )
    assert gpus(rocminfo(text)) == [("gfx906", "Vega 20", None, "66a0", "03:00.0")]


def test_rocm_1_form() -> None:
    text = (
        "Agent 2\n  Name:  gfx803\n  Vendor Name:  AMD\n  Device Type:  GPU\n  ISA Info:\n   Name:  AMD:AMDGPU:8:0:3\n"
    )
    assert gpus(rocminfo(text)) == [("gfx803", None, None, None, None)]
