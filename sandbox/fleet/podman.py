"""Every podman call of the sandbox goes through here, so that the machine's quirks are handled once.

Two restrictions are detected, never assumed:

* no CAP_SYS_RESOURCE: crun can raise neither rlimits nor memlock, so containers keep the machine's limits;
* a hybrid /sys/fs/cgroup (version 1 controllers beside a version 2 tree): crun refuses it, so podman runs
  inside one persistent private mount namespace that sees only cgroup2. Nothing outside it changes.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from functools import lru_cache
from pathlib import Path

from sandbox import paths
from sandbox.errors import SandboxError
from sandbox.shell import run

CAP_SYS_RESOURCE = 24
CGROUP2_MAGIC = 0x63677270
NAMESPACE_DIR = Path("/run/gpufleet-sandbox")
NAMESPACE = NAMESPACE_DIR / "mount-namespace"
LABEL = "gpufleet.sandbox"


def has_capability(status: str, bit: int) -> bool:
    """Whether the effective capability set in the text of /proc/self/status has this bit."""
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> bit & 1)
    return False


def cgroup_is_unified(root: str = "/sys/fs/cgroup") -> bool:
    """Whether the folder is a cgroup2 file system (statfs magic number)."""
    buffer = ctypes.create_string_buffer(256)
    if ctypes.CDLL(None, use_errno=True).statfs(root.encode(), buffer) != 0:
        return False
    return int.from_bytes(buffer.raw[:8], "little") == CGROUP2_MAGIC


def containers_conf(unified: bool, may_raise_limits: bool, systemd_host: bool) -> str:
    """The text of containers.conf for this machine."""
    containers = []
    engine = []
    if not (unified and may_raise_limits):
        containers.append('cgroups = "disabled"')
    if not may_raise_limits:
        containers.append('default_ulimits = ["nofile=16384:16384", "nproc=30000:30000"]')
    if not (unified and systemd_host):
        engine.append('cgroup_manager = "cgroupfs"')
    lines = ["# Written by the sandbox for this machine.", "[containers]", *containers, "[engine]", *engine]
    return "\n".join([*lines, "[network]", 'network_backend = "netavark"', ""])


@lru_cache(maxsize=1)
def _prefix() -> tuple[str, ...]:
    """Check that podman can work here, write its configuration, and return the words to put before `podman`."""
    if os.geteuid() != 0:
        raise SandboxError(
            "the fleet needs root: containers get addresses that SSH reaches. Next: repeat the command as root."
        )
    unified = cgroup_is_unified()
    limits = has_capability(Path("/proc/self/status").read_text(), CAP_SYS_RESOURCE)
    text = containers_conf(unified, limits, Path("/run/systemd/system").is_dir())
    target = paths.ensure(paths.CACHE) / "containers.conf"
    if not target.exists() or target.read_text() != text:
        target.write_text(text)
    if unified:
        return ()
    if not _namespace_is_alive():
        _make_namespace()
    return ("nsenter", f"--mount={NAMESPACE}", "--")


def _namespace_is_alive() -> bool:
    if not NAMESPACE.exists():
        return False
    probe = ["nsenter", f"--mount={NAMESPACE}", "--", "stat", "-f", "-c", "%T", "/sys/fs/cgroup"]
    return run(probe, check=False).stdout.strip() == "cgroup2fs"


def _make_namespace() -> None:
    """Create the mount namespace that outlives this process (util-linux keeps it as a bound file)."""
    NAMESPACE_DIR.mkdir(mode=0o700, exist_ok=True)
    if run(["mountpoint", "-q", NAMESPACE_DIR], check=False).returncode != 0:
        # A namespace file can only be bound below a mount that does not propagate.
        run(["mount", "-t", "tmpfs", "-o", "mode=0700,size=1m", "gpufleet-sandbox", NAMESPACE_DIR])
        run(["mount", "--make-private", NAMESPACE_DIR])
    run(["umount", NAMESPACE], check=False)
    NAMESPACE.touch()
    script = "umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup"
    run(["unshare", f"--mount={NAMESPACE}", "--propagation", "private", "sh", "-c", script])


def command(*words: str | Path) -> list[str]:
    """The full command line of a podman call, for callers that replace their own process with it."""
    return [*_prefix(), "podman", *(str(word) for word in words)]


def environment() -> dict[str, str]:
    """The variables that podman needs."""
    return {"CONTAINERS_CONF": str(paths.CACHE / "containers.conf")}


def podman(*words: str | Path, check: bool = True, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run podman; raises SandboxError with its words when it fails and `check` is set."""
    return run(command(*words), check=check, stdin=stdin, env=environment())


def execute(container: str, script: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a shell script as root inside a container, without SSH."""
    return podman("exec", "--interactive", container, "sh", "-s", check=check, stdin=script)
