"""Create, reset and destroy the hosts. Tests and Molecule use these functions with their own names and addresses."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox import mirror, paths
from sandbox.errors import SandboxError
from sandbox.fleet import identity, pci, ssh
from sandbox.fleet.image import ensure_image
from sandbox.fleet.podman import LABEL, execute, podman
from sandbox.progress import note, step

FLEET = Path(__file__).resolve().parent / "hosts.yml"
NETWORK = "gpufleet"
SUBNET = "10.77.0.0/24"
GATEWAY = "10.77.0.1"
PORT = 8600
PARALLEL = 4


@dataclass(frozen=True)
class Host:
    """A wanted host: its name (also the host name inside), address in the sandbox network, GPU profile and system."""

    name: str
    address: str
    profile: str
    system: str = identity.DEFAULT

    @property
    def container(self) -> str:
        """The container's name in podman."""
        return f"gpufleet-{self.name}"

    @property
    def folder(self) -> Path:
        """Where the host's key and PCI tree live on this machine."""
        return paths.CACHE / "hosts" / self.name


def load(path: Path = FLEET) -> dict[str, Host]:
    """Read a host file: `name: {address: A, profile: P, system: S}`, without a system for the default one.

    Raises SandboxError where it is not of that shape.
    """
    data: Any = yaml.safe_load(path.read_text())
    try:
        return {name: Host(name, **{key: str(value) for key, value in row.items()}) for name, row in data.items()}
    except (AttributeError, TypeError) as error:
        raise SandboxError(f"{path}: expected 'name: {{address: A, profile: P}}' rows, got {error!r}") from error


def ensure_network() -> None:
    """The bridge that hosts and upstream share. It is internal: a host reaches the upstream and nothing else."""
    if podman("network", "exists", NETWORK, check=False).returncode != 0:
        podman(
            "network",
            "create",
            "--internal",
            "--disable-dns",
            f"--subnet={SUBNET}",
            f"--gateway={GATEWAY}",
            NETWORK,
        )


def apt_sources(archives: Iterable[mirror.Archive] | None = None) -> str:
    """The deb822 file of the hosts' own distribution, pointed at the upstream's mirror cache."""
    stanzas = []
    for archive in mirror.archives() if archives is None else archives:
        stanzas.append(
            "Types: deb\n"
            f"URIs: http://{GATEWAY}:{PORT}/{archive.name}\n"
            f"Suites: {' '.join(archive.suites)}\n"
            "Components: main\n"
            f"Signed-By: {mirror.KEYRING}\n"
        )
    return "\n".join(stanzas)


def mac_address(address: str) -> str:
    """A fixed MAC address for an IPv4 address: after a reset the neighbours' ARP entries stay true."""
    return "02:67" + "".join(f":{int(part):02x}" for part in address.split("."))


def create(host: Host) -> None:
    """Start one bare host and return when SSH answers and systemd has finished starting."""
    image = ensure_image()
    ensure_network()
    destroy(host.name)
    key = ssh.host_key(host.folder, host.name)
    tree = host.folder / "pci-devices"
    pci.write_tree(tree, host.profile)
    podman(
        "run",
        "--detach",
        f"--name={host.container}",
        f"--hostname={host.name}",
        f"--network={NETWORK}",
        f"--ip={host.address}",
        f"--mac-address={mac_address(host.address)}",
        "--systemd=always",
        f"--label={LABEL}=host",
        f"--label={LABEL}.address={host.address}",
        f"--label={LABEL}.profile={host.profile}",
        f"--label={LABEL}.system={host.system}",
        f"--volume={tree}:/sys/bus/pci/devices:ro",
        f"--volume={key}:/etc/ssh/ssh_host_ed25519_key:ro",
        f"--volume={key}.pub:/etc/ssh/ssh_host_ed25519_key.pub:ro",
        image,
        "/sbin/init",
    )
    execute(
        host.container,
        "set -eu\n"
        f"cat > /home/ops/.ssh/authorized_keys <<'END'\n{ssh.login_key()}\nEND\n"
        "chown ops:ops /home/ops/.ssh/authorized_keys\n"
        f"cat > /etc/apt/sources.list.d/distribution.sources <<'END'\n{apt_sources()}END\n"
        f"{identity.script(host.system)}",
    )
    ssh.remember(host.address, key.with_suffix(".pub").read_text())
    ssh.wait_for_banner(host.address, 60)
    _wait_for_systemd(host)


def _wait_for_systemd(host: Host) -> None:
    """Return when the boot is over; a host that is not `running` is reported with its failed units."""
    deadline = time.monotonic() + 60
    state = "unknown"
    while time.monotonic() < deadline:
        state = podman("exec", host.container, "systemctl", "is-system-running", check=False).stdout.strip()
        if state == "running":
            return
        if state == "degraded":
            failed = podman("exec", host.container, "systemctl", "--failed", "--plain", "--no-legend", check=False)
            note(f"{host.name}: systemd is degraded: {failed.stdout.strip()}")
            return
        time.sleep(0.3)
    raise SandboxError(f"{host.name}: systemd is still {state} after 60 s. Next: podman logs {host.container}")


def create_all(hosts: Iterable[Host]) -> None:
    """Create several hosts side by side."""
    wanted = list(hosts)
    ensure_image()
    ensure_network()
    ssh.login_key()
    with step(f"start {', '.join(host.name for host in wanted)}"), ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(create, wanted))


def destroy(name: str) -> None:
    """Remove a host and what the machine knows of it; nothing happens when it does not exist.

    sshd goes first, and its network stays until the last packets are out, so that controllers with a persistent
    connection see it close at once.
    """
    host = Host(name, "", "")
    if podman("container", "exists", host.container, check=False).returncode != 0:
        return
    address = inspect_labels(host.container).get(f"{LABEL}.address", "")
    execute(host.container, "systemctl stop ssh.service; kill -KILL $(pidof sshd); sleep 0.3", check=False)
    podman("rm", "--force", "--time=0", host.container)
    if address:
        ssh.forget(address)


def purge(name: str) -> None:
    """Destroy a host and drop its key and PCI tree too."""
    destroy(name)
    shutil.rmtree(Host(name, "", "").folder, ignore_errors=True)


def reset(name: str) -> Host:
    """Replace a host by a fresh one with the same name, address, profile and system.

    Raises SandboxError when the name is neither a running host nor one of the default fleet.
    """
    host = find(name)
    create(host)
    return host


def find(name: str) -> Host:
    """A host by name, from podman's labels or else from the default fleet."""
    for host, _ in running():
        if host.name == name:
            return host
    fleet = load()
    if name in fleet:
        return fleet[name]
    known = sorted({*fleet, *(host.name for host, _ in running())})
    raise SandboxError(f"there is no host {name}; expected one of {', '.join(known)}")


def inspect_labels(container: str) -> dict[str, str]:
    """The labels of a container."""
    text = podman("inspect", "--format={{json .Config.Labels}}", container).stdout
    labels: dict[str, str] = json.loads(text) or {}
    return labels


def running() -> list[tuple[Host, str]]:
    """Every host that exists, with podman's word for its state."""
    rows = json.loads(podman("ps", "--all", f"--filter=label={LABEL}=host", "--format=json").stdout or "[]")
    found = []
    for row in rows or []:
        labels = row["Labels"]
        name = row["Names"][0].removeprefix("gpufleet-")
        system = labels.get(f"{LABEL}.system", identity.DEFAULT)
        found.append((Host(name, labels[f"{LABEL}.address"], labels[f"{LABEL}.profile"], system), str(row["State"])))
    return sorted(found, key=lambda pair: pair[0].address)
