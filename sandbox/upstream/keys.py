"""Signing keys of the stand-in repositories, made on this machine and never committed.

`radeon` is the key of the stand-in for repo.radeon.com, `amd` that of the newer servers. `radeon-expired.asc` is the
radeon key as an old copy whose expiry date has passed: what a host holds that fetched the key years ago. `foreign` is
somebody else's key.
"""

from __future__ import annotations

from pathlib import Path

from sandbox import paths
from sandbox.shell import run

HOME = paths.KEYS / "gnupg"
RADEON = "gpufleet sandbox, stand-in for repo.radeon.com <radeon@sandbox.invalid>"
AMD = "gpufleet sandbox, stand-in for repo.amd.com <amd@sandbox.invalid>"
FOREIGN = "gpufleet sandbox, a foreign key <foreign@sandbox.invalid>"
MADE = "20200101T000000"


def gpg(*words: str | Path, faked_time: str | None = None) -> str:
    """Run gpg on the sandbox's own key ring and return its output."""
    clock = [f"--faked-system-time={faked_time}!"] if faked_time else []
    base: list[str | Path] = [
        "gpg",
        "--batch",
        "--yes",
        "--quiet",
        "--no-tty",
        "--homedir",
        HOME,
        "--pinentry-mode=loopback",
    ]
    return run([*base, "--passphrase", "", *clock, *words]).stdout


def fingerprint(user: str) -> str:
    """The 40 hex digits of a key's fingerprint."""
    lines = gpg("--with-colons", "--fingerprint", f"={user}").splitlines()
    return next(line.split(":")[9] for line in lines if line.startswith("fpr:"))


def export(user: str, target: Path) -> None:
    """Write the public half, armoured."""
    target.write_text(gpg("--armor", "--export", f"={user}"))


def ensure_keys() -> str:
    """Make the keys on first use; returns the fingerprints of the good ones, radeon's first."""
    paths.ensure(HOME).chmod(0o700)
    return " ".join((_radeon(), _amd()))


def _radeon() -> str:
    if paths.FINGERPRINT.exists():
        return paths.FINGERPRINT.read_text().strip()
    gpg("--quick-generate-key", RADEON, "rsa3072", "sign", "2y", faked_time=MADE)
    export(RADEON, paths.KEYS / "radeon-expired.asc")
    digits = fingerprint(RADEON)
    gpg("--quick-set-expire", digits, "10y")
    export(RADEON, paths.KEYS / "radeon.asc")
    gpg("--quick-generate-key", FOREIGN, "rsa3072", "sign", "10y")
    export(FOREIGN, paths.KEYS / "foreign.asc")
    paths.FINGERPRINT.write_text(digits + "\n")
    return digits


def _amd() -> str:
    if paths.AMD_FINGERPRINT.exists():
        return paths.AMD_FINGERPRINT.read_text().strip()
    gpg("--quick-generate-key", AMD, "rsa3072", "sign", "10y")
    export(AMD, paths.KEYS / "amd.asc")
    digits = fingerprint(AMD)
    paths.AMD_FINGERPRINT.write_text(digits + "\n")
    return digits


def sign(user: str, release: Path, prefix: str = "") -> None:
    """Write InRelease and Release.gpg beside a Release file; `prefix` comes before their names."""
    signer = ("--local-user", f"={user}", "--digest-algo", "SHA512")
    folder = release.parent
    gpg(*signer, "--clearsign", "--output", folder / f"{prefix}InRelease", release)
    gpg(*signer, "--armor", "--detach-sign", "--output", folder / f"{prefix}Release.gpg", release)
