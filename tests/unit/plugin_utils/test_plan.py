"""Decisions: facts, wishes and answers in, findings and actions out."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import gpu_by_device
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.plan import make_plan
from tests.unit.facts_builder import (
    KEY_TEXT,
    VENV,
    answers,
    bare_server,
    booted,
    carried_out,
    gpu,
    merged,
    on_disk,
    package,
    server,
    wishes,
)


def plan_for(facts: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A plan with healthy servers."""
    wanted = wishes(**changes)
    first = make_plan(facts, wanted)
    return make_plan(facts, wanted, answers(first)) if first["release"] else first


def ids(findings: list[dict[str, str]]) -> set[str]:
    return {finding["id"] for finding in findings}


def targets(plan: dict[str, Any], stage: str) -> list[str]:
    return [action["target"] for action in plan["actions"] if action["stage"] == stage]


def test_bare_server_goes_all_the_way() -> None:
    plan = plan_for(bare_server())
    assert plan["state"] == "change"
    assert plan["refusals"] == []
    assert [action["stage"] for action in plan["actions"]] == sorted(
        (action["stage"] for action in plan["actions"]),
        key=["repo", "driver", "sdk", "access", "environment", "pytorch"].index,
    )
    assert targets(plan, "repo") == [
        paths.ROCM_KEYRING,
        paths.ROCM_PIN,
        paths.ROCM_SOURCE,
        paths.AMDGPU_SOURCE,
        "apt package index",
    ]
    assert targets(plan, "driver") == [
        "linux-headers-5.15.0-105-generic",
        "linux-modules-extra-5.15.0-105-generic",
        "amdgpu-dkms",
        "amdgpu-dkms-firmware",
    ]
    assert plan["stages"]["driver"]["packages"] == [
        "linux-headers-5.15.0-105-generic",
        "linux-modules-extra-5.15.0-105-generic",
        "amdgpu-dkms=*.60000-*",
        "amdgpu-dkms-firmware=*.60000-*",
    ]
    assert "rocm-hip-sdk=*.60000-*" in plan["stages"]["sdk"]["packages"]
    assert plan["reboot"] is True
    assert plan["torch"]["pins"] == ["torch==2.3.0+rocm6.0", "torchvision==0.18.0+rocm6.0", "torchaudio==2.3.0+rocm6.0"]
    command = plan["stages"]["pytorch"]["pip_command"]
    assert command[command.index("--index-url") + 1] == "https://download.pytorch.org/whl/rocm6.0"
    assert "--extra-index-url" not in command


def test_host_that_was_brought_there_is_in_sync() -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    plan = plan_for(done)
    assert plan["actions"] == []
    assert plan["in_sync"] is True
    assert plan["reboot"] is False


DRIFTS: list[tuple[str, Any, str]] = [
    ("file edited", lambda f: f["files"].__setitem__(paths.ROCM_PIN, on_disk("Package: *\n")), "repo"),
    ("pin removed", lambda f: f["files"].__setitem__(paths.ROCM_PIN, None), "repo"),
    ("pin unreadable", lambda f: f["files"][paths.ROCM_PIN].__setitem__("mode", "0600"), "repo"),
    ("key swapped", lambda f: f["apt"]["keyrings"][0].__setitem__("fingerprints", ["A" * 40]), "repo"),
    ("index lost", lambda f: f["apt"]["sources"][0].__setitem__("indexed", False), "repo"),
    ("user out of group", lambda f: f["users"]["ada"]["groups"].remove("render"), "access"),
    (
        "package downgraded",
        lambda f: f["packages"]["rocm-hip-sdk"].__setitem__("version", "5.7.1.50701-98~22.04"),
        "sdk",
    ),
    ("driver removed", lambda f: f["packages"].pop("amdgpu-dkms"), "driver"),
    ("profile edited", lambda f: f["files"].__setitem__(paths.PROFILE, on_disk("export X=1\n")), "environment"),
    ("linker cache stale", lambda f: f.__setitem__("ldconfig", {}), "environment"),
    ("wheel replaced", lambda f: f["venvs"][0]["packages"].__setitem__("torch", "2.6.0"), "pytorch"),
    ("other Python", lambda f: f["venvs"][0].__setitem__("python", "3.9"), "pytorch"),
    ("venv without interpreter", lambda f: f["venvs"][0].__setitem__("usable", False), "pytorch"),
    ("venv removed", lambda f: f["venvs"][0].__setitem__("exists", False), "pytorch"),
]


@pytest.mark.parametrize(("name", "change", "stage"), DRIFTS, ids=[drift[0] for drift in DRIFTS])
def test_drift_touches_only_its_stage(name: str, change: Any, stage: str) -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    change(done)
    plan = plan_for(done)
    touched = {action["stage"] for action in plan["actions"]}
    # New libraries always refresh the linker cache.
    allowed = {stage, "environment"} if stage == "sdk" else {stage}
    assert stage in touched, name
    assert touched <= allowed


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("unknown release", {}, {"version": "6.9"}, "release-unknown"),
    ("release of another system", {}, {"version": "10.0.1"}, "release-unknown"),
    ("unknown user", {"users": {"ada": None}}, {}, "user-unknown"),
    ("unknown user to verify as", {}, {"verify_user": "typo"}, "user-unknown"),
    ("folder in use", {"venvs": [{**bare_server()["venvs"][0], "occupied": True}]}, {}, "venv-path-occupied"),
    ("expected GPUs absent", {"gpus": []}, {"expect_gpus": 2}, "gpu-none"),
    ("any GPU expected", {"gpus": []}, {"expect_gpus": True}, "gpu-none"),
    ("GPU by text only", {"gpus": [gpu(vendor="10de", device="1c03")]}, {"expect_gpus": True}, "gpu-none"),
    ("GPU too new", {"gpus": [gpu("75a0")]}, {}, "gpu-unsupported"),
    ("hypervisor", {"gpus": [gpu(driver="vfio-pci")]}, {}, "hypervisor-host"),
    ("MxGPU host", {"gpus": [gpu("74a1", driver="gim")]}, {}, "hypervisor-host"),
    (
        "Proxmox",
        {"packages": {"proxmox-ve": {"version": "8", "held": False, "amd": False}}},
        {},
        "proxmox-host",
    ),
    ("WSL", {"virtualization": {"kind": "wsl", "name": "wsl"}}, {}, "wsl"),
    (
        "dpkg broken",
        {"dpkg_broken": [{"package": "linux-image-6.8.0-44-generic", "status": "half-configured"}]},
        {},
        "dpkg-broken",
    ),
    ("disk full", {"disk": {"/opt": {"free_mb": 900, "total_mb": 9000}}}, {}, "disk-space"),
    ("arm64", {"architecture": "aarch64"}, {}, "architecture-unsupported"),
    (
        "no wheels for this Python",
        {"python": [{"path": "/usr/bin/python3.14", "version": "3.14", "default": True, "venv": True}]},
        {},
        "python-no-wheel",
    ),
    ("no such torch", {}, {"pytorch_version": "9.9.9"}, "torch-no-index"),
    ("bad driver mode", {}, {"driver_mode": "latest"}, "wish-invalid"),
    ("no hosts at a time", {}, {"serial": [0]}, "wish-invalid"),
    ("more than all", {}, {"serial": ["1", "101%"]}, "wish-invalid"),
    ("failures beyond all", {}, {"max_fail_percentage": 101}, "wish-invalid"),
    ("hooks that are no file", {}, {"drain_tasks": "drain the host"}, "wish-invalid"),
    ("hooks with a template", {}, {"restore_tasks": "{{ x }}.yml"}, "wish-invalid"),
    ("shell in a package name", {}, {"packages": ["rocm; reboot"]}, "wish-invalid"),
    ("option as a package name", {}, {"packages": ["--purge"]}, "wish-invalid"),
    ("users as text", {}, {"users": "ada"}, "wish-invalid"),
    ("mirror with a space", {}, {"mirrors": {"radeon": "http://mirror local/"}}, "wish-invalid"),
    ("no override for a hypervisor", {}, {"allow": ["hypervisor-host"]}, "wish-invalid"),
]


@pytest.mark.parametrize(("name", "facts", "changes", "expected"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refusals(name: str, facts: dict[str, Any], changes: dict[str, Any], expected: str) -> None:
    plan = plan_for(bare_server(**facts), **changes)
    assert plan["state"] == "refused", name
    assert expected in ids(plan["refusals"])
    for finding in plan["refusals"]:
        assert finding["found"]
        assert finding["expected"]
        assert finding["remedy"]


def test_unknown_release_lists_the_known_ones() -> None:
    (refusal,) = plan_for(bare_server(), version="6.0.9")["refusals"]
    for known in ("6.0", "6.0.2", "7.2.4", "10.1"):
        assert known in refusal["message"]


@pytest.mark.parametrize("status", [403, 404, 410])
def test_missing_repository_path_refuses(status: int) -> None:
    facts = bare_server()
    probe = answers(make_plan(facts, wishes()))
    url = next(iter(probe["urls"]))
    probe["urls"][url] = {"status": status, "error": ""}
    plan = make_plan(facts, wishes(), probe)
    (refusal,) = plan["refusals"]
    assert refusal["id"] == "repo-path-missing"
    assert url in refusal["message"]


def test_outage_refuses_a_bare_host_but_not_one_in_sync() -> None:
    facts = bare_server()
    first = plan_for(facts)
    probe = answers(first)
    for url in probe["urls"]:
        probe["urls"][url] = {"status": None, "error": "no answer: timed out"}
    assert ids(make_plan(facts, wishes(), probe)["refusals"]) == {"repo-unreachable"}
    assert make_plan(carried_out(facts, first), wishes(), probe)["in_sync"] is True


def test_foreign_key_refuses_and_is_never_written() -> None:
    facts = bare_server()
    probe = answers(make_plan(facts, wishes()), fingerprints=["F" * 40])
    plan = make_plan(facts, wishes(), probe)
    assert ids(plan["refusals"]) == {"key-mismatch"}
    assert all(not key["content"] for key in plan["stages"]["repo"]["keys"])


def test_foreign_key_refuses_even_where_the_host_has_the_good_one() -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    plan = make_plan(done, wishes(), answers(plan_for(done), fingerprints=["F" * 40]))
    assert ids(plan["refusals"]) == {"key-mismatch"}
    assert plan["stages"]["repo"]["keys"] == []


def test_a_good_key_beside_a_foreign_one_is_not_trusted() -> None:
    facts = bare_server()
    first = make_plan(facts, wishes())
    good = first["release"]["keys"][0]["fingerprint"]
    plan = make_plan(facts, wishes(), answers(first, fingerprints=[good, "F" * 40]))
    assert ids(plan["refusals"]) == {"key-mismatch"}


def test_renewed_key_is_fetched_again() -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    plan = make_plan(done, wishes(), answers(plan_for(done), content=KEY_TEXT + "renewed\n"))
    assert targets(plan, "repo") == [paths.ROCM_KEYRING, "apt package index"]


def test_override_is_recorded() -> None:
    facts = bare_server(disk={"/opt": {"free_mb": 900, "total_mb": 9000}})
    plan = plan_for(facts, allow=["disk-space"])
    assert plan["state"] == "change"
    assert plan["allowed"] == ["disk-space"]
    assert "disk-space" in ids(plan["warnings"])


CONTAINER = {"virtualization": {"kind": "container", "name": "podman"}}
MODES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("Instinct", {}, {}, "dkms"),
    ("no GPU", {"gpus": []}, {}, "none"),
    ("container", CONTAINER, {}, "none"),
    ("container, asked for", CONTAINER, {"driver_mode": "dkms"}, "dkms"),
    ("asked for none", {}, {"driver_mode": "none"}, "none"),
    ("old name", {"gpus": []}, {"packages": ["rocm-hip-sdk", "rocm-dkms"]}, "dkms"),
]


@pytest.mark.parametrize(("name", "facts", "changes", "mode"), MODES, ids=[case[0] for case in MODES])
def test_driver_mode(name: str, facts: dict[str, Any], changes: dict[str, Any], mode: str) -> None:
    plan = plan_for(bare_server(**facts), **changes)
    assert plan["driver_mode"] == mode, name
    assert (paths.AMDGPU_SOURCE in targets(plan, "repo")) is (mode == "dkms")


def test_container_says_so_and_goes_on() -> None:
    plan = plan_for(bare_server(**CONTAINER), driver_mode="dkms")
    assert "driver-container" in ids(plan["warnings"])
    assert plan["reboot"] is False
    assert plan["stages"]["driver"]["packages"] == ["amdgpu-dkms=*.60000-*", "amdgpu-dkms-firmware=*.60000-*"]
    assert plan["verify"]["no_gpu"].startswith("no GPU")


def test_old_names_are_answered() -> None:
    plan = plan_for(bare_server(), packages=["rocm-dkms", "rocm-hip-sdk", "hipinfo"])
    assert ids(plan["warnings"]) >= {"package-renamed"}
    packages = plan["stages"]["sdk"]["packages"]
    assert not any("rocm-dkms" in name or "hipinfo" in name for name in packages)
    assert "rocm-hip-sdk=*.60000-*" in packages


def test_distribution_package_is_replaced() -> None:
    facts = bare_server(packages={"rocminfo": {"version": "5.0.0-1", "held": False, "amd": False}})
    plan = plan_for(facts)
    assert "distro-package-shadows" in ids(plan["warnings"])
    assert "rocminfo=*.60000-*" in plan["stages"]["sdk"]["packages"]


def source(file: str, **changes: Any) -> dict[str, Any]:
    row = {
        "file": file,
        "uri": "https://repo.radeon.com/rocm/apt/5.7",
        "suite": "jammy",
        "enabled": True,
        "indexed": True,
        "other_entries": False,
    }
    return {**row, **changes}


def test_old_sources_are_moved_away_before_ours_are_written() -> None:
    apt = {"sources": [source("/etc/apt/sources.list.d/rocm.list")], "pins": [], "keyrings": []}
    plan = plan_for(bare_server(apt=apt))
    assert plan["actions"][0]["target"] == "/etc/apt/sources.list.d/rocm.list"
    assert "stale-source" in ids(plan["warnings"])


def test_a_source_among_other_vendors_is_left_to_the_operator() -> None:
    apt = {"sources": [source("/etc/apt/sources.list", other_entries=True)], "pins": [], "keyrings": []}
    plan = plan_for(bare_server(apt=apt))
    assert ids(plan["refusals"]) == {"signed-by-conflict"}


def test_disabled_entries_do_not_matter() -> None:
    apt = {"sources": [source("/etc/apt/sources.list", other_entries=True, enabled=False)], "pins": [], "keyrings": []}
    assert plan_for(bare_server(apt=apt))["refusals"] == []


def test_another_release_changes_exactly_what_differs() -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    plan = plan_for(done, version="6.0.2")
    assert "rocm-hip-sdk=*.60002-*" in plan["stages"]["sdk"]["packages"]
    assert paths.ROCM_PIN not in targets(plan, "repo")
    assert paths.ROCM_SOURCE in targets(plan, "repo")
    assert targets(plan, "pytorch") == []


def test_loaded_module_decides_about_the_reboot() -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    disk = {"path": "/lib/modules/5.15.0-105-generic/updates/dkms/amdgpu.ko", "version": "6.3.6", "srcversion": "AAA"}
    done["driver"] = {**done["driver"], "loaded": True, "version": "6.3.6", "srcversion": "AAA", "on_disk": disk}
    assert plan_for(done)["reboot"] is False
    stale = copy.deepcopy(done)
    stale["driver"]["srcversion"] = "BBB"
    plan = plan_for(stale)
    assert plan["reboot"] is True
    assert "reboot-required" in ids(plan["warnings"])
    assert plan["verify"]["no_gpu"].startswith("reboot required")


def settled(**changes: Any) -> dict[str, Any]:
    """The first users' server with everything carried out and the driver at work."""
    facts = bare_server()
    plan = plan_for(facts)
    return merged(booted(carried_out(facts, plan), plan), changes)


META = {
    "linux-generic": package("linux-generic", "5.15.0.105.102"),
    "linux-firmware": package("linux-firmware", "2022"),
}
DRIVER = ["amdgpu-dkms", "amdgpu-dkms-firmware"]


def held(*names: str) -> dict[str, Any]:
    return {name: {"held": True} for name in names}


HOLDS: list[tuple[str, dict[str, Any], bool, list[str], list[str], list[str]]] = [
    # On the host, wished, then actions, packages that are held in the end, packages that are released first.
    ("not wished", {}, False, [], [], []),
    ("wished", {}, True, [f"hold {name}" for name in ["linux-generic", *DRIVER]], ["linux-generic", *DRIVER], []),
    (
        "in place",
        {"packages": held("linux-generic", *DRIVER), "holds": ["linux-generic", *DRIVER]},
        True,
        [],
        ["linux-generic", *DRIVER],
        [],
    ),
    ("set by somebody else", {"packages": held("linux-generic", *DRIVER)}, True, [], [], []),
    ("set by somebody else, not wished", {"packages": held("linux-generic")}, False, [], [], []),
    (
        "lifted by hand",
        {"packages": held(*DRIVER), "holds": ["linux-generic", *DRIVER]},
        True,
        ["hold linux-generic"],
        ["linux-generic", *DRIVER],
        [],
    ),
    (
        "no longer wished",
        {"packages": held("linux-generic", *DRIVER), "holds": ["linux-generic"]},
        False,
        ["unhold linux-generic"],
        [],
        ["linux-generic"],
    ),
    ("recorded and gone", {"holds": ["linux-oem"]}, False, ["unhold linux-oem"], [], []),
]


@pytest.mark.parametrize(
    ("name", "changes", "wished", "actions", "hold", "unhold"), HOLDS, ids=[row[0] for row in HOLDS]
)
def test_holds(
    name: str, changes: dict[str, Any], wished: bool, actions: list[str], hold: list[str], unhold: list[str]
) -> None:
    plan = plan_for(merged(settled(packages=META), changes), hold=wished)
    assert [f"{row['action']} {row['target']}" for row in plan["actions"]] == actions, name
    stage = plan["stages"]["driver"]
    assert (stage["hold"], stage["unhold"]) == (hold, unhold)
    assert plan["reboot"] is False


@pytest.mark.parametrize("ours", [True, False])
def test_a_driver_on_hold_changes_only_where_the_hold_is_ours(ours: bool) -> None:
    facts = settled(packages=held(*DRIVER), holds=DRIVER if ours else [])
    plan = plan_for(facts, version="6.0.2", hold=True)
    assert ids(plan["refusals"]) == (set() if ours else {"driver-held"})
    assert plan["stages"]["driver"]["unhold"] == (DRIVER if ours else [])
    assert plan["stages"]["driver"]["hold"] == (DRIVER if ours else [])


LAST = {"id": "0000", "module": "A" * 24}
LOOPS: list[tuple[str, Any, bool]] = [
    ("no reboot yet", None, True),
    ("a reboot for this module", LAST, False),
    ("the reboot is still to come", {**LAST, "id": "1111"}, True),
    ("a reboot for another module", {**LAST, "module": "C" * 24}, True),
]


@pytest.mark.parametrize(("name", "last", "reboot"), LOOPS, ids=[row[0] for row in LOOPS])
def test_a_reboot_is_not_tried_twice_for_one_module(name: str, last: Any, reboot: bool) -> None:
    plan = plan_for(settled(driver={"srcversion": "B" * 24}, boot={"last": last}))
    assert plan["reboot"] is reboot, name
    assert {"reboot-loop", "reboot-required"} & ids(plan["warnings"]) == {
        "reboot-required" if reboot else "reboot-loop"
    }
    assert ("amdgpu 6.3.6 is loaded" in plan["stages"]["driver"]["reboot_reason"]) is reboot


def test_the_kernels_own_driver_takes_the_place_of_amds_where_it_is_wished() -> None:
    facts = settled(driver={"sources": ["6.3.6-1"]})
    plan = plan_for(facts, driver_mode="inbox")
    assert plan["stages"]["driver"]["remove"] == DRIVER
    assert plan["reboot"] is True
    assert "driver-held" in ids(plan_for(merged(facts, {"packages": held(*DRIVER)}), driver_mode="inbox")["refusals"])
    apu = {**facts, "gpus": [gpu("150e")]}
    assert plan_for(apu, version="6.0")["stages"]["driver"]["remove"] == []


STALE: list[tuple[str, list[str], list[str]]] = [
    ("of the installed driver", ["6.3.6-1"], []),
    ("of a driver that is gone", ["6.2.4-1"], ["6.3.6-1"]),
    ("packaged in an unknown way", [], []),
]


@pytest.mark.parametrize(("name", "sources", "stale"), STALE, ids=[row[0] for row in STALE])
def test_trees_that_no_package_brought(name: str, sources: list[str], stale: list[str]) -> None:
    plan = plan_for(settled(driver={"sources": sources}))
    stage = plan["stages"]["driver"]
    assert [tree["version"] for tree in stage["stale"]] == stale, name
    assert targets(plan, "driver") == [*(f"/var/lib/dkms/amdgpu/{version}" for version in stale), *stage["build"]]
    # What is deleted serves no kernel.
    assert bool(stage["build"]) is bool(stale)


def test_settings_of_users_are_named_with_their_file() -> None:
    setting = {"variable": "HSA_OVERRIDE_GFX_VERSION", "value": "10.3.0", "file": "/etc/environment"}
    plan = plan_for(bare_server(environment=[setting]))
    (warning,) = [row for row in plan["warnings"] if row["id"] == "hsa-override-set"]
    assert "/etc/environment" in warning["message"]


def test_constraints_hold_the_exact_set() -> None:
    plan = plan_for(bare_server())
    constraints = plan["stages"]["pytorch"]["constraints"]
    assert constraints["path"] == f"{VENV}/constraints.txt"
    assert "torch==2.3.0+rocm6.0" in constraints["content"].splitlines()


@pytest.mark.parametrize(("today", "warned"), [("2026-08-01", False), ("2026-08-03", True)])
def test_expired_key_on_the_host_is_named(today: str, warned: bool) -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    done["apt"]["keyrings"][0]["expires"] = "2026-08-02"
    plan = make_plan(done, wishes(), answers(plan_for(done)), today)
    assert ("key-expired" in ids(plan["warnings"])) is warned


def test_derivative_is_planned_as_what_it_is_built_on() -> None:
    mint = {**bare_server()["os"], "id": "linuxmint", "version_id": "21.1", "codename": "vera"}
    plan = plan_for(bare_server(os=mint))
    assert plan["state"] == "change"
    assert "os-derivative" in ids(plan["warnings"])
    assert plan["release"]["sources"][0]["suite"] == "jammy"


def kernel(release: str, **changes: Any) -> dict[str, Any]:
    """The facts of a host with this kernel, running and next."""
    facts = bare_server()["kernel"]
    return {**facts, "release": release, "series": ".".join(release.split(".")[:2]), "next_boot": release, **changes}


NOBLE = {**bare_server()["os"], "version_id": "24.04", "codename": "noble", "base_codename": "noble"}
PYTHON_312 = [{"path": "/usr/bin/python3.12", "version": "3.12", "default": True, "venv": False}]
KERNELS: list[tuple[str, str, dict[str, Any], str | None]] = [
    # ROCm/ROCm#3701: the same series broke with its 44th build.
    ("6.2", "noble 6.8.0-41-generic", {}, None),
    ("6.2", "noble 6.8.0-44-generic", {}, "kernel-unsupported"),
    # The running kernel is good and the one that boots next is not.
    ("6.2", "noble 6.8.0-41-generic", {"next_boot": "6.8.0-44-generic"}, "kernel-unsupported"),
    # ROCm/ROCm#4619 and its kind: each HWE kernel is newer than what the driver was made for.
    ("6.4.1", "noble 6.14.0-24-generic", {}, "kernel-unsupported"),
    ("6.4.1", "noble 6.17.0-8-generic", {}, "kernel-unsupported"),
    ("6.4.1", "noble 6.11.0-29-generic", {}, None),
    ("6.0", "jammy 6.8.0-40-generic", {}, "kernel-unsupported"),
    ("6.0", "jammy 5.15.0-105-generic", {}, "kernel-unlisted"),
    ("6.0", "jammy 6.5.0-1021-azure", {}, "kernel-unlisted"),
    ("6.0", "jammy 6.2.0-39-generic", {}, None),
    ("6.0", "jammy 6.6.0-061807-generic", {}, "kernel-mainline"),
    ("6.0", "jammy 6.2.0-39-generic", {"next_boot": "6.2.16-060216-generic"}, "kernel-mainline"),
]


@pytest.mark.parametrize(("version", "host", "changes", "expected"), KERNELS)
def test_kernels(version: str, host: str, changes: dict[str, Any], expected: str | None) -> None:
    codename, release = host.split()
    facts = bare_server(kernel=kernel(release, **changes))
    if codename == "noble":
        facts |= {"os": NOBLE, "python": PYTHON_312}
    plan = plan_for(facts, version=version, pytorch=False)
    found = {id for id in ids(plan["refusals"]) | ids(plan["warnings"]) if id.startswith("kernel-")}
    assert found == ({expected} if expected else set())
    assert (plan["state"] == "refused") is (expected in ("kernel-unsupported", "kernel-mainline"))
    # Without a driver of AMD's there is nothing to build.
    inbox = plan_for(facts, version=version, pytorch=False, driver_mode="inbox")
    assert inbox["state"] == "change"


SECURE: list[tuple[str, Any, bool]] = [
    ("disabled", None, False),
    ("unknown", None, False),
    ("enabled", None, True),
    ("enabled", {"path": "/var/lib/dkms/mok.pub", "enrolled": False}, True),
    ("enabled", {"path": "/var/lib/dkms/mok.pub", "enrolled": True}, False),
]


@pytest.mark.parametrize(("state", "key", "refused"), SECURE)
def test_secure_boot(state: str, key: Any, refused: bool) -> None:
    driver = {**bare_server()["driver"], "signing_key": key}
    plan = plan_for(bare_server(secure_boot=state, driver=driver))
    assert ("secure-boot-unsigned" in ids(plan["refusals"])) is refused


def test_a_driver_that_works_is_not_held_against_its_kernel() -> None:
    facts = bare_server(kernel=kernel("6.2.0-39-generic"))
    done = carried_out(facts, plan_for(facts))
    done["kernel"] = {**done["kernel"], "next_boot": "6.8.0-40-generic"}
    assert plan_for(done)["state"] == "in-sync"


CORE = {"version": "10.0", "pytorch_version": ""}


def noble(**changes: Any) -> dict[str, Any]:
    """A bare server on Ubuntu 24.04 with one MI300X."""
    return server("noble", **{"gpus": [gpu("74a1")], **changes})


def test_new_stream_has_two_keys_no_pin_and_no_linker_file() -> None:
    plan = plan_for(noble(), **CORE)
    assert plan["refusals"] == []
    assert targets(plan, "repo") == [
        paths.AMDROCM_KEYRING,
        paths.ROCM_KEYRING,
        paths.ROCM_SOURCE,
        paths.AMDGPU_SOURCE,
        "apt package index",
    ]
    assert plan["stages"]["sdk"]["packages"][0] == "amdrocm-core-sdk10.0-gfx942=10.0.0-*"
    assert "libatomic1" in plan["stages"]["sdk"]["packages"]
    assert plan["stages"]["driver"]["packages"][-1] == "amdgpu-dkms-firmware=*.31500000-*"
    assert targets(plan, "environment") == [paths.PROFILE]
    assert plan["stages"]["environment"]["linker_cache"] is False


@pytest.mark.parametrize("version", ["7.2.4", "7.14", "10.0"])
def test_newer_releases_are_in_sync_once_carried_out(version: str) -> None:
    facts = noble()
    changes = {"version": version, "pytorch_version": ""}
    plan = plan_for(carried_out(facts, plan_for(facts, **changes)), **changes)
    assert plan["actions"] == []
    assert plan["in_sync"] is True


@pytest.mark.parametrize(
    ("device", "id"), [("1114", "fact-inferred"), ("74a2", "fact-unconfirmed"), ("74a1", None)], ids=str
)
def test_what_is_unsure_about_a_gpu_is_said(device: str, id: str | None) -> None:
    warnings = plan_for(noble(gpus=[gpu(device)]), **CORE)["warnings"]
    told = {finding["id"] for finding in warnings if name_of(device) in finding["message"]}
    assert told - {"gpu-unlisted-here"} == ({id} if id else set())


def name_of(device: str) -> str:
    row = gpu_by_device(device)
    assert row
    return str(row["name"])


SDK = "amdrocm-core-sdk10.0"
ALL_TARGETS = {"packages": {SDK: {"version": "10.0.0-4", "held": False, "amd": True}}}
PER_GPU: dict[str, tuple[dict[str, Any], list[str]]] = {
    "each target once": ({"gpus": [gpu("74a1"), gpu("744c"), gpu("74a1")]}, [f"{SDK}-gfx942", f"{SDK}-gfx1100"]),
    "no GPU: a build host": ({"gpus": []}, [SDK]),
    "unknown GPU": ({"gpus": [gpu("ffff")]}, [SDK]),
    "all targets are there already": (ALL_TARGETS, []),
}


@pytest.mark.parametrize(("facts", "expected"), PER_GPU.values(), ids=PER_GPU)
def test_new_stream_installs_what_the_gpus_need(facts: dict[str, Any], expected: list[str]) -> None:
    sdk = plan_for(noble(**facts), **CORE)["stages"]["sdk"]
    assert [action["target"] for action in sdk["actions"] if action["target"].startswith("amdrocm")] == expected


def test_preview_with_packages_per_gpu_family_only() -> None:
    preview = {"version": "7.13", "allow": ["release-preview"], "pytorch": False}
    assert f"{SDK[:-4]}7.13-gfx94x" in targets(plan_for(noble(), **preview), "sdk")
    assert "packages-per-gpu" in ids(plan_for(noble(gpus=[]), **preview)["refusals"])
    chosen = {**preview, "packages": ["amdrocm7.13-gfx94x"]}
    assert "packages-per-gpu" not in ids(plan_for(noble(gpus=[]), **chosen)["refusals"])


def test_new_stream_without_a_driver_needs_one_key() -> None:
    plan = plan_for(noble(**CONTAINER), **CORE)
    assert paths.AMDROCM_KEYRING in targets(plan, "repo")
    assert paths.ROCM_KEYRING not in targets(plan, "repo")


def test_graphics_source_belongs_to_7_and_leaves_with_it() -> None:
    facts = noble()
    done = carried_out(facts, plan_for(facts, version="7.2.4", pytorch_version=""))
    assert done["files"][paths.GRAPHICS_SOURCE]
    older = plan_for(done, version="6.4.2", pytorch_version="")
    assert paths.GRAPHICS_SOURCE in older["stages"]["repo"]["remove"]


def test_patch_of_the_new_stream_is_a_difference() -> None:
    facts = noble()
    done = carried_out(facts, plan_for(facts, **CORE))
    done["packages"]["amdrocm-core-sdk10.0-gfx942"]["version"] = "10.0.1-1"
    (change,) = plan_for(done, **CORE)["stages"]["sdk"]["actions"]
    assert change["reason"] == "is 10.0.1-1"


@pytest.mark.parametrize(
    ("now", "wanted"), [("7.1.1", "7.2.4"), ("7.2.4", "7.14")], ids=["within legacy", "to the newer numbers"]
)
def test_driver_from_30_on_is_replaced_by_its_own_number(now: str, wanted: str) -> None:
    facts = noble()
    done = carried_out(facts, plan_for(facts, version=now, pytorch_version=""))
    assert targets(plan_for(done, version=wanted, pytorch_version=""), "driver") == [
        "amdgpu-dkms",
        "amdgpu-dkms-firmware",
    ]


LINKED = {"link": "/opt/rocm-7.2.4", "installs": [{"path": "/opt/rocm-7.2.4", "version": "7.2.4-93"}]}
FOLDER = {"link": "/opt/rocm/core-10.0", "installs": [{"path": "/opt/rocm/core-10.0", "version": "10.0.0"}]}
OLD_CORE = {"rocm-core": {"version": "7.2.4.70204-93~24.04", "held": False, "amd": True}}
STREAMS: list[tuple[str, dict[str, Any], str, set[str]]] = [
    ("link in the way", {"rocm": LINKED}, "10.0", {"new-stream-over-legacy"}),
    ("package in the way", {"packages": OLD_CORE}, "7.14", {"new-stream-over-legacy"}),
    ("folder in the way", {"rocm": FOLDER}, "7.2.4", {"legacy-over-new-stream"}),
    ("upgrade within the old stream", {"rocm": LINKED, "packages": OLD_CORE}, "7.1.1", set()),
    ("side by side in the new stream", {"rocm": FOLDER}, "7.14", set()),
]


@pytest.mark.parametrize(("name", "facts", "version", "expected"), STREAMS, ids=[case[0] for case in STREAMS])
def test_one_stream_does_not_go_over_the_other(
    name: str, facts: dict[str, Any], version: str, expected: set[str]
) -> None:
    plan = plan_for(noble(**facts), version=version, pytorch_version="")
    assert ids(plan["refusals"]) == expected, name


def test_linker_file_of_an_older_rocm_goes_and_the_cache_with_it() -> None:
    facts = noble()
    facts["files"][paths.LD_SO_CONF] = on_disk("/opt/rocm/lib\n")
    plan = plan_for(facts, **CORE)
    assert plan["stages"]["environment"]["remove"] == [paths.LD_SO_CONF]
    assert plan["stages"]["environment"]["linker_cache"] is True


def test_first_path_directory_is_the_tools_and_opencl_comes_with_5() -> None:
    focal = {**NOBLE, "version_id": "20.04", "codename": "focal", "base_codename": "focal"}
    plan = plan_for(bare_server(os=focal), version="5.7", pytorch_version="")
    (script,) = [file for file in plan["stages"]["environment"]["files"] if file["path"] == paths.PROFILE]
    assert "/opt/rocm/opencl/bin /opt/rocm/bin" in script["content"]
    assert plan["verify"]["path"][0] == "/opt/rocm/bin"


def test_debian_uses_the_suite_of_its_ubuntu_sister() -> None:
    debian = {**NOBLE, "id": "debian", "version_id": "12", "codename": "bookworm"}
    debian |= {"base_id": "debian", "base_codename": "bookworm"}
    plan = plan_for(bare_server(os=debian, gpus=[gpu("74a1")]), version="6.4.2", pytorch_version="")
    assert plan["refusals"] == []
    assert {source["suite"] for source in plan["release"]["sources"]} == {"jammy"}
    assert "python3-setuptools" in plan["stages"]["sdk"]["packages"]


def test_programs_of_the_new_stream_are_told_where_its_libraries_are() -> None:
    plan = plan_for(noble(), **CORE)
    assert "programs-need-rpath" in ids(plan["warnings"])
    assert plan["verify"]["link_options"] == ["-Wl,-rpath,/opt/rocm/lib"]
    assert plan_for(noble(), version="7.2.4", pytorch_version="")["verify"]["link_options"] == []


def test_library_path_is_set_in_the_new_stream_where_it_is_wished() -> None:
    plan = plan_for(noble(), ld_library_path=True, **CORE)
    (script,) = plan["stages"]["environment"]["files"]
    assert 'LD_LIBRARY_PATH="$rocm_directory' in script["content"]
    assert "for rocm_directory in /opt/rocm/lib;" in script["content"]
    assert "programs-need-rpath" not in ids(plan["warnings"])


def test_no_override_lifts_a_release_that_cannot_be_resolved() -> None:
    """7.9 is a preview without any apt repository: there is nothing to go on with."""
    plan = plan_for(bare_server(), version="7.9", allow=["release-preview"])
    assert (plan["state"], plan["release"]) == ("refused", None)


@pytest.mark.parametrize("version", ["", "0"])
def test_an_empty_version_is_no_default(version: str) -> None:
    assert plan_for(bare_server(), version=version)["state"] == "refused"


def test_a_torch_version_that_yaml_took_for_a_number_is_refused() -> None:
    (refusal,) = plan_for(bare_server(), pytorch_version=2.1)["refusals"]
    assert refusal["id"] == "wish-invalid"
    assert "quotes" in refusal["expected"]


def test_an_expired_key_on_the_server_is_a_refusal_unless_nothing_is_needed_of_it() -> None:
    facts = bare_server()
    first = make_plan(facts, wishes())
    expired = answers(first, expires="2020-01-31")
    assert ids(make_plan(facts, wishes(), expired)["refusals"]) == {"key-expired-on-server"}
    done = carried_out(facts, make_plan(facts, wishes(), answers(first)))
    assert make_plan(done, wishes(), expired)["state"] == "in-sync"


@pytest.mark.parametrize("release", ["6.16.3+deb12-amd64", "6.16.3-1-amd64", "6.16.3-custom", "6.16.3"])
def test_kernel_names_of_every_builder_are_read(release: str) -> None:
    facts = server("bookworm", kernel=kernel(release))
    assert "kernel-unsupported" in ids(plan_for(facts, version="6.4", pytorch_version="")["refusals"])


def test_needs_on_one_file_system_are_added_up() -> None:
    facts = bare_server(disk={key: {"free_mb": 30500, "total_mb": 60000} for key in bare_server()["disk"]})
    (refusal,) = plan_for(facts)["refusals"]
    assert refusal["id"] == "disk-space"
    assert "47300 MB" in refusal["expected"]


def test_a_repair_needs_no_room_for_the_whole() -> None:
    facts = bare_server()
    done = carried_out(facts, plan_for(facts))
    done["rocm"] = {"link": "/opt/rocm-6.0.0", "installs": [{"path": "/opt/rocm-6.0.0", "version": "6.0.0-91"}]}
    done["packages"]["rocm-hip-sdk"]["version"] = "5.7.0.50700-63~22.04"
    done["venvs"][0]["packages"]["torch"] = "2.3.1+cpu"
    done["disk"] = {key: {"free_mb": 9000, "total_mb": 60000} for key in done["disk"]}
    assert plan_for(done)["state"] == "change"


def test_what_could_not_be_read_is_said() -> None:
    problems = [{"section": "gpus", "message": "OSError: Input/output error"}]
    problems += [{"section": f"part {number}", "message": "x" * 4096} for number in range(9)]
    plan = plan_for(bare_server(problems=problems))
    (warning,) = [row for row in plan["warnings"] if row["id"] == "facts-incomplete"]
    assert "gpus: OSError: Input/output error; part 0: " in warning["found"]
    assert warning["found"].endswith("; and 5 more")
    assert len(warning["found"]) < 1200


def test_a_host_that_could_be_read_has_no_such_warning() -> None:
    assert "facts-incomplete" not in ids(plan_for(bare_server())["warnings"])


def test_verification_is_done_as_a_user_who_exists() -> None:
    plan = plan_for(bare_server(), users=["ghost", "ada"], allow=["user-unknown"])
    assert plan["verify"]["user"] == "ada"


def test_a_password_in_a_mirror_is_never_shown() -> None:
    plan = plan_for(bare_server(), mirrors={"radeon": "https://rep:Geh/eim@mirror.example/radeon"})
    assert plan["state"] == "refused"
    assert "eim" not in str(plan)


@pytest.mark.parametrize("wrong", [{"packages": ["https://rep:geheim@mirror.example/x"]}, {"serial": "token=geheim"}])
def test_a_secret_in_a_wrong_place_is_never_shown(wrong: dict[str, Any]) -> None:
    plan = plan_for(bare_server(), **wrong)
    assert ids(plan["refusals"]) == {"wish-invalid"}
    assert "geheim" not in str(plan)


def test_wishes_without_secrets_are_kept_as_they_are() -> None:
    asked = wishes(mirrors={"radeon": "http://mirror.example:8080/radeon"}, serial=["1", "25%"], max_fail_percentage=0)
    assert make_plan(bare_server(), asked)["asked"] == asked
