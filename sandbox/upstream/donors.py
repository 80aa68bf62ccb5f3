"""Fetch the distribution's own packages whose tools are repacked as AMD's: rocminfo, hipcc, the HIP runtime ...

Uses an apt configuration of its own, so that it works whatever the building machine's release is.
"""

from __future__ import annotations

from pathlib import Path

from sandbox import mirror, paths
from sandbox.errors import SandboxError
from sandbox.shell import run
from sandbox.upstream import debs

HOME = paths.CACHE / "donors"


def _options() -> list[str]:
    return [
        "-o",
        f"Dir={HOME}",
        "-o",
        f"Dir::State::status={HOME}/status",
        "-o",
        "APT::Sandbox::User=root",
        "-o",
        "APT::Architecture=amd64",
        "-o",
        "Acquire::Languages=none",
    ]


def fetch(names: list[str]) -> dict[str, Path]:
    """Unpacked folders of distribution packages by name. Raises SandboxError when apt cannot fetch one."""
    found = {name: HOME / "unpacked" / name for name in names}
    missing = [name for name, folder in found.items() if not folder.is_dir()]
    if missing:
        for folder in ("etc/apt/preferences.d", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "debs"):
            paths.ensure(HOME / folder)
        (HOME / "status").touch()
        archive = mirror.archives()[0]
        source = f"deb [signed-by={mirror.KEYRING}] {archive.uri} {mirror.SUITE} main\n"
        (HOME / "etc/apt/sources.list").write_text(source)
        run(["apt-get", *_options(), "--quiet", "update"])
        run(["apt-get", *_options(), "--quiet", "download", *missing], cwd=HOME / "debs")
        for name in missing:
            files = sorted((HOME / "debs").glob(f"{name}_*.deb"))
            if not files:
                raise SandboxError(f"apt downloaded no {name} from {archive.uri}")
            debs.unpack(files[-1], found[name])
    return found
