"""Reasons not to touch a host: each rule is one small function over the situation and the planned stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan_kernel import check_kernel
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import questions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation

Stages = Mapping[str, Mapping[str, Any]]

# Free space in MB: from the sizes of the 6.4 stack (24.6 GB installed, 3.9 GB downloaded) and of the wheels.
SPACE_SDK_MB = 30_000
SPACE_DOWNLOAD_MB = 5_000
SPACE_BOOT_MB = 300
SPACE_VENV_MB = 12_000


def check(situation: Situation, stages: Stages, findings: Findings) -> None:
    """Run every rule; each adds its own findings."""
    for rule in (
        _architecture,
        _release_kind,
        _streams,
        _virtualization,
        _gpus,
        check_kernel,
        _dpkg,
        _space,
        _servers,
        _keys,
    ):
        rule(situation, stages, findings)


def _architecture(situation: Situation, _stages: Stages, findings: Findings) -> None:
    found = situation.facts["architecture"]
    if found != "x86_64":
        findings.add(
            "architecture-unsupported",
            found=f"the host is {found}",
            expected="x86_64",
            remedy="take the host out of the inventory group",
        )


def _release_kind(situation: Situation, _stages: Stages, findings: Findings) -> None:
    release = situation.release
    if release["kind"] == "preview":
        findings.add(
            "release-preview",
            found=f"ROCm {release['version']} is a technology preview",
            expected="a production release",
            remedy="choose a production release, or set rocm_allow: [release-preview]",
        )
    if release["kind"] == "delta":
        findings.add(
            "release-delta",
            found=f"ROCm {release['version']} updates only a few packages of an earlier release",
            expected="a release with the whole stack",
            remedy="choose the release before or after it, or set rocm_allow: [release-delta]",
        )


def _streams(situation: Situation, _stages: Stages, findings: Findings) -> None:
    """/opt/rocm is a link up to 7.2 and a folder from 7.14 on: one cannot be installed over the other."""
    core = situation.release["stream"] == "core"
    other = _legacy_parts(situation.facts) if core else _core_parts(situation.facts)
    if not other:
        return
    wanted = f"ROCm {situation.release['version']}"
    if core:
        findings.add(
            "new-stream-over-legacy",
            found=", ".join(other),
            expected=f"no ROCm up to 7.2 on a host that gets {wanted}",
            remedy="remove it (apt-get autoremove --purge 'rocm-core*'), look that /opt/rocm is gone, then run again",
        )
    else:
        findings.add(
            "legacy-over-new-stream",
            found=", ".join(other),
            expected=f"no ROCm from 7.14 on on a host that gets {wanted}",
            remedy="remove it (apt-get autoremove --purge 'amdrocm*'), look that /opt/rocm is gone, then run again",
        )


def _legacy_parts(facts: Mapping[str, Any]) -> list[str]:
    """What is left of the old layout: the link /opt/rocm or an installed rocm-core."""
    link = facts["rocm"]["link"]
    linked = [f"/opt/rocm leads to {link}"] if link and not link.startswith("/opt/rocm/") else []
    return linked + _installed(facts, "rocm-core")


def _core_parts(facts: Mapping[str, Any]) -> list[str]:
    """What is left of the new layout: trees below /opt/rocm or installed amdrocm packages."""
    trees = [row["path"] for row in facts["rocm"]["installs"] if row["path"].startswith("/opt/rocm/core-")]
    return trees or _installed(facts, "amdrocm")


def _installed(facts: Mapping[str, Any], start: str) -> list[str]:
    return [
        f"{name} {row['version']}"
        for name, row in facts["packages"].items()
        if name.startswith(start) and row["status"] == "installed"
    ][:1]


def _virtualization(situation: Situation, _stages: Stages, findings: Findings) -> None:
    facts = situation.facts
    if facts["virtualization"]["kind"] == "wsl":
        findings.add(
            "wsl",
            found=f"kernel {facts['kernel']['release']}",
            expected="Linux on hardware, in a virtual machine or in a container",
            remedy="follow AMD's WSL guide for this machine",
        )
    if "proxmox-ve" in facts["packages"]:
        findings.add(
            "proxmox-host",
            found="package proxmox-ve is installed",
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


def _gpus(situation: Situation, _stages: Stages, findings: Findings) -> None:
    gpus, expected, release = situation.gpus, situation.wishes.expect_gpus, situation.release
    if expected and not gpus:
        wanted = "at least one AMD GPU" if expected is True else f"{expected} AMD GPUs"
        findings.add(
            "gpu-none",
            found="no AMD GPU (no PCI display or accelerator function with vendor 1002)",
            expected=f"{wanted} (rocm_expect_gpus)",
            remedy="check slots, BIOS and passthrough, or correct rocm_expect_gpus",
        )
    elif expected is not None and expected is not True and len(gpus) != expected:
        findings.add(
            "gpu-count-mismatch",
            found=f"{len(gpus)} AMD GPUs",
            expected=f"{int(expected)} (rocm_expect_gpus)",
            remedy="check slots and passthrough, or correct rocm_expect_gpus",
        )
    for gpu in gpus:
        if gpu.name is None:
            findings.add(
                "gpu-unknown",
                found=f"GPU {gpu.address} has PCI id 1002:{gpu.device}",
                expected="a PCI id of the matrix (docs/gpus.md)",
                remedy="report the id; the installation goes on",
            )
    known = [gpu for gpu in gpus if gpu.gfx]
    unsupported = [gpu for gpu in known if not gpu.supported]
    if not unsupported:
        return
    names = ", ".join(dict.fromkeys(f"{gpu.name} ({gpu.gfx})" for gpu in unsupported))
    findings.add(
        "gpu-unsupported" if len(unsupported) == len(known) else "gpu-partly-supported",
        found=names,
        expected=f"a GPU that ROCm {release['version']} supports: " + ", ".join(release["gfx"]),
        remedy="choose a release that supports it (docs/gpus.md)",
    )


def _dpkg(situation: Situation, _stages: Stages, findings: Findings) -> None:
    broken = situation.facts["dpkg_broken"]
    if broken:
        listed = ", ".join(f"{row['package']} ({row['status']})" for row in broken[:5])
        findings.add(
            "dpkg-broken",
            found=listed + (f" and {len(broken) - 5} more" if len(broken) > 5 else ""),
            expected="every package cleanly installed",
            remedy="find the cause in /var/log/apt/term.log, mend it, then run dpkg --configure -a",
        )


def _space(situation: Situation, stages: Stages, findings: Findings) -> None:
    needs: list[tuple[str, int, str]] = []
    if stages["sdk"]["actions"]:
        needs += [("/opt", SPACE_SDK_MB, "the SDK"), ("/var", SPACE_DOWNLOAD_MB, "package downloads")]
    if stages["driver"]["actions"] and not situation.in_container:
        needs += [("/boot", SPACE_BOOT_MB, "an initramfs with firmware")]
    if stages["pytorch"]["actions"]:
        needs += [(situation.wishes.pytorch_venv, SPACE_VENV_MB, "PyTorch")]
    for path, needed, purpose in needs:
        space = situation.facts["disk"].get(path)
        if space and space["free_mb"] < needed:
            findings.add(
                "disk-space",
                found=f"{space['free_mb']} MB free for {path}",
                expected=f"{needed} MB for {purpose}",
                remedy="free space, or set rocm_allow: [disk-space] if you know that it suffices",
            )


def _servers(situation: Situation, stages: Stages, findings: Findings) -> None:
    """What the servers answered; a host in sync that needs nothing from them is not held up by their outage."""
    needed = any(stage["actions"] for name, stage in stages.items() if name not in ("access", "environment"))
    for url in questions(situation)["urls"]:
        answer = situation.probe["urls"].get(url)
        if answer is None or answer["status"] == 200 or not needed:
            continue
        if answer["status"] in (403, 404, 410):
            findings.add(
                "repo-path-missing",
                found=f"{url} answers {answer['status']}",
                expected="the repository of the wanted release (200)",
                remedy="check rocm_version and the rocm_mirror_* variables; then run again",
            )
        else:
            findings.add(
                "repo-unreachable",
                found=f"{url} gives {answer['error'] or answer['status']}",
                expected="an answer of 200",
                remedy="check network, proxy and mirror from this host; then run again",
            )


def _keys(situation: Situation, stages: Stages, findings: Findings) -> None:
    for key in situation.keys:
        answer = situation.probe["keys"].get(key["url"])
        if answer is None:
            continue
        if answer["fingerprints"] and answer["fingerprints"] != [key["fingerprint"]]:
            findings.add(
                "key-mismatch",
                found=f"{key['url']} holds {', '.join(answer['fingerprints'])}",
                expected=key["fingerprint"],
                remedy="find out who changed the key; only then pin it in rocm_key_fingerprints",
            )
        elif not answer["content"] and any(file["path"] == key["path"] for file in stages["repo"]["keys"]):
            findings.add(
                "repo-unreachable" if answer["status"] not in (404, 200) else "repo-path-missing",
                found=f"{key['url']} gives {answer['error'] or answer['status']}",
                expected="the signing key",
                remedy="check rocm_mirror_* and the network from this host; then run again",
            )
    for row in situation.facts["apt"]["keyrings"]:
        ours = row["path"] in {key["path"] for key in situation.keys}
        if ours and row["expires"] and row["expires"] < situation.today:
            findings.add(
                "key-expired",
                found=f"the key in {row['path']} expired on {row['expires']}",
                expected="a valid key",
                remedy="nothing to do: the renewed key is fetched when the server has it",
            )
