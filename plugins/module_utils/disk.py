"""Free space where packages and virtual environments go."""

from __future__ import annotations

import os

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import UNREADABLE, Host

MOUNTS = ("/", "/opt", "/var", "/boot", "/tmp", "/home")
_MB = 1024 * 1024


def nearest_existing(host: Host, path: str) -> str:
    """The path itself or the closest parent that exists."""
    while path not in ("", "/") and not host.exists(path):
        path = path.rstrip("/").rpartition("/")[0]
    return path or "/"


def space(host: Host, path: str) -> dict[str, int] | None:
    """Free (for ordinary users: the reserve of root is not counted) and total space in MiB."""
    try:
        status = os.statvfs(host.local(nearest_existing(host, path)))
    except UNREADABLE:
        return None
    return {
        "free_mb": status.f_bavail * status.f_frsize // _MB,
        "total_mb": status.f_blocks * status.f_frsize // _MB,
    }


def gather(host: Host, venvs: list[str]) -> dict[str, object]:
    """Space by path; a path that does not exist yet gets that of its nearest parent."""
    return {path: space(host, path) for path in dict.fromkeys([*MOUNTS, *venvs])}
