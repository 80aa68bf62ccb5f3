"""The identity files that make a host pass for an operating system: os-release, lsb-release and the sandbox's label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from sandbox.errors import SandboxError

SYSTEMS = Path(__file__).resolve().parent / "systems.yml"
DEFAULT = "jammy"
OS_RELEASE = """\
PRETTY_NAME="Ubuntu {point} LTS"
NAME="Ubuntu"
VERSION_ID="{version}"
VERSION="{point} LTS ({title})"
VERSION_CODENAME={codename}
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
SUPPORT_URL="https://help.ubuntu.com/"
BUG_REPORT_URL="https://bugs.launchpad.net/ubuntu/"
PRIVACY_POLICY_URL="https://www.ubuntu.com/legal/terms-and-policies/privacy-policy"
UBUNTU_CODENAME={codename}
"""
LSB_RELEASE = """\
DISTRIB_ID=Ubuntu
DISTRIB_RELEASE={version}
DISTRIB_CODENAME={codename}
DISTRIB_DESCRIPTION="Ubuntu {point} LTS"
"""
LABEL = """\
This host is a stand-in made by the gpufleet sandbox: {what}.
Its GPUs are files (/sys/bus/pci/devices is bound); there is no amdgpu driver in its kernel.
"""
# The distribution's own file, which the image keeps under this name.
REAL = "/usr/lib/os-release.distrib"


def script(system: str) -> str:
    """Shell commands that write the identity. Raises SandboxError for a name that systems.yml lacks."""
    systems: dict[str, Any] = yaml.safe_load(SYSTEMS.read_text())
    if system not in systems:
        raise SandboxError(f"unknown system {system!r}; expected one of {', '.join(systems)}")
    words = systems[system]
    if words is None:
        label = LABEL.format(what="a Debian 12 container")
        return f"cp {REAL} /usr/lib/os-release\nrm -f /etc/lsb-release\n{_write('/etc/gpufleet-sandbox', label)}"
    label = LABEL.format(what="Debian that carries the identity files of Ubuntu {version}".format_map(words))
    return (
        _write("/usr/lib/os-release", OS_RELEASE.format_map(words))
        + _write("/etc/lsb-release", LSB_RELEASE.format_map(words))
        + _write("/etc/gpufleet-sandbox", label)
    )


def _write(path: str, text: str) -> str:
    return f"cat > {path} <<'END'\n{text}END\n"
