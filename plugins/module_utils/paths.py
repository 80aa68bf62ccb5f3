"""Paths that the product writes on a host or reads as its own: the one home for both sides.

Roles, the planner and the facts module all take them from here, so that a file is written, compared and
removed under the same name.
"""

from __future__ import annotations

SOURCES_DIR = "/etc/apt/sources.list.d"
KEYRINGS_DIR = "/etc/apt/keyrings"
PREFERENCES_DIR = "/etc/apt/preferences.d"

ROCM_SOURCE = SOURCES_DIR + "/rocm.sources"
AMDGPU_SOURCE = SOURCES_DIR + "/amdgpu.sources"
GRAPHICS_SOURCE = SOURCES_DIR + "/graphics.sources"
ROCM_KEYRING = KEYRINGS_DIR + "/rocm.asc"
AMDROCM_KEYRING = KEYRINGS_DIR + "/amdrocm.asc"
ROCM_PIN = PREFERENCES_DIR + "/rocm-pin-600"
# Only there while packages are replaced by others that sort lower.
REPLACE_PIN = PREFERENCES_DIR + "/gpufleet-rocm-replace"
LD_SO_CONF = "/etc/ld.so.conf.d/rocm.conf"
PROFILE = "/etc/profile.d/rocm.sh"
UDEV_RULE = "/etc/udev/rules.d/70-rocm.rules"

# What the product remembers about a host, on the host.
STATE_DIR = "/var/lib/gpufleet.rocm"
HOLDS = STATE_DIR + "/holds"
REBOOT = STATE_DIR + "/reboot.json"
DRAINED = STATE_DIR + "/drained"

OWNED_FILES = (
    ROCM_SOURCE,
    AMDGPU_SOURCE,
    GRAPHICS_SOURCE,
    ROCM_KEYRING,
    AMDROCM_KEYRING,
    ROCM_PIN,
    REPLACE_PIN,
    LD_SO_CONF,
    PROFILE,
    UDEV_RULE,
)


def venv_constraints(venv: str) -> str:
    """The pip constraints file that pins the wheels of one virtual environment."""
    return venv.rstrip("/") + "/constraints.txt"
