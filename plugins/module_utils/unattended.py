"""Whether unattended-upgrades is active, and whether it may bring a new kernel."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import aptconf
from ansible_collections.gpufleet.rocm.plugins.module_utils.dpkg import INSTALLED, Package
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

NONE: dict[str, object] = {"installed": False, "enabled": False, "kernel_excluded": False, "file": None}
UNITS = "/etc/systemd/system"
TIMER = "apt-daily-upgrade.timer"
_SWITCH = "apt::periodic::unattended-upgrade"
_MASTER_SWITCH = "apt::periodic::enable"
_BLACKLIST = "unattended-upgrade::package-blacklist"
# linux-image-generic and its like depend on the newest image; linux-image-6.8.0-41-generic is one.
_METAPACKAGE = re.compile(r"^linux-image-(?!\d|unsigned-)")


def _blacklisted(name: str, patterns: list[str]) -> bool:
    """As unattended-upgrades matches: from the start of the name."""
    for pattern in patterns:
        try:
            if re.match(pattern, name):
                return True
        except re.error:
            continue
    return False


def kernel_excluded(packages: list[Package], patterns: list[str], release: str | None) -> bool:
    """Whether every metapackage that would bring a kernel newer than `release` is blacklisted or on hold."""
    image = "linux-image-" + re.sub(r"-\d+", "-9999", release or "", count=1)
    if release and _blacklisted(image, patterns):
        return True
    return all(
        package.want == "hold" or _blacklisted(package.name, patterns)
        for package in packages
        if package.status in INSTALLED and _METAPACKAGE.match(package.name)
    )


def timer_runs(host: Host) -> bool:
    """Whether systemd would start the upgrade; a host without systemd has cron for it."""
    if host.link(UNITS + "/" + TIMER) == "/dev/null":
        return False
    wants = UNITS + "/timers.target.wants"
    return not host.is_dir(wants) or host.link(wants + "/" + TIMER) is not None


def gather(host: Host, packages: list[Package], release: str | None) -> dict[str, object]:
    """The `unattended_upgrades` fact; `release` is the newest kernel of the host."""
    settings = aptconf.read(host)
    value, path = settings.get(_SWITCH, [("0", None)])[-1]
    master = settings.get(_MASTER_SWITCH, [("1", None)])[-1][0]
    installed = any(package.name == "unattended-upgrades" and package.status in INSTALLED for package in packages)
    patterns = [pattern for pattern, _file in settings.get(_BLACKLIST, [])]
    return {
        "installed": installed,
        "enabled": installed and value not in ("", "0") and master != "0" and timer_runs(host),
        "kernel_excluded": kernel_excluded(packages, patterns, release),
        "file": path,
    }
