"""dkms and copies of the compute topology."""

# Lines of output stand as they were printed.
# ruff: noqa: E501

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.dkms_status import dkms_status
from ansible_collections.gpufleet.rocm.plugins.filter.kfd_nodes import kfd_nodes
from tests.unit.readers.captures import capture, names

# module, version, kernel, arch, state, warning
Entry = tuple[str, str | None, str | None, str | None, str, str | None]
NOBLE, ARCH = "6.8.0-44-generic", "x86_64"
EL7 = "3.10.0-957.el7.x86_64"
BAD = f"Error! Bad return status for module build on kernel: {NOBLE} ({ARCH})"

DKMS: dict[str, list[Entry]] = {
    "01-old-comma-form-original-module": [("amdgpu", "3.9-19", "5.4.0-54-generic", ARCH, "installed", None)],
    "03-built-and-installed-mixed": [
        ("amdgpu", "19.10-782345.el7", EL7, ARCH, "built", None),
        ("amdgpu", "2.4-25.el7", "3.10.0-957.12.2.el7.x86_64", ARCH, "installed", None),
        ("amdgpu", "2.4-25.el7", EL7, ARCH, "installed", None),
    ],
    "04-azure-kernel": [("amdgpu", "5.16.9.22.20-1438746~20.04", "5.15.0-1017-azure", ARCH, "installed", None)],
    "06-docs-sample-2404-hwe": [("amdgpu", "6.14.14-2204008.24.04", "6.14.0-29-generic", ARCH, "installed", None)],
    "07-err-no-dkms-conf": [
        (
            "amdgpu",
            "6.7.0-1787201.22.04",
            None,
            None,
            "broken",
            "File: /var/lib/dkms/amdgpu/6.7.0-1787201.22.04/source/dkms.conf does not exist.",
        )
    ],
    "09-other-module-diff-warning": [
        ("i915-sriov-dkms", "2025.03.26", "6.11.11-1-pve", ARCH, "installed", None),
        (
            "i915-sriov-dkms",
            "2025.03.26",
            "6.11.11-2-pve",
            ARCH,
            "installed",
            "Diff between built and installed module!",
        ),
    ],
    "10-empty-output": [],
    "12-kernel-postinst-autoinstall-fail": [("amdgpu", "6.8.5-2009582.24.04", NOBLE, ARCH, "failed", BAD)],
    "13-mainline-kernel-unsupported": [
        (
            "amdgpu",
            "6.16.13-2278356.24.04",
            "6.18.7-061807-generic",
            ARCH,
            "failed",
            "Building module(s)......(bad exit status: 2)",
        )
    ],
    # No module is named.
    "15-headers-missing": [],
    # Nothing has failed yet.
    "16-wrong-kernel-list": [],
}


def entries(text: str) -> list[Entry]:
    keys = ("module", "version", "kernel", "arch", "state", "warning")
    return [tuple(entry[key] for key in keys) for entry in dkms_status(text)]


def test_every_capture_is_read() -> None:
    assert names("dkms") == [f"dkms/{name}" for name in sorted(DKMS)]
    assert names("kfd") == [f"kfd/{name}" for name in sorted(KFD)]


@pytest.mark.parametrize("name", DKMS)
def test_dkms_capture(name: str) -> None:
    assert entries(capture(f"dkms/{name}")) == DKMS[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amdgpu/6.12.12-2147987.24.04: added\n", [("amdgpu", "6.12.12-2147987.24.04", None, None, "added", None)]),
        (
            f"amdgpu/6.3.6, {NOBLE}, {ARCH}: installed (Original modules exist)\r\n",
            [("amdgpu", "6.3.6", NOBLE, ARCH, "installed", None)],
        ),
        (
            f"amdgpu/6.3.6, {NOBLE}, {ARCH}: installed-weak from 6.8.0-41-generic\n",
            [("amdgpu", "6.3.6", NOBLE, ARCH, "installed-weak", None)],
        ),
        (
            f"amdgpu, 6.3.6, {NOBLE}, {ARCH}: installed (WARNING! Diff between built and installed module!)"
            " (original_module exists)\n",
            [("amdgpu", "6.3.6", NOBLE, ARCH, "installed", "Diff between built and installed module!")],
        ),
        # DKMS 3.2 has other words.
        (
            f"amdgpu/6.16.6, {NOBLE}, {ARCH}: installed (Original modules exist) (Differences between built and installed modules)\n"
            f"zfs/2.3, {NOBLE}, {ARCH}: installed (Built modules are missing in the kernel modules folder)\n",
            [
                ("amdgpu", "6.16.6", NOBLE, ARCH, "installed", "Differences between built and installed modules"),
                ("zfs", "2.3", NOBLE, ARCH, "installed", "Built modules are missing in the kernel modules folder"),
            ],
        ),
        (
            f"v4l2loopback/0.12, {NOBLE}, {ARCH}: installed (WARNING! Missing some built modules!)\n"
            f"nvidia/515.65, {NOBLE}, {ARCH}: installedDeprecated feature: REMAKE_INITRD\n",
            [
                ("v4l2loopback", "0.12", NOBLE, ARCH, "installed", "Missing some built modules!"),
                ("nvidia", "515.65", NOBLE, ARCH, "installed", None),
            ],
        ),
        (f"- `amdgpu/6.3.6, {NOBLE}, {ARCH}: installed`\n", [("amdgpu", "6.3.6", NOBLE, ARCH, "installed", None)]),
        (
            f'        "amdgpu/6.3.6, {NOBLE}, {ARCH}: built",\n',
            [("amdgpu", "6.3.6", NOBLE, ARCH, "built", None)],
        ),
        # One entry, complained about and listed.
        (
            "Error! amdgpu/6.7.0: Missing the module source directory or the symbolic link pointing to it.\n"
            "Manual intervention is required!\namdgpu/6.7.0: broken\n",
            [
                (
                    "amdgpu",
                    "6.7.0",
                    None,
                    None,
                    "broken",
                    "Error! amdgpu/6.7.0: Missing the module source directory or the symbolic link pointing to it.",
                )
            ],
        ),
        (
            f"Autoinstall on {NOBLE} failed for module(s) amdgpu(10).\n",
            [("amdgpu", None, NOBLE, None, "failed", f"Autoinstall on {NOBLE} failed for module(s) amdgpu(10).")],
        ),
        (
            f"DKMS make.log for amdgpu-6.8.5-2009582.24.04 for kernel {NOBLE} ({ARCH})\n  CC [M]  amd/amdgpu/x.o\n"
            "make: *** [Makefile:240: __sub-make] Error 2\n",
            [
                (
                    "amdgpu",
                    "6.8.5-2009582.24.04",
                    NOBLE,
                    ARCH,
                    "failed",
                    "make: *** [Makefile:240: __sub-make] Error 2",
                )
            ],
        ),
        (f"DKMS make.log for amdgpu-6.8.5 for kernel {NOBLE} ({ARCH})\n  LD [M]  amdgpu.ko\n", []),
        ("docs/guide: added a chapter\nhttps://example.org/a, b: installed\n", []),
        # The older wording, with the place of the log instead of its name.
        (
            f"Error!  Build of amdgpu.ko failed for: {NOBLE} ({ARCH})\n"
            "Consult the make.log in the build directory\n/var/lib/dkms/amdgpu/3.9-19/build/ for more information.\n",
            [("amdgpu", "3.9-19", NOBLE, ARCH, "failed", f"Error!  Build of amdgpu.ko failed for: {NOBLE} ({ARCH})")],
        ),
        (
            f"dkms autoinstall on {NOBLE}/{ARCH} succeeded for zfs\n"
            f"dkms autoinstall on {NOBLE}/{ARCH} failed for amdgpu(10) nvidia(4)\n",
            [
                (
                    module,
                    None,
                    NOBLE,
                    ARCH,
                    "failed",
                    f"dkms autoinstall on {NOBLE}/{ARCH} failed for amdgpu(10) nvidia(4)",
                )
                for module in ("amdgpu", "nvidia")
            ],
        ),
        (
            "amdgpu:\nRunning module version sanity check.\nError! Module version C502C9F6 for amdgpu.ko\n"
            "is not newer than what is already found in kernel 4.13.0-36-generic (D3580B8C).\n",
            [
                (
                    "amdgpu",
                    None,
                    "4.13.0-36-generic",
                    None,
                    "built",
                    "is not newer than what is already found in kernel 4.13.0-36-generic (D3580B8C).",
                )
            ],
        ),
        (
            f"Autoinstall of module amdgpu/6.16.6 for kernel {NOBLE} ({ARCH})\nBuilding module(s)... done.\n",
            [],
        ),
        ("bash: dkms: command not found\n", []),
        # A module that does not want the kernel, in the words of DKMS 3 and 2.
        (
            f"Error! The /var/lib/dkms/amdgpu/6.3.6/{NOBLE}/{ARCH}/dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE"
            " directive which does not match this kernel/arch/config.\nThis indicates that it should not be built.\n",
            [
                (
                    "amdgpu",
                    "6.3.6",
                    NOBLE,
                    ARCH,
                    "failed",
                    f"Error! The /var/lib/dkms/amdgpu/6.3.6/{NOBLE}/{ARCH}/dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE"
                    " directive which does not match this kernel/arch/config.",
                )
            ],
        ),
        (
            f"Autoinstall of module amdgpu/6.3.6 for kernel {NOBLE} ({ARCH})\n"
            "Error! The dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE directive which\n"
            "does not match this kernel/arch.  This indicates that it should not be built.\n",
            [
                (
                    "amdgpu",
                    "6.3.6",
                    NOBLE,
                    ARCH,
                    "failed",
                    "Error! The dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE directive which",
                )
            ],
        ),
        (
            "Error! The dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE directive which\n",
            [
                (
                    "amdgpu",
                    None,
                    None,
                    None,
                    "failed",
                    "Error! The dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE directive which",
                )
            ],
        ),
        (
            f"amdgpu/6.3.6, {NOBLE}, {ARCH}: installed (original_module exists) (WARNING! Missing some built modules!)"
            " (WARNING! Diff between built and installed module!)",
            [
                (
                    "amdgpu",
                    "6.3.6",
                    NOBLE,
                    ARCH,
                    "installed",
                    "Missing some built modules!; Diff between built and installed module!",
                )
            ],
        ),
        # A parallel shell.
        (f"node1: amdgpu/6.3.6, {NOBLE}, {ARCH}: installed\n", [("amdgpu", "6.3.6", NOBLE, ARCH, "installed", None)]),
        (
            f"gpu-02.example: amdgpu, 6.3.6: added\ngpu-02.example: Autoinstall on {NOBLE} failed for module(s) zfs(10).\n",
            [
                ("amdgpu", "6.3.6", None, None, "added", None),
                (
                    "zfs",
                    None,
                    NOBLE,
                    None,
                    "failed",
                    f"gpu-02.example: Autoinstall on {NOBLE} failed for module(s) zfs(10).",
                ),
            ],
        ),
        (f"amdgpu/6.3.6, {NOBLE}, {ARCH}: built\n" * 2, [("amdgpu", "6.3.6", NOBLE, ARCH, "built", None)]),
    ],
)
def test_dkms_form(text: str, expected: list[Entry]) -> None:
    assert entries(text) == expected


# node, target, device, compute units, place, render minor
Node = tuple[int, str | None, str | None, int | None, str | None, int | None]
KFD: dict[str, list[Node]] = {
    "01-mi300x-cpx": [
        (2, "gfx942", "74a1", 38, "05:00.0", 128),
        (3, "gfx942", "74a1", 38, "05:00.1", 129),
        (9, "gfx942", "74a1", 38, "05:00.7", 135),
    ],
    "03-mi308-partitioned": [
        (2, "gfx942", "74a2", 20, "0a:00.0", 128),
        (3, "gfx942", "74a2", 20, "0a:00.1", 129),
        (4, "gfx942", "74a2", 20, "0a:00.2", 130),
        (5, "gfx942", "74a2", 20, "0a:00.3", 131),
    ],
    # No target in the text: it follows from the device.
    "04-vega10-old-kernel": [
        (1, "gfx900", "6860", 64, "19:00.0", 128),
        (2, "gfx900", "6860", 64, "19:00.0", 129),
    ],
}


def nodes(text: str) -> list[Node]:
    keys = ("node", "gfx", "device", "compute_units", "bdf", "render_minor")
    return [tuple(node[key] for key in keys) for node in kfd_nodes(text)]


@pytest.mark.parametrize("name", KFD)
def test_kfd_capture(name: str) -> None:
    found = kfd_nodes(capture(f"kfd/{name}"))
    assert nodes(capture(f"kfd/{name}")) == KFD[name]
    cards = {node["bdf"].split(".")[0] for node in found}
    assert len(cards) == 1


CPU = {"cpu_cores_count": 16, "simd_count": 0, "gfx_target_version": 0, "device_id": 0}
GPU = {"cpu_cores_count": 0, "simd_count": 208, "simd_per_cu": 4, "gfx_target_version": 90010, "device_id": 29711}
MI210: list[Node] = [(1, "gfx90a", "740f", 52, None, None)]


def properties(fields: dict[str, int], start: str = "") -> str:
    return "".join(f"{start}{name} {value}\n" for name, value in fields.items())


@pytest.mark.parametrize(
    "text",
    [
        properties(CPU) + properties(GPU),
        f"==> /sys/class/kfd/kfd/topology/nodes/0/properties <==\n{properties(CPU)}\n"
        f"==> /sys/class/kfd/kfd/topology/nodes/1/properties <==\n{properties(GPU)}",
        properties(CPU, "nodes/0/properties:")
        + "nodes/1/gpu_id:51259\nnodes/1/name:\nnodes/1/mem_banks/0/properties:heap_type 1\n"
        + properties(GPU, "nodes/1/properties:"),
        properties(GPU, "/sys/devices/virtual/kfd/kfd/topology/nodes/1/properties:").replace("\n", "\r\n"),
        properties(CPU, "./0/properties:") + properties(GPU, "./1/properties:"),
        properties(CPU, "nodes/0/properties:7:") + properties(GPU, "nodes/1/properties:7:"),
        f"node 0\n{properties(CPU)}node 1\n{properties(GPU)}",
        f"Node 1:\n{properties(GPU)}".replace(" ", "\t"),
        f"> nodes/1/properties\n{properties(GPU, '> ')}",
        "==> nodes/1/caches/0/properties <==\nlevel 1\n==> nodes/1/caches/1/properties <==\nlevel 1\nlevel 2\n"
        f"==> nodes/1/properties <==\n{properties(GPU)}==> nodes/1/io_links/0/properties <==\ntype 2\nnode_from 1\n",
        properties(CPU, "rocm-1  | ") + properties(GPU, "rocm-1  | "),
        json.dumps({"stdout_lines": (properties(CPU) + properties(GPU)).splitlines()}, indent=4),
    ],
    ids=[
        *("cat", "head", "grep", "windows", "relative", "grep -n", "loop", "tabs", "quoted", "find", "compose", "json"),
    ],
)
def test_kfd_form(text: str) -> None:
    assert nodes(text) == MI210


@pytest.mark.parametrize(
    "text", ["", "ls: cannot access '/sys/class/kfd': No such file or directory\n", properties(CPU)]
)
def test_no_gpu_node(text: str) -> None:
    assert kfd_nodes(text) == []


def test_what_was_cut_away_is_not_known() -> None:
    text = "nodes/0/properties:gfx_target_version 0\nnodes/1/properties:gfx_target_version 110000\n"
    assert nodes(text) == [(1, "gfx1100", None, None, None, None)]
    # Compute units are counted in SIMDs, two or four to a unit.
    text += "nodes/1/properties:simd_count 192\nnodes/1/properties:location_id 768\n"
    assert nodes(text) == [(1, "gfx1100", None, None, "03:00.0", None)]


GREP = properties(CPU, "nodes/0/properties:") + properties(GPU, "nodes/1/properties:")
HEADED = f"==> nodes/0/properties <==\n{properties(CPU)}\n==> nodes/1/properties <==\n{properties(GPU)}"
PLACED = {**GPU, "location_id": 768, "domain": 0, "drm_render_minor": 128}


@pytest.mark.parametrize(
    "text",
    [
        GREP + GREP,
        HEADED + HEADED,
        HEADED + GREP,
        "".join(sorted(GREP.splitlines(keepends=True), key=lambda line: line.split(":")[1])),
        f"{HEADED}==> nodes/1/properties <==\nsimd_count 208\n",
        "nodes/1/properties:simd_count 208\nnodes/1/properties:simd_count 208\n" + GREP,
    ],
    ids=["grep twice", "head twice", "both", "property by property", "cut", "one line twice"],
)
def test_a_node_that_comes_again_is_one(text: str) -> None:
    assert nodes(text) == MI210


def test_counted_nodes_are_one_by_their_device_node() -> None:
    text = properties(CPU) + properties(PLACED)
    assert nodes(text + text) == [(1, "gfx90a", "740f", 52, "03:00.0", 128)]
    other = properties({**PLACED, "drm_render_minor": 129})
    assert [node[-1] for node in nodes(text + other)] == [128, 129]


def test_nodes_of_one_number_that_disagree_are_two_hosts() -> None:
    text = properties(PLACED, "nodes/1/properties:") + properties(
        {**PLACED, "location_id": 1280}, "nodes/1/properties:"
    )
    assert [node[-2] for node in nodes(text)] == ["03:00.0", "05:00.0"]


@pytest.mark.parametrize("domain", [0, 2])
def test_the_domain_is_known_where_the_dump_has_it(domain: int) -> None:
    assert [node["domain"] for node in kfd_nodes(properties({**GPU, "domain": domain}))] == [domain]
    assert [node["domain"] for node in kfd_nodes(properties(GPU))] == [None]


def test_an_apu_node_has_both() -> None:
    fields: dict[str, Any] = {"cpu_cores_count": 16, "simd_count": 80, "simd_per_cu": 2, "gfx_target_version": 110501}
    assert [(node["gfx"], node["compute_units"]) for node in kfd_nodes(properties(fields))] == [("gfx1151", 40)]
