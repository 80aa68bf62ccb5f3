"""Every capture leads to its ids through the one entry that a given text takes, alone and among others."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnose import diagnose_text
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.ranking import rows
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers import apt, dmesg, python, smi, toolchain
from tests.unit.readers.captures import KINDS, capture, names

# Captures of healthy tools, and of those whose text alone says nothing, lead to no diagnosis: the others are here.
EXPECTED: dict[str, set[str]] = {
    "rocminfo/13-rx7900xtx-wsl": {"wsl"},
    # A member of the group whom the kernel refuses: the session is older.
    "rocminfo/21-err-kfd-denied-though-member-of-render": {"kfd-permission", "session-older-than-group"},
    "rocminfo/22-err-kfd-denied-not-member": {"kfd-permission"},
    "rocminfo/24-err-kfd-einval-nogroup": {"kfd-open-failed"},
    "rocminfo/25-err-kfd-missing": {"kfd-missing"},
    "rocminfo/28-err-4104-rocm2": {"hsa-init-failed"},
    "rocminfo/30-err-kfd-eperm-member-of-render": {"kfd-open-failed"},
    # A Radeon 780M is gfx1103.
    "rocminfo/34-7840hs-override-gfx1102-npu-grep-form": {"hsa-override-set"},
    "lspci/01-mi300x-pf-on-gim-and-vf-on-vfio": {"hypervisor-host"},
    "lspci/15-fury-polaris-x5-without-nn": {"unparseable"},
    "dkms/07-err-no-dkms-conf": {"dkms-stale-tree"},
    "dkms/12-kernel-postinst-autoinstall-fail": {"dkms-failed", "dpkg-broken"},
    "dkms/13-mainline-kernel-unsupported": {"dkms-failed", "kernel-mainline"},
    "dkms/15-headers-missing": {"headers-missing"},
    "dmesg/01-atomics-rejected": {"pcie-atomics"},
    "dmesg/03-did-missing-in-kfd": {"gpu-unknown-to-kfd"},
    "dmesg/04-unknown-symbol-iommu-no-modules-extra": {"modules-extra-missing"},
    "dmesg/06-chip-not-supported-by-kfd": {"gpu-unsupported"},
    "dmesg/07-vf-mailbox-hang": {"vf-mailbox-timeout"},
    "dmesg/10-navi31-ip-discovery": {"module-option-invalid"},
    "dmesg/15-gfxhub-page-fault": {"gpu-page-fault"},
    "dmesg/16-vega10-kvm-probe-fail": {"driver-probe-failed"},
    "apt/01-driver-repo-404-72": {"repo-path-missing"},
    "apt/03-key-expired-expkeysig": {"key-expired"},
    "apt/04-key-expired-keyexpired": {"key-expired"},
    "apt/06-ubuntu-packages-shadow-amd": {"distro-package-shadows"},
    "apt/07-ubuntu-shadow-724": {"distro-package-shadows"},
    "apt/09-updates-pocket-missing": {"updates-pocket-missing"},
    "apt/10-index-size-mismatch-cdn": {"repo-info-changed", "mirror-out-of-sync"},
    "apt/12-ignored-list-file": {"source-file-ignored", "package-not-found"},
    "apt/13-signed-by-conflict": {"signed-by-conflict"},
    "apt/15-no-candidate-headers-czech": {"headers-missing", "kernel-mainline"},
    "apt/18-jammy-packages-on-noble": {"suite-mismatch"},
    "apt/19-boot-full-initramfs": {"disk-space", "initramfs-failed"},
    "apt/21-apt-cache-full": {"disk-space"},
    "apt/22-therock-deb-size-mismatch": {"mirror-out-of-sync"},
    "torch/01-collect-env-crash-no-hip-runtime": {"torch-gpu-unavailable"},
    "torch/03-collect-env-rocm-build-000-false": {"torch-wrong-build"},
    "torch/04-collect-env-cuda-wheel": {"torch-cuda-wheel"},
    "torch/06-collect-env-gfx942-empty-name": {"gpu-name-empty"},
    "torch/07-no-hip-gpus": {"hip-no-device"},
    "torch/09-importerror-rocm-sysdeps": {"rocm-library-missing"},
    "torch/10-rocm-wheel-mixed-with-cuda-parts": {"venv-mixed-wheels", "torch-set-mismatch"},
    "torch/12-device-kernel-image-invalid-igpu-first": {"torch-arch-missing", "igpu-first"},
    "torch/13-is-available-false-plain": {"torch-gpu-unavailable"},
    "torch/15-no-matching-distribution-python314": {"python-no-wheel"},
    "torch/16-externally-managed": {"python-externally-managed"},
    "torch/19-cpu-index-fallback-versions": {"torch-index-mixed", "torch-version-missing"},
    "smi/12-rocm-smi-driver-not-initialized": {"module-not-loaded"},
    # The driver is in the kernel image, which the text does not tell: /dev/kfd of the host does.
    "smi/13-amd-smi-builtin-kernel-driver": {"module-not-loaded"},
    "smi/15-rocm-smi-set-partition-busy": {"gpu-busy"},
    "smi/16-amd-smi-partition-errors": {"root-required", "gpu-busy", "partition-mode-forbidden"},
    "smi/19-amd-smi-nps4-too-many-files": {"open-files-exhausted"},
}
CAPTURES = [name for kind in KINDS for name in names(kind)]


def ids(text: str, symptom: str = "") -> list[str]:
    return [row["id"] for row in diagnose_text("log", text, symptom)["diagnoses"]]


def test_every_expected_capture_is_there() -> None:
    assert set(EXPECTED) <= set(CAPTURES)


@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_leads_to_its_ids(name: str) -> None:
    assert set(ids(capture(name))) == EXPECTED.get(name, set())


def test_texts_of_several_kinds_in_one_file_lose_nothing() -> None:
    parts = [
        "dmesg/01-atomics-rejected",
        "apt/01-driver-repo-404-72",
        "torch/07-no-hip-gpus",
        "rocminfo/25-err-kfd-missing",
    ]
    mixed = "\n\n$ next command\n".join(capture(name) for name in [*parts, "dkms/07-err-no-dkms-conf"])
    assert set(ids(mixed)) == set().union(*(EXPECTED[name] for name in parts), {"dkms-stale-tree"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bash: hipcc: command not found", "tool-not-on-path"),
        ("sh: 1: rocminfo: not found", "tool-not-on-path"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'rocm-smi'", "tool-not-on-path"),
        ("a.cpp:1:10: fatal error: 'hip/hip_runtime.h' file not found", "hip-header-missing"),
        ("a.cpp:1:10: fatal error: rocblas/rocblas.h: No such file or directory", "hip-header-missing"),
        ("ld.lld: error: unable to find library -lamdhip64", "rocm-library-missing"),
        ("\tlibamdhip64.so.6 => not found", "rocm-library-missing"),
        ("\tlibnuma.so.1 => not found", "library-missing"),
        ("clang: error: cannot find ROCm device library; provide its path", "device-library-missing"),
        (
            "amdgpu 0000:03:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x2 link at "
            "0000:00:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
            "pcie-link-degraded",
        ),
        ("[ 9.1] amdgpu 0000:03:00.0: amdgpu: WARN: GPU thermal throttling temperature reached", "gpu-clock-limited"),
        ("5.15.153.1-microsoft-standard-WSL2", "wsl"),
        (
            "amdgpu/6.3.6, 6.8.0-41-generic, x86_64: installed (WARNING! Diff between built and installed module!)",
            "dkms-failed",
        ),
        ("03:00.0 VGA compatible controller: ATI Technologies Inc Navi 31", "unparseable"),
    ],
)
def test_a_line_leads_to_its_id(text: str, expected: str) -> None:
    assert ids(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "bash: hipster: command not found",
        "a.cpp:1:10: fatal error: 'boost/any.hpp' file not found",
        "\tlibcuda.so.1 => not found",
        "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x1)",
        # The link of another device.
        "nvme 0000:04:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s x2 (capable of 31 Gb/s)",
        # An answer, but not PyTorch's.
        "retries: 3\nFalse\nbecome: no",
        # A processor with a Radeon 780M beside a card that is named.
        "Name: AMD Ryzen 7 7840HS w/ Radeon 780M Graphics\nName: gfx1102\nMarketing Name: AMD Radeon RX 7600",
    ],
)
def test_no_evidence_is_no_diagnosis(text: str) -> None:
    assert ids(text) == []


def test_fewer_agents_than_gpus_on_the_bus() -> None:
    gpus = "\n".join(
        f"{bus}:00.0 Display controller [0380]: Advanced Micro Devices [1002:740c]" for bus in ("2f", "32")
    )
    agents = "ROCk module is loaded\nHSA Agents\n  Name: gfx90a\n  Device Type: GPU\n*** Done ***"
    assert ids(f"{gpus}\n{agents}") == ["kfd-device-failed"]
    assert ids(f"{gpus}\n{agents.replace('*** Done ***', agents[34:])}") == []


def test_the_build_log_names_the_compilers_complaint() -> None:
    log = (
        "DKMS make.log for amdgpu-6.8.5-2009582.24.04 for kernel 6.8.0-44-generic (x86_64)\n"
        "amd/display/x.c:12:3: error: too many arguments to function 'drm_dp_add_payload_part2'\n"
        "make[1]: *** [scripts/Makefile.build:243: x.o] Error 1\n"
    )
    (row,) = diagnose_text("make.log", log)["diagnoses"]
    assert row["id"] == "dkms-failed"
    assert "drm_dp_add_payload_part2" in row["evidence"][0]["text"]


def test_secrets_are_masked_in_what_is_shown() -> None:
    text = "E: Failed to fetch https://ada:hunter2@repo.radeon.com/rocm/apt/6.0/dists/x/Release  404  Not Found"
    document = diagnose_text("log", text)
    assert [row["id"] for row in document["diagnoses"]] == ["repo-path-missing"]
    assert "hunter2" not in json.dumps(document)


def test_the_shown_line_is_bounded_and_free_of_control_characters() -> None:
    text = "\x1b[31mRuntimeError: No HIP GPUs are available\x07" + "x" * 5000
    shown = diagnose_text("log", text)["diagnoses"][0]["evidence"][0]["text"]
    assert len(shown) <= 400
    assert shown.isprintable()


WORDS = [
    *(
        "amdgpu ",
        "False",
        "/dev/kfd",
        "E: ",
        "https://a:b@c/ ",
        " 404  Not Found",
        "\n",
        "hipcc: not found",
        "gfx942",
        "Name: ",
    ),
    *(
        "libhip.so => not found",
        "[1002:740c]",
        "03:00.0 ",
        "Kernel driver in use: vfio-pci",
        "make.log for ",
        "\x1b[1m",
        "\0",
    ),
]
texts = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=40).map("".join),
    st.tuples(st.sampled_from(CAPTURES).map(capture), st.text(max_size=20), st.integers(0, 400)).map(
        lambda parts: parts[0][parts[2] :] + parts[1]
    ),
)


@given(texts)
@settings(max_examples=200, deadline=None)
def test_no_text_fails_and_every_diagnosis_has_its_line(text: str) -> None:
    known = apt.IDS | dmesg.IDS | python.IDS | smi.IDS | toolchain.IDS
    plain = "".join(re.findall(r"\w", "\n".join(plain_lines(text))))
    for row in diagnose_text("log", text)["diagnoses"]:
        assert row["id"] in rows()
        assert row["evidence"]
        line = row["evidence"][0]["text"]
        # What a reader quotes stands in the text; the others name a word of it.
        quoted = "".join(re.findall(r"\w", line.replace("***", "").removesuffix("...")))
        assert row["id"] not in known or "***" in line or quoted[:20] in plain or "gfx" in line
