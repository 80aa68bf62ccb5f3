"""Facts of imaginary hosts for decision tests: a bare MI250 server on Ubuntu 22.04, changed case by case."""

from __future__ import annotations

import copy
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import kernel as kernel_reader
from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.module_utils.packages import is_amd

VENV = "/opt/pytorch-rocm"
SANDBOX_KEY = "0123456789ABCDEF0123456789ABCDEF01234567"
KEY_TEXT = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nsample\n-----END PGP PUBLIC KEY BLOCK-----\n"
WHEEL_TAGS = [f"cp3{minor}-cp3{minor}" for minor in range(8, 15)]
ROOMY = {"free_mb": 500_000, "total_mb": 1_000_000}
# Codename: id, version, Python, kernel.
SYSTEMS = {
    "focal": ("ubuntu", "20.04", "3.8", "5.15.0-105-generic"),
    "jammy": ("ubuntu", "22.04", "3.10", "5.15.0-105-generic"),
    "noble": ("ubuntu", "24.04", "3.12", "6.8.0-60-generic"),
    "resolute": ("ubuntu", "26.04", "3.14", "7.0.0-14-generic"),
    "bookworm": ("debian", "12", "3.11", "6.1.0-37-amd64"),
}


def gpu(device: str = "740c", address: str = "0000:2f:00.0", **changes: Any) -> dict[str, Any]:
    """One display function as the facts module reports it."""
    row = {
        "address": address,
        "vendor": "1002",
        "device": device,
        "class": "0380",
        "driver": None,
        "virtual_function": False,
        "numa_node": 0,
    }
    return {**row, **changes}


def bare_server(**changes: Any) -> dict[str, Any]:
    """A bare-metal host with two MI250 functions and nothing of ROCm; keyword arguments replace top-level facts."""
    facts: dict[str, Any] = {
        "schema": 1,
        "os": {
            "id": "ubuntu",
            "id_like": ["debian"],
            "version_id": "22.04",
            "codename": "jammy",
            "base_id": "ubuntu",
            "base_codename": "jammy",
            "pretty_name": "Ubuntu 22.04.4 LTS",
        },
        "architecture": "x86_64",
        "kernel": {
            "release": "5.15.0-105-generic",
            "series": "5.15",
            "flavour": "generic",
            "mainline": False,
            "installed": ["5.15.0-105-generic"],
            "next_boot": "5.15.0-105-generic",
            "cmdline": "quiet iommu=pt",
            "headers": {
                "package": "linux-headers-5.15.0-105-generic",
                "installed": False,
                "candidate": "5.15.0-105.115",
            },
            "modules_extra": {
                "package": "linux-modules-extra-5.15.0-105-generic",
                "installed": False,
                "candidate": "5.15.0-105.115",
            },
            "next": None,
        },
        "secure_boot": "disabled",
        "virtualization": {"kind": "none", "name": ""},
        "gpus": [gpu(), gpu(address="0000:32:00.0")],
        "driver": {
            "loaded": False,
            "version": None,
            "srcversion": None,
            "on_disk": None,
            "dkms": [],
            "sources": [],
            "signing_key": None,
            "blacklist": [],
        },
        "boot": {"id": "1111", "last": None},
        "holds": [],
        "drained": False,
        "kfd": {"present": False, "mode": None, "owner": None, "group": None, "nodes": []},
        "render_nodes": [],
        "packages": {},
        "dpkg_broken": [],
        "unattended_upgrades": {"installed": False, "enabled": False, "kernel_excluded": False, "file": None},
        "apt": {"sources": [], "pins": [], "keyrings": []},
        "files": dict.fromkeys([*paths.OWNED_FILES, paths.venv_constraints(VENV)]),
        "rocm": {"link": None, "installs": [], "alternatives": []},
        "ldconfig": {},
        "groups": {"render": {"gid": 109, "members": []}, "video": {"gid": 44, "members": []}},
        "users": {"ada": {"uid": 1000, "home": "/home/ada", "shell": "/bin/bash", "groups": ["ada", "sudo"]}},
        "sessions": [],
        "environment": [],
        "disk": dict.fromkeys(["/", "/opt", "/var", "/boot", "/tmp", "/home", VENV], ROOMY),
        "python": [{"path": "/usr/bin/python3.10", "version": "3.10", "default": True, "venv": False}],
        "venvs": [{"path": VENV, "exists": False, "usable": False, "occupied": False, "python": None, "packages": {}}],
        "problems": [],
    }
    return {**copy.deepcopy(facts), **changes}


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of nested mappings with some values replaced; lists are replaced as a whole."""
    result = copy.deepcopy(dict(base))
    for key, value in changes.items():
        inner = result.get(key)
        if isinstance(inner, Mapping) and isinstance(value, Mapping):
            result[key] = merged(inner, value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def server(codename: str, **changes: Any) -> dict[str, Any]:
    """The bare server with another operating system; keyword arguments change single facts."""
    id, version, python, release = SYSTEMS[codename]
    identity = {"id": id, "version_id": version, "codename": codename, "base_id": id, "base_codename": codename}
    facts = bare_server(
        kernel=kernel(release),
        python=[{"path": f"/usr/bin/python{python}", "version": python, "default": True, "venv": False}],
    )
    return merged(facts, {"os": identity, **changes})


def kernel(release: str, **changes: Any) -> dict[str, Any]:
    """The facts of this running kernel, and of the one that boots next, whose packages apt offers."""
    base = {**bare_server()["kernel"], **kernel_reader.parse_release(release), "next_boot": release}
    facts = merged({**base, **_build_packages(release)}, changes)
    if facts["next_boot"] not in (None, release):
        facts["next"] = merged(_build_packages(facts["next_boot"]), changes.get("next", {}))
    return facts


def _build_packages(release: str) -> dict[str, Any]:
    return {
        part: {"package": f"linux-{name}-{release}", "installed": False, "candidate": release.rpartition("-")[0]}
        for part, name in (("headers", "headers"), ("modules_extra", "modules-extra"))
    }


def package(name: str, version: str) -> dict[str, Any]:
    """One installed package."""
    amd = is_amd(name, version)
    return {"version": version, "held": False, "amd": amd}


def source(file: str, uri: str, suite: str, **changes: Any) -> dict[str, Any]:
    """One entry of apt that points at AMD."""
    row = {"file": file, "uri": uri, "suite": suite, "enabled": True, "indexed": True, "other_entries": False}
    return {**row, "signed_by": None, **changes}


def kfd(gpus: Sequence[Mapping[str, Any]], partitions: Sequence[int] | None = None) -> dict[str, Any]:
    """The compute device of a driver that works, with so many partitions of each AMD GPU (one where none are given)."""
    cards = [row for row in gpus if row["vendor"] == "1002"]
    counts = partitions or [1] * len(cards)
    served = [(card, count) for card, count in zip(cards, counts, strict=True) if count]
    nodes = [
        {
            "node": number,
            "gfx": None,
            "device": card["device"],
            "simd_count": 152,
            "compute_units": 38,
            "location_id": _location(card["address"]),
            "domain": 0,
            "render_minor": 127 + number,
            "partitions": count,
        }
        for number, (card, count) in enumerate(served, 1)
    ]
    return {"present": True, "mode": "0660", "owner": "root", "group": "render", "nodes": nodes}


def _location(address: str) -> int:
    """Bus, device and function of a PCI address as the compute driver numbers them."""
    bus, device, function = (int(part, 16) for part in re.split("[:.]", address)[1:])
    return bus << 8 | device << 3 | function


def wishes(**changes: Any) -> dict[str, Any]:
    """The wishes of the first users: ROCm 6.0, PyTorch 2.3.0, one user."""
    return {"version": "6.0", "pytorch_version": "2.3.0", "users": ["ada"], **changes}


def answers(plan: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What healthy servers answer to the questions of a plan; ``changes`` replace the answer to a URL's end."""
    fingerprints = {key["url"]: key["fingerprint"] for key in plan["release"]["keys"]}
    return {
        "urls": {url: {"status": 200, "error": ""} for url in plan["probe"]["urls"]},
        "keys": {
            url: {"status": 200, "error": "", "fingerprints": [fingerprints[url]], "content": KEY_TEXT, **changes}
            for url in plan["probe"]["keys"]
        },
        "wheels": {
            row["url"]: {"status": 200, "error": "", "tags": list(WHEEL_TAGS), "versions": [row["version"]]}
            for row in plan["probe"]["wheels"]
        },
    }


def on_disk(content: str, **changes: Any) -> dict[str, Any]:
    """The facts of one file with this content."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    return {"sha256": digest, "mode": "0644", "owner": "root", "group": "root", **changes}


def carried_out(facts: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """The facts after every action of the plan succeeded: what a host in sync looks like."""
    done = copy.deepcopy(facts)
    stages, release = plan["stages"], plan["release"]
    repo = stages["repo"]
    constraints = [stages["pytorch"]["constraints"]] if stages["pytorch"]["actions"] else []
    for file in [*repo["files"], *repo["keys"], *stages["environment"]["files"], *constraints]:
        done["files"][file["path"]] = on_disk(file["content"])
    for source in release["sources"]:
        if any(file["path"] == source["file"] for file in repo["files"]):
            entry = {
                "file": source["file"],
                "uri": source["uri"] + "/",
                "suite": source["suite"],
                "enabled": True,
                "indexed": True,
                "other_entries": False,
            }
            done["apt"]["sources"].append(entry)
    for key in release["keys"]:
        row = {"path": key["path"], "fingerprints": [key["fingerprint"]], "expires": None, "form": "armored"}
        done["apt"]["keyrings"].append(row)
    for stage, build in (("driver", release["driver"]["build"]), ("sdk", release["build"])):
        for action in stages[stage]["actions"]:
            if action["action"] != "install":
                continue
            # The new stream has no build field.
            version = f"1.0.0.{build}-91~22.04" if build else f"{release['version']}-4"
            done["packages"][action["target"]] = {"version": version, "held": False, "amd": True}
    for fact in (done["kernel"], done["kernel"]["next"]):
        for kernel_package in ("headers", "modules_extra") if fact else ():
            fact[kernel_package]["installed"] = True
    module = f"{release['driver']['dkms_module'] or '6.3.6'}-1"
    done["driver"]["dkms"] += [dkms(module, name) for name in stages["driver"]["kernels"]]
    for name in plan["wishes"]["users"]:
        done["users"][name]["groups"] += ["render", "video"]
    done["ldconfig"] = {"libamdhip64.so.6": "/opt/rocm/lib/libamdhip64.so.6"}
    if plan["torch"]:
        venv = {
            "path": VENV,
            "exists": True,
            "usable": True,
            "occupied": False,
            "python": plan["torch"]["interpreter_version"],
            "packages": dict(plan["torch"]["packages"]),
        }
        done["venvs"] = [venv]
        done["python"][0]["venv"] = True
    return done


def dkms(version: str, kernel: str | None, state: str = "installed", module: str = "amdgpu") -> dict[str, Any]:
    """One entry of dkms status."""
    arch = "x86_64" if kernel else None
    return {"module": module, "version": version, "kernel": kernel, "arch": arch, "state": state, "warning": None}


def booted(facts: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """A host on which the plan was carried out, after its reboot: ROCm's tree is there and the driver at work."""
    release, kernels = plan["release"], facts["kernel"]
    tree = release["prefix"]
    rocm = {"link": tree, "installs": [{"path": tree, "version": release["version"]}]}
    if plan["driver_mode"] == "none":
        return merged(facts, {"rocm": rocm})
    own, version = plan["driver_mode"] == "dkms", release["driver"]["dkms_module"] or "6.3.6"
    folder = "updates/dkms" if own else "kernel/drivers/gpu/drm/amd/amdgpu"
    module = {"version": version if own else None, "srcversion": "A" * 24}
    driver = {
        "loaded": True,
        **module,
        "on_disk": {"path": f"/lib/modules/{kernels['release']}/{folder}/amdgpu.ko", **module},
    }
    gpus = [{**row, "driver": "amdgpu"} if row["vendor"] == "1002" else row for row in facts["gpus"]]
    devices = kfd(gpus)
    minors = [row["render_minor"] for row in devices["nodes"]]
    nodes = [{"minors": minors, "mode": "0660", "owner": "root", "group": "render"}] if minors else []
    return merged(facts, {"rocm": rocm, "driver": driver, "gpus": gpus, "kfd": devices, "render_nodes": nodes})
