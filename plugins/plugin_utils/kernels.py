"""Which kernels a driver is known not to build for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.versions import parse

# 6.8.0-44-generic: series 6.8, ABI 44.
KERNEL = re.compile(r"(?P<series>\d+\.\d+)\.\d+-(?P<abi>\d+)")


def unsupported(kernel: str, driver: Mapping[str, Any]) -> str:
    """Why the driver of a release (its ``driver`` part) does not build for a kernel; empty where nothing is known."""
    match, listed = KERNEL.match(kernel), driver["kernels"]
    if not match or not listed:
        return ""
    series, abi = match["series"], int(match["abi"])
    for row in driver["fails_on"]:
        if row["series"] == series and (row["abi_from"] is None or abi >= row["abi_from"]):
            since = f" from ABI {row['abi_from']} on" if row["abi_from"] else ""
            return f"is of series {series}, on which the build fails{since},"
    if parse(series) > parse(listed[-1]):
        return f"is newer than {listed[-1]}, the newest that AMD lists"
    return ""


def unlisted(kernel: str, driver: Mapping[str, Any]) -> bool:
    """Whether AMD lists kernels for the driver and the kernel's series is not among them."""
    match, listed = KERNEL.match(kernel), driver["kernels"]
    return bool(match and listed and match["series"] not in listed)
