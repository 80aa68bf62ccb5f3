"""The GPUs of the host against the inventory, the release and each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.kernel import parse_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import Gpu
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.iommu import passes_through
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import gfx_releases
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.kernels import boot_kernels
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]

NVIDIA_VENDOR = "10de"


def expected(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """The number of GPUs that the inventory expects."""
    gpus, wanted = situation.gpus, situation.wishes.expect_gpus
    if wanted and not gpus:
        findings.add(
            "gpu-none",
            found="no AMD GPU (no PCI display or accelerator function with vendor 1002)",
            expected=f"{'at least one AMD GPU' if wanted is True else f'{wanted} AMD GPUs'} (rocm_expect_gpus)",
            remedy=_where_to_look(situation.facts["virtualization"]),
        )
    elif wanted is not None and wanted is not True and len(gpus) != wanted:
        findings.add(
            "gpu-count-mismatch",
            found=f"{len(gpus)} AMD GPUs",
            expected=f"{int(wanted)} (rocm_expect_gpus)",
            remedy=_where_to_look(situation.facts["virtualization"]),
        )


def _where_to_look(virtualization: Mapping[str, Any]) -> str:
    """Where GPUs that are not seen get lost depends on what kind of machine looks for them."""
    name = virtualization["name"]
    places = {
        "vm": f"pass the GPUs through to this virtual machine ({name}) on its hypervisor: PCI passthrough with "
        "vfio-pci and the IOMMU on, or SR-IOV virtual functions",
        "container": f"give this container ({name}) the devices when it is started (--device /dev/kfd "
        "--device /dev/dri), and look on the machine below whether that sees them",
    }
    return places.get(virtualization["kind"], "check slots, power and BIOS") + "; or correct rocm_expect_gpus"


def known(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """GPUs that the matrix has no name for."""
    for gpu in situation.gpus:
        if gpu.name is None:
            findings.add(
                "gpu-unknown",
                found=f"GPU {gpu.address} has PCI id 1002:{gpu.device}",
                expected="a PCI id of the matrix (docs/gpus.md)",
                remedy="report the id; the installation goes on",
            )


def supported(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """GPUs that the wanted release does not support, any more or yet."""
    named = [gpu for gpu in situation.gpus if gpu.gfx]
    unsupported = [gpu for gpu in named if not gpu.supported]
    if unsupported:
        release = situation.release
        findings.add(
            "gpu-unsupported" if len(unsupported) == len(named) else "gpu-partly-supported",
            found=_names(unsupported, with_target=True),
            expected=f"a GPU that ROCm {release['version']} supports: " + ", ".join(release["gfx"]),
            remedy="; ".join(dict.fromkeys(_supporting_releases(str(gpu.gfx)) for gpu in unsupported))
            + _what_then(unsupported, named),
        )


def listed_here(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """AMD lists some systems and kernels for a part of the GPUs only: Debian 12 with ROCm 6.4 for the MI300X."""
    release = situation.release
    for kernel in () if situation.in_container else boot_kernels(situation.facts):
        series = parse_release(kernel)["series"]
        rows = [row for row in release["kernels"] if row["series"] == series] or release["kernels"]
        unlisted = [gpu for gpu in situation.gpus if gpu.supported and not any(_listed(row, gpu) for row in rows)]
        if unlisted and rows:
            _name_unlisted(situation, kernel, rows, unlisted, findings)
            return


def _name_unlisted(
    situation: Situation, kernel: str, rows: list[Mapping[str, Any]], unlisted: list[Gpu], findings: Findings
) -> None:
    release = situation.release
    limits = (
        ", ".join(row["only"]) or "all but " + ", ".join(row["without"])
        for row in rows
        if row["only"] or row["without"]
    )
    findings.add(
        "gpu-unlisted-here",
        found=f"{_names(unlisted)} on {release['os']['id']} {release['os']['version_id']}, kernel {kernel}",
        expected=f"GPUs that AMD lists there for ROCm {release['version']}: {'; '.join(dict.fromkeys(limits))}",
        remedy="try it on one host first, or take a system and kernel that AMD lists for it (docs/releases.md)",
    )


def integrated(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """A processor's own GPU beside a card: mostly not the one that is meant."""
    own = [gpu for gpu in situation.gpus if gpu.integrated]
    cards = [gpu for gpu in situation.gpus if not gpu.integrated]
    nvidia = [row for row in situation.facts["gpus"] if row["vendor"] == NVIDIA_VENDOR]
    if own and not cards and nvidia:
        findings.add(
            "gpu-integrated-only",
            found=f"{_names(own)} in the processor, and {len(nvidia)} NVIDIA functions",
            expected="an AMD card on a host that gets ROCm",
            remedy="take the host out of the group, or set rocm_allow: [gpu-integrated-only]",
        )
    if own and cards and own[0].address < cards[0].address:
        findings.add(
            "igpu-first",
            found=f"{_names(own)} at {own[0].address}, before {_names(cards)} at {cards[0].address}",
            expected="the card as device 0 of HIP",
            remedy="switch the processor's GPU off in the BIOS, or set HIP_VISIBLE_DEVICES for the programs",
        )


def served_by_kernel(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Every GPU on the bus should be one for the compute driver, in equal partitions."""
    facts = situation.facts
    cards = [node["partitions"] for node in facts["kfd"]["nodes"]]
    if not cards or stages["driver"]["reboot"]:
        return
    on_bus = [gpu for gpu in situation.gpus if gpu.supported]
    if len(cards) < len(on_bus) and not situation.in_container:
        findings.add(
            "gpu-count-mismatch",
            found=f"{len(cards)} GPUs in the compute driver, {len(on_bus)} on the PCI bus",
            expected="the same number",
            remedy="look for the missing ones in the kernel log (dmesg | grep -e amdgpu -e kfd)",
        )
    if len(set(cards)) > 1:
        counts = ", ".join(map(str, cards))
        findings.add(
            "partition-count",
            found=f"partitions per GPU: {counts}",
            expected=f"{max(cards)} on each",
            remedy="set one mode on all (amd-smi set --compute-partition); one less on the last GPU: blacklist the "
            "display driver ast, which holds a device number",
        )


def iommu(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """AMD's guides ask for passthrough mode where several data-centre GPUs talk to each other.

    The MI300A is left out: its guide wants the IOMMU off in the BIOS, which the command line does not show.
    """
    several = len([gpu for gpu in situation.gpus if gpu.instinct and gpu.name != "Instinct MI300A"]) > 1
    cmdline = str(situation.facts["kernel"]["cmdline"] or "")
    if several and situation.facts["virtualization"]["kind"] == "none" and not passes_through(cmdline):
        findings.add(
            "iommu-passthrough-off",
            found="no iommu=pt on the kernel command line",
            expected="iommu=pt on a host with several data-centre GPUs",
            remedy="set rocm_tuning_apply: [iommu-passthrough] and run playbooks/tuning.yml, or add iommu=pt to "
            "GRUB_CMDLINE_LINUX yourself and run update-grub; reboot when it suits",
        )


def _listed(row: Mapping[str, Any], gpu: Gpu) -> bool:
    return (not row["only"] or gpu.among(row["only"])) and not gpu.among(row["without"])


def _names(gpus: list[Gpu], with_target: bool = False) -> str:
    return ", ".join(dict.fromkeys(f"{gpu.name} ({gpu.gfx})" if with_target else str(gpu.name) for gpu in gpus))


def _what_then(unsupported: list[Gpu], named: list[Gpu]) -> str:
    """What to do with GPUs that the wanted release leaves out."""
    if len(unsupported) < len(named):
        return "; the other GPUs of the host work without them, and HIP_VISIBLE_DEVICES hides them from programs"
    return "; or take the host out of the group"


def _supporting_releases(gfx: str) -> str:
    """Which releases to choose from for a GPU target."""
    numbers = gfx_releases(gfx)
    if not numbers:
        return f"no ROCm release supports {gfx}"
    return f"{gfx} is supported by ROCm {numbers[0]} to {numbers[-1]} (docs/gpus.md)"
