"""A rollout: which hosts it is for, in which batches, when it stops, and how far each host came.

A host is what `report.Host` describes: ``plan``, ``verification``, ``failure`` and, once its batch came, ``state``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.hostnames import natural, shortened

Host = Mapping[str, Any]
# A host that is in one of these while others work was lost on the way.
UNDER_WAY = ("draining", "installing", "rebooting", "verifying", "restoring")
STATES = ("waiting", *UNDER_WAY, "done", "failed", "skipped")
ONE_BATCH = ["100%"]
DEVICE_CHECK = "compute-device"


def part(host: Host) -> str:
    """``change`` for a host that a rollout is for, ``settled`` for one that is only verified, else nothing.

    A host that an earlier run drained and did not give back is part of it even when it is as wanted.
    """
    plan = host.get("plan")
    if not plan or host.get("failure") or plan["state"] == "refused":
        return ""
    return "change" if not plan["in_sync"] or plan["disruptive"] or plan["drained"] else "settled"


def stop_reason(hosts: Mapping[str, Host], percentage: int) -> str:
    """Why no further batch may start, or nothing.

    Counted are all hosts that were changed or found as wanted so far: those that failed, and those that were lost on
    the way, may be ``percentage`` of them. Refused hosts and those that could not be planned are no part of it.
    """
    states = {name: progress(host) for name, host in hosts.items()}
    failed = sorted((name for name, state in states.items() if state in ("failed", *UNDER_WAY)), key=natural)
    counted = len(failed) + sum(state in ("done", "skipped") for state in states.values())
    if len(failed) * 100 <= percentage * counted:
        return ""
    return (
        f"{len(failed)} of {counted} hosts failed so far ({shortened(failed)}), "
        f"more than the {percentage} % of rocm_max_fail_percentage"
    )


def progress(host: Host) -> str | None:
    """How far a host of a rollout came, one of STATES; None where the rollout is not for it."""
    kind = part({**host, "failure": None})
    if not kind:
        return None
    if host.get("state"):
        return str(host["state"])
    if kind == "change":
        return "failed" if host.get("failure") else "waiting"
    if host.get("failure"):
        return "failed"
    # Hosts in sync are verified before the first batch: one without a result was lost.
    return "skipped" if host.get("verification") else "verifying"


def driver_health(plan: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """What can be checked of a driver on a host without a user space yet, in the form of ``rocm_verify``'s result."""
    wanted, nodes = plan["verify"], len(facts["kfd"]["nodes"])
    if wanted["no_gpu"] or plan["driver_mode"] == "none":
        status, evidence = "not run", wanted["no_gpu"] or "no driver wanted"
    elif not facts["kfd"]["present"]:
        status, evidence = "failed", "kfd-missing: /dev/kfd does not exist"
    else:
        status = "passed" if nodes >= wanted["gpus"] else "failed"
        evidence = f"/dev/kfd with {nodes} GPU nodes for {wanted['gpus']} GPUs"
    check = {"id": DEVICE_CHECK, "status": status, "evidence": evidence, "seconds": 0}
    return {"checks": [check], "passed": status != "failed", "user": None}
