"""Where the sandbox keeps what it makes. Everything lives below one folder that git ignores."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent
CACHE = ROOT / ".cache" / "sandbox"

SSH_KEY = CACHE / "id_ed25519"
SSH_CONFIG = CACHE / "ssh_config"
KNOWN_HOSTS = CACHE / "known_hosts"
KEYS = CACHE / "keys"
FINGERPRINT = KEYS / "radeon.fingerprint"
AMD_FINGERPRINT = KEYS / "amd.fingerprint"
TREE = CACHE / "tree"
FAULTS = CACHE / "faults.json"
DEBIAN_CACHE = CACHE / "mirror"
SERVER_PID = CACHE / "server.pid"
SERVER_LOG = CACHE / "server.log"


def ensure(path: Path) -> Path:
    """Create a folder with its parents and return it."""
    path.mkdir(parents=True, exist_ok=True)
    return path
