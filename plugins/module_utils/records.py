"""What the product wrote down on a host: the packages it holds, the reboot that it did last, and a drain."""

from __future__ import annotations

import json

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

BOOT_ID = "/proc/sys/kernel/random/boot_id"


def holds(host: Host) -> list[str]:
    """Names of the packages that the product put on hold, whether or not they still are."""
    return sorted(set((host.read(paths.HOLDS) or "").split()))


def parse_reboot(text: str) -> dict[str, str] | None:
    """{id, module}: the boot that ended then, and the srcversion of the module that the next one was to load.

    None where the record is missing or damaged; a module without a srcversion has an empty one.
    """
    try:
        record = json.loads(text)
        return {"id": str(record["boot_id"]), "module": str(record["module"])}
    except (ValueError, KeyError, TypeError):
        return None


def boot(host: Host) -> dict[str, object]:
    """The `boot` fact."""
    return {"id": host.value(BOOT_ID), "last": parse_reboot(host.read(paths.REBOOT) or "")}


def drained(host: Host) -> bool:
    """Whether a run took the host out of service and did not give it back."""
    return host.read(paths.DRAINED) is not None
