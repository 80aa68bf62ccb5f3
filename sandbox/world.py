"""Bring the whole stand-in world up and down: the upstream's content and server, and the fleet."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sandbox import paths
from sandbox.errors import SandboxError
from sandbox.fleet import hosts
from sandbox.fleet.hosts import Host
from sandbox.fleet.podman import NAMESPACE_DIR, podman
from sandbox.progress import note, step
from sandbox.shell import run
from sandbox.upstream import build, daemon, faults
from sandbox.vm import machine


@contextmanager
def locked() -> Iterator[None]:
    """One command that changes the world at a time; a second one waits."""
    with (paths.ensure(paths.CACHE) / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def upstream_up() -> None:
    """Build what is served (when needed) and start the server."""
    build.ensure_tree()
    daemon.start()


def up(names: Sequence[str] = (), *, fresh: bool = False) -> list[Host]:
    """Start the upstream and the default fleet, or some of it. Hosts that run stay as they are unless `fresh`."""
    fleet = hosts.load()
    unknown = sorted(set(names) - set(fleet))
    if unknown:
        raise SandboxError(f"unknown host {', '.join(unknown)}; expected some of {', '.join(fleet)}")
    wanted = [host for name, host in fleet.items() if not names or name in names]
    with locked():
        upstream_up()
        alive = {host.name for host, state in hosts.running() if state == "running"}
        missing = [host for host in wanted if fresh or host.name not in alive]
        if missing:
            hosts.create_all(missing)
    return wanted


def down() -> None:
    """Remove every host and the network, stop the server, forget faults. Images and caches stay for the next time."""
    with locked():
        with step("remove the hosts"):
            for host, _ in hosts.running():
                hosts.purge(host.name)
            machine.down()
            podman("network", "rm", "--force", hosts.NETWORK, check=False)
        daemon.stop()
        faults.clear()
        paths.KNOWN_HOSTS.unlink(missing_ok=True)
        if NAMESPACE_DIR.is_dir():
            run(["umount", "--recursive", NAMESPACE_DIR], check=False)
    note("everything is down; .cache/sandbox keeps the image and the package cache")


def status() -> list[str]:
    """Lines that say what runs."""
    number = daemon.pid()
    lines = [f"upstream: {'process ' + str(number) if number else 'not running'}"]
    lines += [f"fault: {fault.prefix} {fault.kind}" for fault in faults.read()]
    for host, state in hosts.running():
        lines.append(f"{host.name:<16} {host.address:<14} {host.profile:<8} {host.system:<10} {state}")
    return [*lines, machine.status()]
