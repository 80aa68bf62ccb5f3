"""The list of checks of one host: each with its status, its evidence, its time, and what to do about it."""

from __future__ import annotations

import re
import time

PASSED = "passed"
FAILED = "failed"
NOT_RUN = "not run"
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LIMIT = 800


class Report:
    """Collects checks in their order. The time of a check is what passed since the one before."""

    def __init__(self) -> None:
        self.checks: list[dict[str, object]] = []
        self._clock = time.monotonic()

    def add(self, name: str, status: str, evidence: str, finding: str | None = None, remedy: str = "") -> bool:
        """Record one check; returns whether it passed. `finding` is an id of the decision table."""
        now = time.monotonic()
        self.checks.append(
            {
                "id": name,
                "status": status,
                "evidence": evidence,
                "seconds": round(now - self._clock, 2),
                "finding": finding,
                "remedy": remedy,
            }
        )
        self._clock = now
        return status == PASSED

    def passed(self, name: str, evidence: str, finding: str | None = None, remedy: str = "") -> bool:
        return self.add(name, PASSED, evidence, finding, remedy)

    def failed(self, name: str, evidence: str, finding: str | None = None, remedy: str = "") -> bool:
        return self.add(name, FAILED, evidence, finding, remedy)

    def not_run(self, name: str, why: str, remedy: str = "") -> bool:
        return self.add(name, NOT_RUN, why, None, remedy)

    def cause(self, *names: str) -> str:
        """Why a check that needs these others cannot run; empty where all that were tried passed.

        A failed one is the cause; one that was not run passes its own reason on.
        """
        for check in self.checks:
            if check["id"] in names and check["status"] == FAILED:
                return "because of %s" % check["id"]
            if check["id"] in names and check["status"] == NOT_RUN:
                return str(check["evidence"])
        return ""

    def blocked(self, name: str, *needs: str) -> bool:
        """Record the check as not run where one of its `needs` did not pass; returns whether that was so."""
        why = self.cause(*needs)
        if why:
            self.not_run(name, why)
        return bool(why)

    @property
    def good(self) -> bool:
        """Whether nothing failed. What was not run is not counted as passed, and not as failed either."""
        return all(check["status"] != FAILED for check in self.checks)


def tail(text: str, lines: int = 5) -> str:
    """The last lines of an output: the place where tools name the error."""
    return "\n".join(_ANSI.sub("", text).strip().splitlines()[-lines:])[-_LIMIT:]
