"""Lay out and sign an apt archive: pool, Packages in three forms, Release, InRelease, Release.gpg."""

from __future__ import annotations

import email.utils
import gzip
import hashlib
import lzma
from dataclasses import dataclass
from pathlib import Path

from sandbox.upstream import debs, keys
from sandbox.upstream.debs import Package

COMPONENT = "main"
ARCHITECTURE = "amd64"
# When the stand-in files were "published"; a fixed date keeps rebuilt trees equal.
PUBLISHED = 1_702_598_400.0


@dataclass(frozen=True)
class Suite:
    """One suite of an archive: its name, its packages, and the Release fields that the real server shows."""

    name: str
    packages: tuple[Package, ...]
    version: str = ""
    origin: str = "repo.radeon.com"
    label: str = "repo.radeon.com"
    description: str = "AMD ROCm and driver packages (stand-in of the gpufleet sandbox)"
    signer: str = keys.RADEON


def pool_folder(root: Path, name: str) -> Path:
    """pool/main/r/rocm-core, or pool/main/libd/libdrm-amdgpu for lib packages."""
    letter = name[:4] if name.startswith("lib") else name[0]
    return root / "pool" / COMPONENT / letter / name


def write_suite(root: Path, suite: Suite) -> None:
    """Build the packages of one suite into the pool and write its signed index."""
    entries = []
    for package in sorted(suite.packages, key=lambda item: item.name):
        file = pool_folder(root, package.name) / package.file_name
        if not file.exists():
            debs.build(package, file.parent)
        entries.append(debs.index_entry(package, file, root))
    dist = root / "dists" / suite.name
    index = dist / COMPONENT / f"binary-{ARCHITECTURE}"
    index.mkdir(parents=True, exist_ok=True)
    text = "\n".join(entries).encode()
    (index / "Packages").write_bytes(text)
    (index / "Packages.gz").write_bytes(gzip.compress(text, mtime=0))
    (index / "Packages.xz").write_bytes(lzma.compress(text, preset=1))
    (index / "Release").write_text(
        f"Archive: {suite.name}\nComponent: {COMPONENT}\nOrigin: {suite.origin}\n"
        f"Label: {suite.label}\nArchitecture: {ARCHITECTURE}\n"
    )
    release = dist / "Release"
    release.write_text(release_text(dist, suite))
    keys.sign(suite.signer, release)
    keys.sign(keys.FOREIGN, release, prefix=".foreign.")


def release_text(dist: Path, suite: Suite) -> str:
    """The Release file with the checksums of every index below `dist`."""
    lines = [
        f"Origin: {suite.origin}",
        f"Label: {suite.label}",
        f"Suite: {suite.name}",
        f"Codename: {suite.name}",
        *([f"Version: {suite.version}"] if suite.version else []),
        f"Date: {email.utils.formatdate(PUBLISHED, usegmt=True).replace('GMT', 'UTC')}",
        f"Architectures: {ARCHITECTURE}",
        f"Components: {COMPONENT}",
        f"Description: {suite.description}",
    ]
    files = sorted(path for path in (dist / COMPONENT).rglob("*") if path.is_file())
    for title, algorithm in (("MD5Sum", "md5"), ("SHA1", "sha1"), ("SHA256", "sha256")):
        lines.append(f"{title}:")
        for path in files:
            data = path.read_bytes()
            digest = hashlib.new(algorithm, data).hexdigest()
            lines.append(f" {digest} {len(data):>8} {path.relative_to(dist)}")
    return "\n".join(lines) + "\n"
