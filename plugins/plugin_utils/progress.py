"""What every host of a run is doing, from the events that Ansible sends. The clock is an argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What a host is at: the last two need no more work, those before them need attention.
STATES = ("failed", "unreachable", "refused", "rescue", "running", "waiting", "done", "idle")
# Troubles that a host keeps when the run goes on with it.
TROUBLES = STATES[:3]
# States of a rollout that name a stage better than the role that works in it.
ROLLOUT_STAGES = {"draining": "drain", "rebooting": "reboot", "verifying": "verify", "restoring": "restore"}
# Packages that are named in a step; the others are counted.
NAMED = 2


@dataclass(frozen=True)
class Event:
    """The start or end of a stage on one host; ``seconds`` is None for a start."""

    host: str
    stage: str
    outcome: str
    seconds: float | None = None


@dataclass
class Host:
    """One host: where it is, since when, and what went wrong."""

    name: str
    since: float | None = None
    seen: float = 0.0
    stage: str = ""
    stage_since: float = 0.0
    stage_open: bool = False
    step: str = ""
    step_since: float = 0.0
    running: bool = False
    trouble: str = ""
    # The first step that brought it.
    trouble_step: str = ""
    # The run itself said so, and not one task that may be rescued.
    trouble_is_final: bool = False
    done: bool = False
    rollout_stage: str = ""
    job: str = ""
    job_since: float = 0.0

    @property
    def stage_now(self) -> str:
        """The stage that the host is in, or was in when it last did something for one."""
        return self.stage if self.stage and (self.stage_open or not self.running) else "-"

    @property
    def state(self) -> str:
        """What the host is at, one of STATES but for idle, which depends on the play."""
        if self.running:
            return self.trouble if self.trouble_is_final else "rescue" if self.trouble else "running"
        return self.trouble or ("done" if self.done else "waiting")


@dataclass
class Fleet:
    """All hosts of a run, in the order in which they showed up."""

    began: float
    play: str = ""
    members: frozenset[str] = frozenset()
    hosts: dict[str, Host] = field(default_factory=dict)
    # Starts and ends of stages that were not shown yet.
    events: list[Event] = field(default_factory=list)

    def state(self, host: Host) -> str:
        """What the host is at; a host that the play leaves alone is idle."""
        state = host.state
        return "idle" if state == "waiting" and host.name not in self.members else state

    def elapsed(self, host: Host, now: float) -> float:
        """Seconds since the first task of the host, up to its last one where it has no more."""
        if host.since is None:
            return 0.0
        working = host.running or self.state(host) == "waiting"
        return (now if working else host.seen) - host.since

    def begin_play(self, name: str, members: Iterable[str]) -> None:
        """A play, or the next batch of one: what its hosts did before has ended."""
        self.play = name
        self.members = frozenset(members)
        for host in self.hosts.values():
            self._end_stage(host)
        for member in members:
            self._host(member)

    def end_run(self) -> None:
        """Nothing follows."""
        for host in self.hosts.values():
            host.running = False
            self._end_stage(host)

    def begin(self, name: str, step: str, roles: Sequence[str], now: float, waits: bool = False) -> None:
        """A task begins; ``roles`` are those around it, outermost first; ``waits`` is for one that follows a job."""
        host = self._host(name)
        host.since = now if host.since is None else host.since
        stage = host.rollout_stage or (stage_of(roles[0]) if roles else "")
        if stage != host.stage or not host.stage_open:
            self._end_stage(host)
            if stage:
                self._begin_stage(host, stage, now)
        host.seen = now
        host.running = True
        follows = waits and bool(host.job)
        host.step, host.step_since = (host.job, host.job_since) if follows else (step, now)

    def begin_job(self, name: str, job: str, now: float) -> None:
        """A command was started that goes on by itself; the tasks that wait for it are shown as this."""
        host = self._host(name)
        host.job, host.job_since = job, now

    def end(self, name: str, now: float, trouble: str = "") -> None:
        """A task ended, with one of TROUBLES or well."""
        host = self._host(name)
        host.running = False
        host.seen = now
        if trouble and not host.trouble_is_final:
            # What fails in a rescue is seldom the cause.
            host.trouble_step = host.trouble_step if host.trouble else host.step
            host.trouble = trouble

    def note(self, name: str, facts: Mapping[str, Any]) -> None:
        """Take what the playbooks of this collection note about a host while they run."""
        host = self._host(name)
        if "rocm_state" in facts:
            host.rollout_stage = ROLLOUT_STAGES.get(facts["rocm_state"], "")
            host.done = facts["rocm_state"] == "done"
        trouble = ""
        if facts.get("rocm_state") == "failed":
            trouble = "failed"
        if isinstance(failure := facts.get("rocm_failure"), Mapping):
            trouble = "unreachable" if failure.get("kind") == "unreachable" else "failed"
        if isinstance(plan := facts.get("rocm_plan_result"), Mapping) and plan.get("refusals"):
            trouble = "refused"
        if trouble:
            host.trouble, host.trouble_is_final = trouble, True

    def take_events(self) -> list[Event]:
        """The starts and ends since the last call."""
        events, self.events = self.events, []
        return events

    def _host(self, name: str) -> Host:
        return self.hosts.setdefault(name, Host(name))

    def _begin_stage(self, host: Host, stage: str, now: float) -> None:
        host.stage, host.stage_since, host.stage_open = stage, now, True
        if not host.trouble_is_final:
            host.trouble = ""
        self.events.append(Event(host.name, stage, "started"))

    def _end_stage(self, host: Host) -> None:
        if host.stage_open:
            host.stage_open = False
            self.events.append(Event(host.name, host.stage, host.trouble or "done", host.seen - host.stage_since))


def stage_of(role: str) -> str:
    """The name of a role without what all of ours have in common: gpufleet.rocm.rocm_sdk is sdk."""
    return role.rpartition(".")[2].removeprefix("rocm_")


def job_text(action: str, arguments: Mapping[str, Any]) -> str:
    """What a task does that was started and goes on by itself; empty where its arguments do not tell."""
    module = action.rpartition(".")[2]
    packages = _as_list(arguments.get("name") or arguments.get("pkg"))
    if module in ("apt", "package") and packages:
        verb = {"absent": "removing", "build-dep": "installing what builds"}.get(
            str(arguments.get("state")), "installing"
        )
        names = [package.partition("=")[0] for package in packages]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"{verb} {', '.join(names[:NAMED])}{more}"
    if module in ("command", "shell"):
        command = arguments.get("argv") or arguments.get("_raw_params") or arguments.get("cmd")
        return " ".join(_as_list(command))
    return ""


def _as_list(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(part) for part in value] if isinstance(value, (list, tuple)) else []


def duration(seconds: float) -> str:
    """Time for people: 7s, 2m10s, 1h05m."""
    whole = max(int(seconds), 0)
    minutes, rest = divmod(whole, 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
