"""Build .deb files, and describe them as an apt index does.

The archive is written here and not by dpkg-deb: most of the several hundred packages are empty, and a process for
each would take most of the time.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.shell import run

# One moment for every file, so that equal input gives equal packages.
EPOCH = 1_700_000_000


@dataclass(frozen=True)
class Package:
    """One binary package to build.

    `fill` puts files into the package's root folder; `scripts` maps a maintainer script's name to its text.
    """

    name: str
    version: str
    depends: tuple[str, ...] = ()
    architecture: str = "amd64"
    section: str = "devel"
    description: str = "ROCm software stack"
    maintainer: str = "ROCm Dev Support <rocm-dev.support@amd.com>"
    fields: Mapping[str, str] = field(default_factory=dict)
    fill: Callable[[Path], None] | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The name in the pool; the epoch is not part of it."""
        return f"{self.name}_{self.version.split(':', 1)[-1]}_{self.architecture}.deb"

    def control(self) -> str:
        """The control file."""
        lines = {
            "Package": self.name,
            "Version": self.version,
            "Architecture": self.architecture,
            "Maintainer": self.maintainer,
            "Section": self.section,
            "Priority": "optional",
            **self.fields,
            **({"Depends": ", ".join(self.depends)} if self.depends else {}),
            "Description": f"{self.description}\n A stand-in made by the gpufleet sandbox.",
        }
        return "".join(f"{name}: {value}\n" for name, value in lines.items())


def build(package: Package, folder: Path) -> Path:
    """Build one package into a folder and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / package.file_name
    with tempfile.TemporaryDirectory() as scratch:
        root, control = Path(scratch) / "root", Path(scratch) / "control"
        root.mkdir(mode=0o755)
        control.mkdir()
        if package.fill is not None:
            package.fill(root)
        (control / "control").write_text(package.control())
        for name, text in package.scripts.items():
            (control / name).write_text(text)
            (control / name).chmod(0o755)
        members = {"debian-binary": b"2.0\n", "control.tar.gz": _tar(control), "data.tar.gz": _tar(root)}
    target.write_bytes(b"!<arch>\n" + b"".join(_member(name, data) for name, data in members.items()))
    return target


def _tar(root: Path) -> bytes:
    """A compressed tar of a folder, everything owned by root and of one date."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = EPOCH
        return member

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.add(root, ".", filter=plain)
    return gzip.compress(buffer.getvalue(), compresslevel=1, mtime=EPOCH)


def _member(name: str, data: bytes) -> bytes:
    """One member of an ar archive: a header of fixed columns, then the content on an even length."""
    head = f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
    return head.encode() + data + b"\n" * (len(data) % 2)


def index_entry(package: Package, file: Path, archive_root: Path) -> str:
    """The package's paragraph in a Packages file."""
    data = file.read_bytes()
    extra = {
        "Filename": str(file.relative_to(archive_root)),
        "Size": str(len(data)),
        "MD5sum": hashlib.md5(data).hexdigest(),
        "SHA1": hashlib.sha1(data).hexdigest(),
        "SHA256": hashlib.sha256(data).hexdigest(),
    }
    head, _, description = package.control().partition("Description: ")
    return head + "".join(f"{name}: {value}\n" for name, value in extra.items()) + f"Description: {description}"


def unpack(file: Path, target: Path) -> Path:
    """Unpack a .deb's files into a fresh folder."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    run(["dpkg-deb", "-x", file, target])
    return target
