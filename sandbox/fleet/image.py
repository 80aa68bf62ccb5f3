"""The one image that all hosts start from: built by mmdebstrap once, then kept.

The image is Debian with the identity files of Ubuntu 22.04 (see README.md); it holds nothing of ROCm.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from sandbox import mirror, paths
from sandbox.fleet.podman import podman
from sandbox.progress import note, step
from sandbox.shell import run

SOURCES = Path(__file__).resolve().parent / "image"
REPOSITORY = "localhost/gpufleet-host"


def packages(listing: Path = SOURCES / "packages.txt") -> list[str]:
    """The package names in a list, without comments."""
    lines = listing.read_text().splitlines()
    return [name for name in (line.split("#")[0].strip() for line in lines) if name]


def tag() -> str:
    """A name that changes whenever anything that goes into the image changes."""
    digest = hashlib.sha256(mirror.SUITE.encode())
    for path in sorted(SOURCES.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(SOURCES)).encode())
            digest.update(path.read_bytes())
    return f"{REPOSITORY}:{digest.hexdigest()[:12]}"


def sources_lines() -> list[str]:
    """One-line apt sources that mmdebstrap reads, one for each suite of the machine's own mirror."""
    return [
        f"deb [signed-by={mirror.KEYRING}] {archive.uri} {suite} main"
        for archive in mirror.archives()
        for suite in archive.suites
    ]


def ensure_image() -> str:
    """Build or import the image when it is missing; returns its name."""
    name = tag()
    if podman("image", "exists", name, check=False).returncode == 0:
        return name
    archive = paths.ensure(paths.CACHE / "image") / f"{name.rsplit(':', 1)[1]}.tar"
    if not archive.exists():
        partial = archive.with_suffix(".partial")
        with step(f"build the host image from {mirror.archives()[0].uri} (once; about a minute)"):
            run(
                [
                    "mmdebstrap",
                    "--quiet",
                    "--variant=minbase",
                    "--format=tar",
                    f"--include={','.join(packages())}",
                    f'--customize-hook=sh {SOURCES / "customize.sh"} "$1" {SOURCES / "rootfs"}',
                    mirror.SUITE,
                    partial,
                    "-",
                ],
                stdin="\n".join(sources_lines()) + "\n",
            )
            partial.rename(archive)
    with step(f"import the host image ({archive.stat().st_size // 2**20} MiB)"):
        podman(
            "import",
            "--change=CMD /sbin/init",
            "--change=STOPSIGNAL SIGRTMIN+3",
            archive,
            name,
        )
    remove_old(name)
    return name


def remove_old(current: str) -> None:
    """Drop images and archives of earlier versions that no container uses."""
    listed = podman("images", "--format", "{{.Repository}}:{{.Tag}}", REPOSITORY, check=False).stdout.split()
    for name in listed:
        if name != current and podman("rmi", name, check=False).returncode == 0:
            note(f"removed the old image {name}")
    for archive in (paths.CACHE / "image").glob("*.tar"):
        if archive.stem != current.rsplit(":", 1)[1]:
            archive.unlink()
