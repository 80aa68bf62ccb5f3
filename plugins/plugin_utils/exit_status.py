"""The exit status of a playbook, from what the plan or report says and what Ansible counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Ansible's own.
UNREACHABLE = 4
REFUSED = 3
PENDING = 2


def exit_status(outcome: Mapping[str, Iterable[str]], failed: Iterable[str], dark: Iterable[str]) -> int | None:
    """The status to end with; None leaves Ansible's own, which is 2 for failed hosts and 4 for unreachable ones.

    ``outcome`` is that of a plan or report (see report.py); ``failed`` and ``dark`` are the hosts that Ansible counts
    as failed and unreachable. Refused hosts fail at the end of each playbook and are the only ones that may.
    """
    if set(dark):
        return None
    if set(outcome["unreachable"]):
        return UNREACHABLE
    if set(failed) - set(outcome["refused"]):
        return None
    if set(outcome["refused"]):
        return REFUSED
    return PENDING if set(outcome["pending"]) else None
