"""Content hash and ownership of the files that the product writes."""

from __future__ import annotations

import hashlib
import stat

from ansible_collections.gpufleet.rocm.plugins.module_utils.accounts import Accounts
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.paths import OWNED_FILES, venv_constraints


def read(host: Host, accounts: Accounts, path: str) -> dict[str, str] | None:
    """{sha256, mode, owner, group}; None when there is no such regular file."""
    status = host.stat(path)
    data = host.read_bytes(path, 64 * 1024 * 1024)
    if status is None or data is None:
        return None
    return {
        "sha256": hashlib.sha256(data).hexdigest(),
        "mode": "%04o" % stat.S_IMODE(status.st_mode),
        "owner": accounts.user_name(status.st_uid),
        "group": accounts.group_name(status.st_gid),
    }


def gather(host: Host, accounts: Accounts, venvs: list[str]) -> dict[str, object]:
    paths = [*OWNED_FILES, *(venv_constraints(venv) for venv in venvs)]
    return {path: read(host, accounts, path) for path in paths}
