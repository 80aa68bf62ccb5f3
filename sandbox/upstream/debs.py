"""Build .deb files with dpkg-deb, and describe them as an apt index does."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.shell import run

# One moment for every file, so that equal input gives equal packages.
EPOCH = "1700000000"


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
        root = Path(scratch) / "root"
        control = root / "DEBIAN"
        control.mkdir(parents=True, mode=0o755)
        root.chmod(0o755)
        if package.fill is not None:
            package.fill(root)
        (control / "control").write_text(package.control())
        for name, text in package.scripts.items():
            (control / name).write_text(text)
            (control / name).chmod(0o755)
        command: list[str | Path] = ["dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", root, target]
        run(command, env={"SOURCE_DATE_EPOCH": EPOCH})
    return target


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
