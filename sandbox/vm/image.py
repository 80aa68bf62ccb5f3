"""The machine's disk: Debian 12 with a kernel, headers and DKMS, built by mmdebstrap at native speed once, then kept.

Two files: a file system without partitions, and a boot disk with nothing but GRUB, which reads the other's menu. So the
guest itself says which of its kernels boots next, as a server does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox import mirror, paths
from sandbox.fleet import hosts, image, ssh
from sandbox.progress import step
from sandbox.shell import run

SOURCES = Path(__file__).resolve().parent / "image"
FOLDER = paths.CACHE / "vm"
# What a plan wants to be free for ROCm; the file is sparse.
SIZE = "48G"
# The firmware boots from no disk of less than a cylinder.
BOOT_BYTES = 16 << 20
LABEL = "gpufleet"


@dataclass(frozen=True)
class Image:
    """The files of one built image; `kernels` holds the installed release and a newer one that the mirror offers."""

    folder: Path

    @property
    def root(self) -> Path:
        """The file system, which no machine writes to."""
        return self.folder / "root.img"

    @property
    def boot(self) -> Path:
        """The boot disk."""
        return self.folder / "boot.img"

    @property
    def kernels(self) -> tuple[str, str]:
        """(installed, newer) kernel releases."""
        installed, newer = (self.folder / "kernels").read_text().split()
        return installed, newer


def ensure_image(name: str) -> Image:
    """Build the image of a machine of this name when it is missing or made of something else."""
    built = Image(FOLDER / f"image-{digest(name)}")
    if built.folder.exists():
        return built
    for old in FOLDER.glob("image-*"):
        shutil.rmtree(old)
    partial = paths.ensure(FOLDER / "image.partial")
    with step(f"build the virtual machine's disk from {mirror.archives()[0].uri} (once; two to three minutes)"):
        _write_disks(name, Image(partial))
    partial.rename(built.folder)
    return built


def digest(name: str) -> str:
    """Changes whenever anything that goes into the image does."""
    total = hashlib.sha256("\n".join((mirror.SUITE, name, *_identity(name).values(), *image.sources_lines())).encode())
    for path in sorted([*SOURCES.rglob("*"), *image.SOURCES.rglob("*"), Path(__file__)]):
        if path.is_file():
            total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:12]


def packages() -> list[str]:
    """Those of the containers' image and those of a machine."""
    return [*image.packages(), *image.packages(SOURCES / "packages.txt")]


def archives() -> tuple[mirror.Archive, ...]:
    """The archive that kernels are updated from, or the only one.

    An emulated processor takes half a minute to read the 60,000 packages of the whole distribution, at every update.
    """
    return mirror.archives()[-1:]


def _identity(name: str) -> dict[str, str]:
    """The files that make this machine ours: keys, its name, its package sources."""
    key = ssh.host_key(FOLDER / name, name)
    return {
        "home/ops/.ssh/authorized_keys": ssh.login_key() + "\n",
        "etc/ssh/ssh_host_ed25519_key": key.read_text(),
        "etc/ssh/ssh_host_ed25519_key.pub": key.with_suffix(".pub").read_text(),
        "etc/hostname": f"{name}\n",
        "etc/hosts": f"127.0.0.1 localhost\n127.0.1.1 {name}\n",
        "etc/apt/sources.list.d/distribution.sources": hosts.apt_sources(archives()),
    }


def _write_disks(name: str, target: Image) -> None:
    root = target.folder / "root"
    server = f"{hosts.GATEWAY}:{hosts.PORT} {archives()[0].name}"
    customize = f'{SOURCES / "customize.sh"} "$1" {SOURCES} {image.SOURCES} {server}'
    shutil.rmtree(root, ignore_errors=True)
    run(
        [
            "mmdebstrap",
            "--quiet",
            "--variant=minbase",
            "--format=directory",
            "--skip=cleanup/apt/lists",
            f"--include={','.join(packages())}",
            f"--customize-hook=sh {customize}",
            mirror.SUITE,
            root,
            "-",
        ],
        stdin="\n".join(image.sources_lines()) + "\n",
    )
    for place, text in _identity(name).items():
        (root / place).write_text(text)
    (root / "etc/ssh/ssh_host_ed25519_key").chmod(0o600)
    run(["chown", "-R", "1000:1000", root / "home/ops/.ssh"])
    shutil.copy(root / "etc/gpufleet-kernels", target.folder / "kernels")
    grub = root / "boot/grub"
    # GRUB's first sector loads what follows it.
    content = (grub / "i386-pc/boot.img").read_bytes() + (grub / "core.img").read_bytes()
    target.boot.write_bytes(content)
    os.truncate(target.boot, BOOT_BYTES)
    run(
        ["mke2fs", "-q", "-t", "ext4", "-L", LABEL, "-d", root, target.root, SIZE],
        env={"MKE2FS_CONFIG": str(SOURCES / "mke2fs.conf")},
    )
    shutil.rmtree(root)
