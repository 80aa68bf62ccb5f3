"""Base addresses of the outside world and the mirrors that replace them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError

UPSTREAM: dict[str, str] = {
    "radeon": "https://repo.radeon.com",
    "amd": "https://repo.amd.com",
    "amd_stable": "https://stable.repo.amd.com",
    "pytorch": "https://download.pytorch.org",
}

_CLEAN = re.compile(r"[!-~]+")  # printable ASCII, no space: the URL ends up as one field of an apt source


def base_addresses(mirrors: Mapping[str, object] | None) -> dict[str, str]:
    """Upstream addresses by name, each replaced by its mirror where one is set (None and '' mean: not set).

    Raises DecisionError `wish-invalid` for an unknown name or an address that apt and pip cannot use.
    """
    bases = dict(UPSTREAM)
    for name, value in (mirrors or {}).items():
        if name not in UPSTREAM:
            raise _refuse(f"the mirror name {name!a} is not known", f"one of {', '.join(UPSTREAM)}")
        if value is not None and value != "":
            bases[name] = _checked(name, value)
    return bases


def _checked(name: str, value: object) -> str:
    """A usable mirror address without a trailing slash."""
    wanted = "an address such as http://mirror.example/" + UPSTREAM[name].removeprefix("https://")
    if not isinstance(value, str) or not _CLEAN.fullmatch(value):
        raise _refuse(f"the {name} mirror is {value!a}", wanted)
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _refuse(f"the {name} mirror is {value!a}", wanted) from None
    if parts.scheme not in ("http", "https") or not host or port == 0 or {"?", "#"} & set(value):
        raise _refuse(f"the {name} mirror is {value!a}", wanted)
    if parts.username is not None or parts.password is not None:
        # The address goes into a file that every user of the host can read. The message must not show it.
        raise _refuse(
            f"the {name} mirror carries a user name or password",
            wanted,
            "put the credentials into /etc/apt/auth.conf.d and pip's netrc, and give the bare address",
        )
    return value.rstrip("/")


def trusted_host(url: str) -> str | None:
    """'host' or 'host:port' that pip must be told to trust, which only a plain http address needs."""
    parts = urlsplit(url)
    return parts.netloc if parts.scheme == "http" else None


def _refuse(found: str, expected: str, remedy: str = "correct the rocm_mirror_* variable") -> DecisionError:
    return DecisionError("wish-invalid", found, expected, remedy)
