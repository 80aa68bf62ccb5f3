"""Command line of the sandbox: `python -m sandbox COMMAND`; `./run` prepares the tools and calls it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from sandbox import demo, world
from sandbox.errors import SandboxError
from sandbox.fleet import hosts, identity, ssh
from sandbox.fleet.hosts import Host
from sandbox.progress import note
from sandbox.upstream import faults
from sandbox.vm import machine


def parser() -> argparse.ArgumentParser:
    """The argument parser with all commands."""
    root = argparse.ArgumentParser(prog="python -m sandbox", description="A stand-in fleet and stand-in servers.")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")

    commands.add_parser("demo", help="start everything, run site.yml twice, show that the second run changes nothing")
    up = commands.add_parser("up", help="start the upstream servers and the fleet; what runs already stays")
    up.add_argument("--hosts", default="", help="comma-separated names (default: all)")
    up.add_argument("--fresh", action="store_true", help="replace hosts that run already")
    commands.add_parser("upstream", help="start the upstream servers alone")
    commands.add_parser("down", help="remove the hosts and stop the servers")
    commands.add_parser("status", help="what runs")

    create = commands.add_parser("create", help="start one more host, or those of a file")
    create.add_argument("name", nargs="?")
    create.add_argument("--address", help="in 10.77.0.0/24")
    create.add_argument("--profile", default="cpu", help="mi250, mi300x or cpu (default)")
    create.add_argument("--system", default=identity.DEFAULT, help="jammy (default), noble, focal or debian-12")
    create.add_argument("--file", type=Path, help="YAML of the shape of sandbox/fleet/hosts.yml")
    destroy = commands.add_parser("destroy", help="remove hosts, or those of a file")
    destroy.add_argument("names", nargs="*")
    destroy.add_argument("--file", type=Path, help="YAML of the shape of sandbox/fleet/hosts.yml")
    reset = commands.add_parser("reset", help="replace hosts by fresh ones")
    reset.add_argument("names", nargs="+")
    enter = commands.add_parser("ssh", help="log in to a host, or run a command there")
    enter.add_argument("name")
    enter.add_argument("words", nargs=argparse.REMAINDER)

    virtual = commands.add_parser("vm", help="the virtual machine").add_subparsers(dest="action", required=True)
    start = virtual.add_parser("up", help="start the upstream servers and the machine")
    start.add_argument("--fresh", action="store_true", help="replace one that runs already")
    virtual.add_parser("down", help="stop it and forget what was done on it")
    login = virtual.add_parser("ssh", help="log in to it, or run a command there")
    login.add_argument("words", nargs=argparse.REMAINDER)

    fault = commands.add_parser("fault", help="make the servers misbehave").add_subparsers(dest="action", required=True)
    kinds = "; ".join(f"{name}: {text}" for name, text in faults.KINDS.items())
    add = fault.add_parser("set", description=kinds)
    add.add_argument("prefix", help="start of the URL path, such as /repo.radeon.com/rocm/apt/6.0/")
    add.add_argument("kind", choices=list(faults.KINDS))
    add.add_argument("--times", type=int, help="how many requests it strikes (default: until cleared)")
    add.add_argument("--seconds", type=float, default=5.0, help="delay of 'slow'")
    clear = fault.add_parser("clear")
    clear.add_argument("prefix", nargs="?")
    fault.add_parser("list")
    return root


def wanted_hosts(arguments: argparse.Namespace) -> list[Host]:
    """The hosts that `create` was asked for. Raises SandboxError without a file or a name with an address."""
    if arguments.file:
        return list(hosts.load(arguments.file).values())
    if not (arguments.name and arguments.address):
        raise SandboxError("create expects NAME and --address, or --file")
    return [Host(arguments.name, arguments.address, arguments.profile, arguments.system)]


def run(arguments: argparse.Namespace) -> int:
    """Carry out one command; returns the exit status."""
    match arguments.command:
        case "demo":
            return demo.run()
        case "up":
            started = world.up([name for name in arguments.hosts.split(",") if name], fresh=arguments.fresh)
            note(f"ready: {', '.join(host.name for host in started)}; enter one with ./run ssh {started[0].name}")
        case "upstream":
            with world.locked():
                world.upstream_up()
        case "down":
            world.down()
        case "status":
            print("\n".join(world.status()))
        case "create":
            wanted = wanted_hosts(arguments)
            with world.locked():
                world.upstream_up()
                hosts.create_all(wanted)
        case "destroy":
            names = [*arguments.names, *(hosts.load(arguments.file) if arguments.file else ())]
            for name in names:
                hosts.purge(name)
        case "reset":
            with world.locked():
                hosts.create_all([hosts.find(name) for name in arguments.names])
        case "ssh":
            command = ssh.command(hosts.find(arguments.name).address, *arguments.words)
            os.execvp(command[0], command)
        case "vm":
            run_vm(arguments)
        case "fault":
            run_fault(arguments)
    return 0


def run_vm(arguments: argparse.Namespace) -> None:
    """The `vm` commands."""
    match arguments.action:
        case "up":
            with world.locked():
                world.upstream_up()
                machine.up(fresh=arguments.fresh)
            note(f"ready: {machine.NAME} at {machine.ADDRESS}; enter it with ./run vm ssh")
        case "down":
            with world.locked():
                machine.down()
        case "ssh":
            command = ssh.command(machine.ADDRESS, *arguments.words)
            os.execvp(command[0], command)


def run_fault(arguments: argparse.Namespace) -> None:
    """The `fault` commands."""
    if arguments.action == "set":
        faults.add(arguments.prefix, arguments.kind, arguments.times, arguments.seconds)
    elif arguments.action == "clear":
        faults.clear(arguments.prefix)
    for fault in faults.read():
        print(f"{fault.prefix} {fault.kind}{f' x{fault.times}' if fault.times else ''}")


def main() -> int:
    """Entry point; a SandboxError is a message, not a traceback."""
    try:
        return run(parser().parse_args())
    except SandboxError as error:
        print(f"sandbox: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
