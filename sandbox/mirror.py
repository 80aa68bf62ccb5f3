"""Which Debian mirror this machine uses; the sandbox names none of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from sandbox.errors import SandboxError
from sandbox.shell import run

# The look-alike hosts are made of this Debian release: the tools that are repacked (hipcc, clang-15 ...) come from it.
SUITE = "bookworm"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


@dataclass(frozen=True)
class Archive:
    """One Debian archive: the path under which the upstream server offers it, its real URI and its suites."""

    name: str
    uri: str
    suites: tuple[str, ...]


@lru_cache(maxsize=1)
def archives() -> tuple[Archive, ...]:
    """The machine's own Debian archives; SANDBOX_DEBIAN_MIRROR overrides the main one.

    Raises SandboxError when neither names a Debian archive.
    """
    lines = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)"], check=False).stdout.split("\n")
    pairs = {(words[0].rstrip("/"), words[1]) for words in (line.split() for line in lines) if len(words) == 2}
    override = os.environ.get("SANDBOX_DEBIAN_MIRROR", "").rstrip("/")
    if override:
        return (Archive("debian", override, (SUITE,)),)
    found: list[Archive] = []
    for name, wanted in (("debian", (SUITE, f"{SUITE}-updates")), ("debian-security", (f"{SUITE}-security",))):
        for uri in sorted({uri for uri, _ in pairs if uri.endswith(f"/{name}")}):
            suites = tuple(suite for suite in wanted if (uri, suite) in pairs)
            if suites and not any(archive.name == name for archive in found):
                found.append(Archive(name, uri, suites))
    if not found or found[0].name != "debian":
        raise SandboxError(
            f"apt on this machine lists no Debian archive with {SUITE}; expected one to build the hosts from. "
            "Next: set SANDBOX_DEBIAN_MIRROR to the URI of one (it ends in /debian) and repeat."
        )
    return tuple(found)
