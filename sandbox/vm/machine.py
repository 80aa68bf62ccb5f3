"""Start and stop the machine. What it writes is forgotten when it stops; a reboot keeps it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.fleet import ssh
from sandbox.fleet.hosts import GATEWAY, SUBNET
from sandbox.progress import note, step
from sandbox.shell import run
from sandbox.vm.image import FOLDER, Image, ensure_image

QEMU = "qemu-system-x86_64"
NAME = "vm-01"
ADDRESS = "127.77.0.90"
GUEST_ADDRESS = "10.77.0.90"  # also in image/rootfs: each machine has a network of its own, made by the emulator
MEMORY_MB = 2048
CONSOLE = FOLDER / "console.log"
PID = FOLDER / "qemu.pid"
KVM = Path("/dev/kvm")
# A kernel says its name within seconds where virtualization works. The device alone proves nothing.
KVM_PROBE_S = 20
BOOT_S = 300
# An emulated processor without vector extensions is a fifth faster: programs take the code that is cheap to emulate.
CPUS = {"kvm": "max", "tcg": "qemu64"}
ACCELERATORS = {"kvm": "kvm", "tcg": "tcg,thread=multi,tb-size=512"}


def command(image: Image, accelerator: str, folder: Path) -> list[str]:
    """The command line of the emulator; all files that it makes are in `folder`."""
    network = f"user,id=net,net={SUBNET},host={GATEWAY},hostfwd=tcp:{ADDRESS}:{ssh.VM_PORT}-{GUEST_ADDRESS}:22"
    return [
        *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-name", NAME),
        *("-accel", ACCELERATORS[accelerator], "-cpu", CPUS[accelerator]),
        *("-smp", str(os.cpu_count() or 1), "-m", str(MEMORY_MB)),
        *("-drive", f"id=root,if=none,format=raw,file={image.root},snapshot=on,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=root"),
        *("-drive", f"id=boot,if=none,format=raw,file={image.boot},readonly=on"),
        *("-device", "virtio-blk-pci,drive=boot,bootindex=0"),
        *("-netdev", network, "-device", "virtio-net-pci,netdev=net,romfile="),
        *("-device", "virtio-rng-pci"),
        *("-serial", f"file:{folder / CONSOLE.name}", "-pidfile", str(folder / PID.name), "-daemonize"),
    ]


def up(*, fresh: bool = False) -> None:
    """Start the machine and return when SSH answers; one that runs stays unless `fresh`.

    Raises SandboxError with the end of its console where it does not come up.
    """
    if pid() is not None and not fresh:
        return
    down()
    image = ensure_image(NAME)
    accelerator = "kvm" if kvm_works(image) else "tcg"
    with step(f"start {NAME} with {accelerator}"):
        _start(image, accelerator, FOLDER)
        ssh.remember(f"[{ADDRESS}]:{ssh.VM_PORT}", (FOLDER / NAME / "ssh_host_ed25519_key.pub").read_text())
        try:
            ssh.wait_for_banner(ADDRESS, BOOT_S, ssh.VM_PORT)
        except SandboxError as error:
            raise SandboxError(f"{error}; the end of {CONSOLE}:\n{_tail(CONSOLE)}") from error
    note(f"{NAME}: kernels {' and later '.join(image.kernels)}; console {CONSOLE}")


def down() -> None:
    """Stop the machine as pulling its plug would; nothing happens when none runs."""
    number = pid()
    if number is not None:
        os.kill(number, signal.SIGTERM)
        _until(lambda: pid() is None, 10)
    PID.unlink(missing_ok=True)


def pid(file: Path = PID) -> int | None:
    """The emulator's process id, or None; a recycled id of another program does not count."""
    try:
        number = int(file.read_text())
        words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    return number if str(file).encode() in words else None


def status() -> str:
    """A line that says whether it runs."""
    number = pid()
    return f"{NAME:<16} {ADDRESS:<14} virtual machine, {f'process {number}' if number else 'not running'}"


def kvm_works(image: Image) -> bool:
    """Whether a kernel starts under KVM here; tried for every boot of this computer once."""
    if not os.access(KVM, os.R_OK | os.W_OK):
        return False
    known = FOLDER / "kvm"
    this_boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    words = known.read_text().split() if known.exists() else []
    if words[:1] != [this_boot]:
        with step("try KVM, whose device is here"):
            words = [this_boot, "yes" if _kernel_speaks(image) else "no"]
        known.write_text(" ".join(words))
    return words[1] == "yes"


def _kernel_speaks(image: Image) -> bool:
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    try:
        _start(image, "kvm", folder)
        console = folder / CONSOLE.name
        return _until(lambda: b"Linux version" in console.read_bytes(), KVM_PROBE_S)
    except SandboxError:
        return False
    finally:
        number = pid(folder / PID.name)
        if number is not None:
            os.kill(number, signal.SIGKILL)
        shutil.rmtree(folder)


def _start(image: Image, accelerator: str, folder: Path) -> None:
    # Its disk of changes is a temporary file, which may grow beyond what a /tmp in memory holds.
    run(command(image, accelerator, folder), env={"TMPDIR": str(FOLDER)})


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


def _tail(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-15:])
