"""SSH identity of the sandbox: one login key, one host key for each host name, one known_hosts file."""

from __future__ import annotations

import fcntl
import socket
import time
from pathlib import Path

from sandbox import paths
from sandbox.errors import SandboxError
from sandbox.shell import run

LOGIN = "ops"
# A virtual machine has the network of its emulator to itself: it is reached through a port of the loopback network.
VM_PORT = 2290
# For every program that logs in to a host: this package, Ansible, testinfra, and people with `ssh -F`.
CONFIGURATION = """\
Host 127.77.0.*
    Port {vm_port}
Host 10.77.0.* 127.77.0.*
    User {login}
    IdentityFile "{key}"
    IdentitiesOnly yes
    UserKnownHostsFile "{known_hosts}"
    GlobalKnownHostsFile /dev/null
    LogLevel ERROR
"""


def make_key(path: Path, comment: str) -> None:
    """Create an ed25519 key pair unless it exists."""
    if not path.exists():
        paths.ensure(path.parent)
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path])


def login_key() -> str:
    """The public half of the login key, made on first use together with a client configuration for all hosts."""
    make_key(paths.SSH_KEY, "gpufleet sandbox login")
    paths.SSH_CONFIG.write_text(
        CONFIGURATION.format(login=LOGIN, key=paths.SSH_KEY, known_hosts=paths.KNOWN_HOSTS, vm_port=VM_PORT)
    )
    return paths.SSH_KEY.with_suffix(".pub").read_text().strip()


def host_key(folder: Path, name: str) -> Path:
    """A host key that belongs to a name and survives a reset, so that known_hosts stays true."""
    path = folder / "ssh_host_ed25519_key"
    make_key(path, f"gpufleet sandbox host {name}")
    return path


def remember(address: str, public_key: str) -> None:
    """Put one host into known_hosts, replacing what was known of its address."""
    algorithm, blob, *_ = public_key.split()
    _rewrite(address, [f"{address} {algorithm} {blob}"])


def forget(address: str) -> None:
    """Drop one host from known_hosts."""
    _rewrite(address, [])


def _rewrite(address: str, lines: list[str]) -> None:
    paths.ensure(paths.CACHE)
    with paths.KNOWN_HOSTS.open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        handle.seek(0)
        kept = [line for line in handle.read().splitlines() if line.split(" ", 1)[0] != address]
        handle.seek(0)
        handle.truncate()
        handle.write("".join(f"{line}\n" for line in [*kept, *lines]))


def command(address: str, *words: str) -> list[str]:
    """The ssh command line that logs in to a host as the managing user."""
    return ["ssh", "-F", str(paths.SSH_CONFIG), address, *words]


def wait_for_banner(address: str, seconds: float, port: int = 22) -> None:
    """Wait until sshd greets. Raises SandboxError when it does not within the time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with socket.create_connection((address, port), timeout=1) as connection:
                if connection.recv(4) == b"SSH-":
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise SandboxError(f"sshd at {address} did not answer within {seconds:.0f} s. Next: ./run status")
