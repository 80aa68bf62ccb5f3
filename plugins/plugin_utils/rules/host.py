"""Is this a host that may be touched at all, and has it room?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.kernels import boot_kernels
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]

# Free space in MB: from the sizes of the 6.4 stack (24.6 GB installed, 3.9 GB downloaded) and of the wheels.
SPACE_SDK_MB = 30_000
SPACE_DOWNLOAD_MB = 5_000
SPACE_BOOT_MB = 300
SPACE_VENV_MB = 12_000


def architecture(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """AMD publishes for one architecture."""
    found = situation.facts["architecture"]
    if found != "x86_64":
        findings.add(
            "architecture-unsupported",
            found=f"the host is {found}",
            expected="x86_64",
            remedy="take the host out of the inventory group",
        )


def unread(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Parts of the host that could not be read are planned for as if nothing were there."""
    problems = situation.facts["problems"]
    if problems:
        named = "; ".join(f"{row['section']}: {row['message'][:200]}" for row in problems[:5])
        findings.add(
            "facts-incomplete",
            found=f"could not be read: {named}" + (f"; and {len(problems) - 5} more" if len(problems) > 5 else ""),
            expected="a host that can be read completely; what is missing counts as absent in this plan",
            remedy="read the host as root (become: true), mend what is named, then plan again",
        )


def virtualization(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Hosts whose GPUs belong to somebody else."""
    facts = situation.facts
    if facts["virtualization"]["kind"] == "wsl":
        findings.add(
            "wsl",
            found=f"kernel {facts['kernel']['release']}",
            expected="Linux on hardware, in a virtual machine or in a container",
            remedy="follow AMD's WSL guide for this machine; "
            "rocm_allow: [wsl] installs the user space without a driver",
        )
    proxmox = [f"package {name} is installed" for name in ("proxmox-ve", "pve-manager") if name in facts["packages"]]
    if not situation.in_container:  # which shows the kernel of the machine below
        proxmox += [f"kernel {name}" for name in boot_kernels(facts) if name.endswith("-pve")]
    if proxmox:
        findings.add(
            "proxmox-host",
            found=", ".join(proxmox),
            expected="a host that is not a Proxmox hypervisor",
            remedy="pass the GPUs into a virtual machine and manage that",
        )
    for gpu in situation.gpus:
        if gpu.driver in ("gim", "vfio-pci"):
            findings.add(
                "hypervisor-host",
                found=f"GPU {gpu.address} is bound to {gpu.driver}",
                expected="GPUs that this host may use itself",
                remedy="manage the virtual machines that own the GPUs instead",
            )
            return


def dpkg(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Packages that an earlier run of dpkg left half-way."""
    broken = situation.facts["dpkg_broken"]
    if broken:
        listed = ", ".join(f"{row['package']} ({row['status']})" for row in broken[:5])
        findings.add(
            "dpkg-broken",
            found=listed + (f" and {len(broken) - 5} more" if len(broken) > 5 else ""),
            expected="every package cleanly installed",
            remedy="find the cause in /var/log/apt/term.log, mend it, then run dpkg --configure -a",
        )


def space(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Room for what the stages would install."""
    needs: list[tuple[str, int, str]] = []
    if stages["sdk"]["actions"] and not _installed(situation):
        needs += [("/opt", SPACE_SDK_MB, "the SDK"), ("/var", SPACE_DOWNLOAD_MB, "package downloads")]
    if (stages["driver"]["packages"] or stages["driver"]["build"]) and not situation.in_container:
        kernels = stages["driver"]["kernels"]
        purpose = f"an initramfs with firmware for {' and '.join(kernels) or 'each kernel'}"
        needs += [("/boot", SPACE_BOOT_MB * max(1, len(kernels)), purpose)]
    if any(row["action"] == "create-venv" for row in stages["pytorch"]["actions"]):
        needs += [(situation.wishes.pytorch_venv, SPACE_VENV_MB, "PyTorch")]
    for space, wanted in _by_file_system(situation, needs):
        needed = sum(size for _, size, _ in wanted)
        if space["free_mb"] < needed:
            findings.add(
                "disk-space",
                found=f"{space['free_mb']} MB free for {', '.join(path for path, _, _ in wanted)}",
                expected=f"{needed} MB for {', '.join(purpose for _, _, purpose in wanted)}",
                remedy="free space, or set rocm_allow: [disk-space] if you know that it suffices",
            )


def _installed(situation: Situation) -> bool:
    """Whether the wanted release is there, so that its packages are repaired and not brought."""
    return situation.release["prefix"] in [row["path"] for row in situation.facts["rocm"]["installs"]]


def _by_file_system(
    situation: Situation, needs: list[tuple[str, int, str]]
) -> Iterator[tuple[Mapping[str, int], list[tuple[str, int, str]]]]:
    """Needs that share a file system share its space; paths with the same figures are on the same one."""
    disk = situation.facts["disk"]
    groups: dict[tuple[int, int], list[tuple[str, int, str]]] = {}
    for need in needs:
        space = disk.get(need[0])
        if space:
            groups.setdefault((space["free_mb"], space["total_mb"]), []).append(need)
    for wanted in groups.values():
        yield disk[wanted[0][0]], wanted


def unattended_upgrades(situation: Situation, stages: Stages, findings: Findings) -> None:
    """A kernel that arrives by itself comes without the driver when that does not build for it."""
    settings = situation.facts["unattended_upgrades"]
    if stages["driver"]["mode"] != "dkms" or situation.in_container:
        return
    if settings["enabled"] and not settings["kernel_excluded"] and not situation.wishes.hold:
        findings.add(
            "unattended-upgrades-kernel",
            found=f"unattended-upgrades is on ({settings['file'] or 'by default'}) and may install kernels",
            expected="kernels that change only when the driver is known to build for them",
            remedy="set rocm_hold: true, or add linux- to Unattended-Upgrade::Package-Blacklist",
        )


def sessions(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """Group changes reach a user with his next login."""
    for row in situation.facts["sessions"]:
        findings.add(
            "session-older-than-group",
            found=f"a session of {row['user']} began before he was in {' and '.join(row['missing'])}",
            expected="sessions that know the user's groups",
            remedy=f"let {row['user']} log out and in again, and restart his long-running services",
        )
