"""The plan for one host: a pure function of facts, wishes and what the package server answered.

Shape of the result (also the ``plan`` part of the report)::

    schema: 1
    state: in-sync | change | refused
    in_sync: bool
    refusals, warnings: [{id, found, expected, remedy, message}]
    allowed: [ids of refusals that rocm_allow turned into warnings]
    reboot: bool                      # a reboot is needed for the wishes to take effect
    disruptive: bool                  # a run works on the driver or reboots: the GPUs are taken from their users
    asked, wishes: {...}              # as the inventory says them, and typed (wishes.py)
    release, torch: {...} or null     # see releases.py and torch_wheels.py
    actual: {rocm, driver, torch}     # versions found on the host, null where absent; 'inbox KERNEL' for its own driver
    drained: bool                     # an earlier run took the host out of service and did not give it back
    driver_mode: dkms | inbox | none
    gpus: [{address, device, name, gfx}]          # AMD GPUs only
    stages: {repo, driver, sdk, access, environment, pytorch}, each with ``actions`` and what its role needs, and
        ``skipped`` where the run is not for it
    actions: [{stage, action, target, reason}]    # all stages, in the order in which they happen
    probe: {urls, keys, wheels: [...]}            # what the host should ask before the first change
    verify: {...}                                 # what rocm_verify checks; user_space: whether it is there by then
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import without_secrets
from ansible_collections.gpufleet.rocm.plugins.plugin_utils import doubts, rules
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.findings import Findings
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.gpus import amd_gpus, compile_targets
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages import all_stages, questions
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.environment import link_options
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.stages.situation import Situation
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.torch_wheels import resolve_torch
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.wishes import Wishes, parse_wishes

SCHEMA = 1
# Without these a user cannot run anything on a GPU.
USER_SPACE = ("sdk", "access", "environment")
Facts = Mapping[str, Any]


def make_plan(
    facts: Facts,
    raw_wishes: Mapping[str, Any],
    probe: Mapping[str, Any] | None = None,
    today: str | None = None,
    only: Collection[str] = (),
) -> dict[str, Any]:
    """Decide for one host.

    ``probe`` is the return value of ``rocm_probe``, or None before it was asked. ``today`` (ISO date) is what key
    expiry is compared with. ``only`` names the stages that the run is for; empty means all.
    """
    try:
        wishes = parse_wishes(raw_wishes)
    except DecisionError as error:
        findings = Findings()
        findings.add_error(error)
        return _result(facts, raw_wishes, dict(raw_wishes), findings)

    findings = Findings(allow=frozenset(wishes.allow))
    release = _release(facts, wishes, findings)
    if release is None:
        return _result(facts, raw_wishes, wishes.as_dict(), findings)
    findings.add_notes(release["warnings"])

    gpus = amd_gpus(facts, release)
    findings.add_notes(doubts.warnings(doubts.of_gpus(gpu.device for gpu in gpus)))
    situation = Situation(
        facts=facts,
        wishes=wishes,
        release=release,
        torch=_torch(facts, wishes, release, findings) if not only or "pytorch" in only else None,
        gpus=gpus,
        probe=probe or {"urls": {}, "keys": {}, "wheels": {}},
        today=today or datetime.date.today().isoformat(),
    )
    stages = all_stages(situation, findings)
    user_space = not any(stages[name]["actions"] for name in USER_SPACE if only and name not in only)
    stages = {
        name: stage if not only or name in only else {**stage, "actions": [], "skipped": True}
        for name, stage in stages.items()
    }
    rules.check(situation, stages, findings)
    return _result(facts, raw_wishes, wishes.as_dict(), findings, situation, stages, user_space)


def _release(facts: Facts, wishes: Wishes, findings: Findings) -> dict[str, Any] | None:
    os = facts["os"]
    identity = {
        "id": os["id"] if os["base_id"] == "ubuntu" else os["base_id"],
        "version_id": os["version_id"],
        "codename": os["base_codename"],
        "name": _system_name(os),
    }
    try:
        return resolve_release(
            wishes.version, identity, dict(wishes.mirrors), dict(wishes.key_fingerprints), wishes.driver_version
        )
    except DecisionError as error:
        findings.refuse(error)
        return None


def _system_name(os: Mapping[str, Any]) -> str:
    """The host's system as it calls itself, and the fields that decide: 'LMDE 6 (linuxmint 6 faye)'."""
    fields = " ".join(str(os[key]) for key in ("id", "version_id", "codename") if os[key])
    return f"{os['pretty_name']} ({fields})" if os["pretty_name"] else fields


def _torch(facts: Facts, wishes: Wishes, release: Mapping[str, Any], findings: Findings) -> dict[str, Any] | None:
    """The wheel set for the first Python of the host that has one; the default interpreter is tried first."""
    if not wishes.pytorch:
        return None
    interpreters = sorted(
        facts["python"],
        key=lambda python: (not python["default"], [-int(part) for part in python["version"].split(".")]),
    )
    refusal: DecisionError | None = None
    for python in interpreters:
        try:
            wheels = resolve_torch(release, python["version"], wishes.pytorch_version, dict(wishes.mirrors))
        except DecisionError as error:
            refusal = refusal or error
            continue
        findings.add_notes(wheels["warnings"])
        return {**wheels, "interpreter": python["path"], "interpreter_version": python["version"]}
    if refusal is None:
        findings.add(
            "python-no-wheel",
            found="no Python 3 in /usr/bin",
            expected="a Python with PyTorch wheels",
            remedy="install python3, or set rocm_pytorch: false",
        )
    else:
        findings.add_error(refusal)
    return None


def _result(
    facts: Facts,
    asked: Mapping[str, Any],
    wishes: dict[str, Any],
    findings: Findings,
    situation: Situation | None = None,
    stages: Mapping[str, dict[str, Any]] | None = None,
    user_space: bool = True,
) -> dict[str, Any]:
    stages = stages or {}
    reboot = bool(stages) and stages["driver"]["reboot"]
    actions = [{"stage": name, **action} for name, stage in stages.items() for action in stage["actions"]]
    state = "refused" if findings.refusals else "change" if actions else "in-sync"
    return {
        "schema": SCHEMA,
        "state": state,
        "in_sync": state == "in-sync",
        "refusals": [finding.as_dict() for finding in findings.refusals],
        "warnings": [finding.as_dict() for finding in findings.warnings],
        "allowed": findings.allowed,
        "reboot": reboot,
        "disruptive": bool(stages) and _is_disruptive(stages["driver"], reboot and wishes["reboot_ok"]),
        # An address with a password in it is refused; it is not passed on either.
        "wishes": without_secrets(wishes),
        "asked": without_secrets(dict(asked)),
        "release": dict(situation.release) if situation else None,
        "torch": dict(situation.torch) if situation and situation.torch else None,
        "actual": _actual(facts, wishes),
        "drained": facts["drained"],
        "driver_mode": stages["driver"]["mode"] if stages else None,
        "gpus": [gpu.as_dict() for gpu in situation.gpus] if situation else [],
        "stages": dict(stages),
        "actions": actions,
        "probe": questions(situation) if situation else {"urls": [], "keys": [], "wheels": []},
        "verify": {**_verify(facts, situation, reboot), "user_space": user_space} if situation else None,
    }


def _is_disruptive(driver: Mapping[str, Any], reboots: bool) -> bool:
    """Whether a run takes the GPUs from their users; to hold a package, or no longer, does not."""
    return reboots or any(row["action"] not in ("hold", "unhold") for row in driver["actions"])


def _actual(facts: Facts, wishes: Mapping[str, Any]) -> dict[str, str | None]:
    """The versions on the host, as its files and kernel tell them."""
    linked = facts["rocm"]["link"]
    installed = {row["path"]: row["version"] for row in facts["rocm"]["installs"]}
    venv = next((row for row in facts["venvs"] if row["path"] == wishes.get("pytorch_venv")), None)
    driver, kernel = facts["driver"], facts["kernel"]["release"]
    return {
        "rocm": installed.get(linked),
        "driver": driver["version"] or (f"inbox {kernel}" if driver["loaded"] else None),
        "torch": venv["packages"].get("torch") if venv and venv["exists"] else None,
    }


def _verify(facts: Facts, situation: Situation, reboot: bool) -> dict[str, Any]:
    """What ``rocm_verify`` is asked to check on this host."""
    wishes, release, torch = situation.wishes, situation.release, situation.torch
    in_container = facts["virtualization"]["kind"] == "container"
    if not situation.gpus:
        no_gpu = "no GPU"
    elif in_container and not facts["kfd"]["present"]:
        no_gpu = "no GPU: /dev/kfd was not passed into this container"
    elif reboot:
        no_gpu = "reboot required: the installed driver is not the loaded one"
    else:
        no_gpu = ""
    return {
        "user": next((name for name in (wishes.verify_user, *wishes.users) if name and facts["users"].get(name)), ""),
        "path": list(release["path"]),
        "link_options": link_options(release),
        "offload_targets": compile_targets(situation.gpus, release),
        "gpus": len(situation.gpus),
        "no_gpu": no_gpu,
        "venv": wishes.pytorch_venv if torch else "",
        "torch_packages": dict(torch["packages"]) if torch else {},
        "torch_hip": torch["rocm_index"] if torch else "",
    }
