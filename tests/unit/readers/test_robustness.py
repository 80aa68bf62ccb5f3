"""No text makes a reader fail or see a GPU that is not there, whatever became of the output on its way."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.filter.apt_problems import apt_problems
from ansible_collections.gpufleet.rocm.plugins.filter.dkms_status import dkms_status
from ansible_collections.gpufleet.rocm.plugins.filter.dmesg_problems import dmesg_problems
from ansible_collections.gpufleet.rocm.plugins.filter.kfd_nodes import kfd_nodes
from ansible_collections.gpufleet.rocm.plugins.filter.lspci_gpus import lspci_gpus
from ansible_collections.gpufleet.rocm.plugins.filter.python_problems import python_problems
from ansible_collections.gpufleet.rocm.plugins.filter.rocminfo import rocminfo
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import decisions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers import apt, dmesg, python
from tests.unit.readers.captures import KINDS, capture, names

READERS: Mapping[str, Callable[[Any], Any]] = {
    "rocminfo": rocminfo,
    "lspci_gpus": lspci_gpus,
    "dkms_status": dkms_status,
    "kfd_nodes": kfd_nodes,
    "apt_problems": apt_problems,
    "dmesg_problems": dmesg_problems,
    "python_problems": python_problems,
}
TEXTS = {name: capture(name) for kind in KINDS for name in names(kind)}
ROCMINFO_PROBLEMS = {
    "module-not-loaded",
    "module-not-live",
    "kfd-missing",
    "kfd-permission",
    "kfd-open-failed",
    "kfd-no-usable-device",
    "hsa-init-failed",
    "unparseable",
}

# Words that the readers look for, so that arbitrary text comes close to them.
words = st.sampled_from(
    [
        *("Name:", "gfx942", "Device Type:", "GPU", "Marketing Name:", "Chip ID:", "BDFID:", "99999999999999999999"),
        *("03:00.0", "0000:03:00.0", "[0300]:", "VGA compatible controller:", "[1002:744c]", "[AMD/ATI]"),
        *("-[0000:00]-+-", "+-01.0-[01]--+-00.0  ", "nodes/1/properties:", "simd_count", "gfx_target_version"),
        *("location_id", "E: ", "W: ", "(--unpack):", "404  Not Found", "https://a.example", "Release", "torch==2"),
        *(" a-b : Depends: c-d (= 1) but 2", "dkms autoinstall on a/b failed for c(1)", "amdgpu/1, 2, x: installed"),
        *("\x1b[31m", "\r", "\n", "\n", " ", "\t"),
    ]
)
texts = st.one_of(st.text(), st.lists(st.one_of(words, st.text(max_size=5)), max_size=40).map(" ".join))


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A capture with lines lost, doubled, swapped, cut off, joined or changed."""
    lines = draw(st.sampled_from(sorted(TEXTS.values()))).split("\n")
    for _ in range(draw(st.integers(1, 5))):
        place, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        change = draw(st.integers(0, 4))
        if change == 0:
            lines[place : place + draw(st.integers(1, 20))] = [""]
        elif change == 1:
            lines[place], lines[other] = lines[other], lines[place]
        elif change == 2:
            lines[place] = lines[place][: draw(st.integers(0, 40))]
        elif change == 3:
            lines[place] = f"{lines[place]} {lines[other]}"
        else:
            lines[place] += draw(st.text(max_size=5))
    return draw(st.sampled_from(["\n", "\r\n", " "])).join(lines)


# Pieces that patterns with several repetitions could get lost in.
REPEATED = (
    *(
        "aaaa",
        " -",
        "://",
        " [",
        '"',
        "\\",
        "'a ",
        "1.",
        "a: ",
        "(",
        " (from ",
        "<b ",
        "&",
        "> ",
        "a-1 ",
        "E: ",
        "E: ://",
    ),
    *("amdgpu ", "amdgpu: probe ", "kfd: ", "amdgpu RAS ", "amdgpu firmware ", "kfd CRAT ", "BAR 1 ", "DMAR: ", "DID "),
    *("amdgpu 0000:0b:00.0: ", "sqv ", "E: /etc/apt/sources.list.d/a ", "W: 'a/source/b' ", "E: Signed-By ", "dpkg: "),
    *("Tensile ", "certificate ", "LD_LIBRARY_PATH=/rocm/", "torch-1 ", "librocm-", "kfd mailbox ", "SVM ", "Paket "),
    *('"stdout": "a", ', '"stdout_lines": ["a", ', "stdout_lines:\n- a\n", "stdout: |-\n a\n", "- 'a\n"),
    *("Name: gfx942 Node: 1 ", "Name: gfx942\nNode: 1\n", "nodes/1/properties:simd_count 1\n", "simd_count 1\n"),
    *("amdgpu/1, 2, x: installed\n", "make: *** ", "Error! "),
)


def check(text: str) -> None:
    plain = "\n".join(plain_lines(text))
    reading = rocminfo(text)
    assert reading["problem"] is None or reading["problem"] in ROCMINFO_PROBLEMS
    assert len(reading["gpus"]) <= plain.count("gfx")
    for gpu in reading["gpus"]:
        assert gpu["gfx"] in plain
        assert gpu["name"] is None or gpu["name"] in plain
    for gpu in lspci_gpus(text):
        assert gpu["address"].split(":")[-1] in plain.lower()
    assert len(kfd_nodes(text)) <= plain.count("simd_count") + plain.count("gfx_target_version")
    for entry in dkms_status(text):
        assert entry["module"] in plain
    for reader in (apt_problems, dmesg_problems, python_problems):
        found = reader(text)
        assert len({problem["id"] for problem in found}) == len(found)
        for problem in found:
            assert problem["id"] in decisions()
            assert problem["evidence"]
            assert problem["evidence"] in plain


@given(texts)
@settings(max_examples=150, deadline=None)
def test_arbitrary_text(text: str) -> None:
    check(text)


@given(mutations())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_captures(text: str) -> None:
    check(text)


# Lines with all the words of a GPU; none of them is one, in whatever order.
NEARLY = (
    *(
        "  Name:                    AMD EPYC 9654",
        "  Name:                    aie2",
        "  Name:   amdgcn-amd-amdhsa--gfx90a",
    ),
    *("gfx942", "  Marketing Name:          AMD Instinct MI300X", "  Device Type:             CPU", "GPU[0] : gfx942"),
    *("  Node:                    1", "  Chip ID:                 29857(0x74a1)", "The gfx90a GPU is an MI210."),
    *("1f:00.0 ISA bridge [0601]: Intel Corporation [8086:7a04]", "Subsystem: AMD [1002:0c34]", "[1002:74a1]"),
    *("c1:00.1 Audio device [0403]: AMD [1002:ab38]", "VGA compatible controller: AMD", "Kernel driver in use: amdgpu"),
    *(
        "01:00.0 VGA compatible controller: NVIDIA Corporation GP106 [GeForce GTX 1060 6GB] (rev a1)",
        "Card [1002:744c]",
    ),
    *("03:00.0 VGA compatible controller: Intel Corporation UHD", "[ 0.5] pci 0000:03:00.0: [1002:744c] type 00"),
    *("cpu_cores_count 16", "simd_count 0", "gfx_target_version 0", "simd_count is 416", "device_id 29711"),
    *("nodes/0/properties:cpu_cores_count 16", "nodes/1/gpu_id:51259", "nodes/1/caches/0/properties:level 2"),
)


@given(st.lists(st.sampled_from(NEARLY), max_size=30).map("\n".join))
@settings(max_examples=100, deadline=None)
def test_only_a_gpu_is_one(text: str) -> None:
    assert rocminfo(text)["gpus"] == lspci_gpus(text) == kfd_nodes(text) == []
    text += (
        "\nAgent 9\n  Name: gfx1100\n  Device Type: GPU\nnodes/77/properties:simd_count 192\n"
        "0000:03:00.0 VGA compatible controller [0300]: AMD [1002:744c]\n"
    )
    assert [gpu["gfx"] for gpu in rocminfo(text)["gpus"]] == ["gfx1100"]
    assert [gpu["address"] for gpu in lspci_gpus(text)] == ["0000:03:00.0"]
    assert [node["node"] for node in kfd_nodes(text)] == [77]


@pytest.mark.parametrize("name", names("smi") + names("apt") + names("torch") + names("dmesg") + names("dkms"))
def test_other_tools_show_no_gpu(name: str) -> None:
    text = TEXTS[name]
    reading = rocminfo(text)
    assert (reading["gpus"], reading["problem"]) == ([], "unparseable")
    assert lspci_gpus(text) == kfd_nodes(text) == []


@pytest.mark.parametrize("name", names("rocminfo") + names("lspci") + names("kfd") + names("smi"))
def test_listings_are_no_complaints(name: str) -> None:
    text = TEXTS[name]
    assert apt_problems(text) == dmesg_problems(text) == []
    assert {problem["id"] for problem in python_problems(text)} <= {"kfd-permission", "kfd-missing"}


def test_all_readers_read_all_captures_in_a_second() -> None:
    for reader in READERS.values():
        reader("")  # loads the data
    started = time.process_time()
    for text in TEXTS.values():
        for reader in READERS.values():
            reader(text)
    assert time.process_time() - started < 1


def seconds(text: str, reader: Callable[[Any], Any]) -> float:
    started = time.process_time()
    reader(text)
    return time.process_time() - started


def test_a_long_log_takes_no_ages() -> None:
    text = "".join(TEXTS.values()) * 5
    assert sum(seconds(text, reader) for reader in READERS.values()) < 10


@pytest.mark.parametrize("piece", REPEATED)
def test_a_long_line_takes_no_ages(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    assert {name: spent for name, reader in READERS.items() if (spent := seconds(text, reader)) > 1} == {}


def test_a_log_inside_a_result_takes_no_ages() -> None:
    lines = [
        f"[    4.{number}] amdgpu 0000:05:00.0: amdgpu: ring comp_{number} uses VM inv eng" for number in range(2000)
    ]
    text = json.dumps({"stdout": "\n".join(lines), "stdout_lines": lines})
    assert seconds(text, dmesg_problems) < 2
    assert seconds(" ".join(lines), dmesg_problems) < 2


def test_every_id_is_in_the_table() -> None:
    assert (apt.IDS | dmesg.IDS | python.IDS | ROCMINFO_PROBLEMS) - set(decisions()) == set()


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("value", [None, 1, b"x", {"stdout": "x"}, [1], [None]])
def test_what_is_no_text_is_refused(name: str, value: object) -> None:
    with pytest.raises(AnsibleFilterError, match=re.escape(f"gpufleet.rocm.{name}: the input is a")):
        READERS[name](value)
