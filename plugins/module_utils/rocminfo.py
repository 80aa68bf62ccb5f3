"""What rocminfo says: the driver's version, the GPU agents, and why there are none.

The output of all releases has the same shape: a banner about the kernel module, a line about /dev/kfd where that
cannot be opened, then one block of "Label: value" lines per agent. People also pass the output through grep or lose
its line breaks, so blocks are told apart by the label "Name" alone.
"""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import bare_lines

# Every label that can follow a wanted value when the line breaks are lost.
_LABELS = (
    "Marketing Name",
    "Vendor Name",
    "Name",
    "Uuid",
    "Features",
    "Feature",
    "Profiles",
    "Profile",
    "Float Round Mode",
    "Max Queue Number",
    "Queue Min Size",
    "Queue Max Size",
    "Queue Type",
    "Internal Node ID",
    "Node",
    "Device Type",
    "Cache Info",
    "Chip ID",
    "ASIC Revision",
    "Cacheline Size",
    r"Max Clock Freq\. \(MHz\)",
    "BDFID",
    "Compute Unit",
    "SIMDs per CU",
    "Shader Engines",
    "Memory Properties",
    "Fast F16 Operation",
    "Wavefront Size",
    "Pool Info",
    "ISA Info",
    r"ISA \d+",
    "Machine Models",
)
_FIELD = re.compile(r"(?<![\w-])(%s) ?:{1,2}\s*" % "|".join(_LABELS))
# What may stand in front of a label: blanks, quoting, the numbers of grep -n, the host name of a parallel shell.
_START = re.compile(r"(?:[\w.-]+: +)?[^A-Za-z]*$")
# Many files have lines "Name: ..." and "Node: ...": what only an agent has beside its name.
_OWN = ("Marketing Name", "Internal Node ID", "BDFID", "Compute Unit", "Wavefront Size", "Queue Max Size")
_TYPES = ("CPU", "GPU", "DSP", "AIE")
# Old releases had the features in the name ("gfx906+sram-ecc"); clinfo has them behind a colon.
_GFX = re.compile(r"^(gfx[0-9a-f]{3,5})(?:\+.*)?$")
# What starts again after a value that lost its line break.
_HEADER = re.compile(r"\s*\*{3}.*$")
_NUMBER = re.compile(r"^(\d+)")

_VERSION = re.compile(r"ROC[kK] module version (\S+) is loaded")
_LISTING = re.compile(r"^\s*HSA (?:System Attributes|Agents)\b")
_DONE = re.compile(r"\*{3}\s*Done\s*\*{3}")
_NOT_LOADED = re.compile(r"ROC[kK] module is NOT loaded|(?:amdgpu|ROC[kK]) (?:kernel )?module (?:is )?not loaded", re.I)
_NOT_LIVE = re.compile(r"ROC[kK] module is NOT live", re.I)
_OPENED = re.compile(r"\bAble to open /dev/kfd")
_NOT_OPENED = re.compile(r"(?:unable|failed|could not|cannot|can't) (?:to )?open /dev/kfd[^:]*: *(?P<reason>.*)", re.I)
_NO_MEMBER = re.compile(r"is not (?:a )?member of \"?\w+\"? group")
_HSA = re.compile(
    r"hsa api call failure|call returned (?:HSA_STATUS_ERROR|\d)|HSA_STATUS_ERROR"
    r"|error while loading shared libraries: lib(?:hsa|rocprofiler)"
    r"|rocminfo: symbol lookup error|rocminfo: .*(?:not found \(required by|Assertion .* failed)",
    re.I,
)
_STARTED = re.compile(r"ROC[kK] module (?:version \S+ )?is loaded")
_CRASHED = re.compile(r"\b(?:Segmentation fault|Aborted|Illegal instruction|terminate called)\b")

# The kernel's reason for refusing /dev/kfd. Operation not permitted is no matter of groups: the driver itself or the
# container's device rules refused. Out of memory is what KFD answers when it accepted none of the GPUs.
_REASONS = (
    (re.compile(r"no such file", re.I), "kfd-missing"),
    (re.compile(r"permission denied", re.I), "kfd-permission"),
    (re.compile(r"cannot allocate memory|no such device", re.I), "kfd-no-usable-device"),
)


def parse(text: str) -> dict[str, object]:
    """The reading of rocminfo's output, errors included.

    driver_version  version of AMD's own driver build; None for the kernel's own amdgpu, which names none
    gpus            [{gfx, name, compute_units, chip_id, bdf}] in agent order; two agents of one card are two entries.
                    compute_units is a number, chip_id four hex digits, bdf 'bus:device.function' without the PCI
                    domain; each is None where the output has been cut down and lacks it
    problem         None or the id of the reason why rocminfo failed
    complete        whether the listing reached its end
    wsl             whether rocminfo found itself under Windows
    """
    lines = bare_lines(text)
    agents, last_agent = _agents(lines)
    version = next((match.group(1) for match in map(_VERSION.search, lines) if match), None)
    return {
        "driver_version": version,
        "gpus": [gpu for gpu in map(_gpu, _distinct(agents)) if gpu is not None],
        "problem": _problem(lines, last_agent),
        "complete": any(_DONE.search(line) for line in lines),
        "wsl": any("WSL environment detected" in line for line in lines),
    }


def _agents(lines: list[str]) -> tuple[list[dict[str, str]], int]:
    """The agents as label-to-value mappings, and the number of the line on which the last one was seen (-1: none)."""
    agents: list[dict[str, str]] = []
    last = -1
    for number, line in enumerate(lines):
        fields = list(_FIELD.finditer(line))
        # Other tools have labels that end in the same words; several on one line are a listing without line breaks.
        if fields and len(fields) < 3 and not _START.match(line, 0, fields[0].start()):
            continue
        for position, field in enumerate(fields):
            end = fields[position + 1].start() if position + 1 < len(fields) else len(line)
            label, value = field.group(1), _HEADER.sub("", line[field.end() : end]).strip()
            if label == "Name":
                if value.startswith("amdgcn") or value.startswith("AMD:AMDGPU"):
                    continue  # an instruction set of the agent, not another agent
                agents.append({})
            if agents:
                last = number
                agents[-1].setdefault(label, value)
    if not any(map(_is_agent, agents)):
        return [], -1
    return agents, last


def _is_agent(fields: dict[str, str]) -> bool:
    return bool(
        _GFX.match(fields["Name"])
        or any(label in fields for label in _OWN)
        or fields.get("Device Type") in _TYPES
        or fields.get("Uuid", "").partition("-")[0] in _TYPES
    )


def _distinct(agents: list[dict[str, str]]) -> list[dict[str, str]]:
    """The agents without those that a text shows again: the same in everything, the number of the node included."""
    found: list[dict[str, str]] = []
    numbered: dict[str, list[dict[str, str]]] = {}
    for agent in agents:
        node = agent.get("Node") or agent.get("Internal Node ID")
        known = numbered.setdefault(node, []) if node else []
        if not any(agent.items() <= other.items() for other in known):
            known.append(agent)
            found.append(agent)
    return found


def _gpu(agent: dict[str, str]) -> dict[str, object] | None:
    """The entry of one agent; None for CPUs and for the NPU, whose name is aie2 or the like."""
    gfx = _GFX.match(agent.get("Name", ""))
    if not gfx or agent.get("Device Type", "GPU") != "GPU":
        return None
    units, chip, place = (_number(agent.get(label)) for label in ("Compute Unit", "Chip ID", "BDFID"))
    return {
        "gfx": gfx.group(1),
        "name": agent.get("Marketing Name") or None,
        "compute_units": units,
        "chip_id": None if chip is None else "%04x" % chip,
        "bdf": None if place is None else address(place),
    }


def _number(value: str | None) -> int | None:
    """The decimal number at the start of '29877(0x74b5)'."""
    match = _NUMBER.match(value or "")
    return int(match.group(1)[:10]) if match else None


def address(location: int) -> str:
    """'bus:device.function' of a BDFID or of KFD's location_id: 1281 -> '05:00.1'."""
    return "%02x:%02x.%x" % (location >> 8 & 0xFF, location >> 3 & 0x1F, location & 7)


def _problem(lines: list[str], last_agent: int) -> str | None:
    """Why there is no listing. What stands after a complaint overrules it; a failure after the listing counts."""
    listing = max([last_agent] + [number for number, line in enumerate(lines) if _LISTING.search(line)])
    complaints = lines[listing + 1 :]
    if listing >= 0:
        failed = any(_HSA.search(line) or _CRASHED.search(line) for line in complaints)
        return "hsa-init-failed" if failed else None
    refusal = next((match.group("reason") for match in map(_NOT_OPENED.search, lines) if match), None)
    opened = any(_OPENED.search(line) for line in lines)
    reason = None if refusal is None else _reason(refusal)
    # The banner comes from lsmod, which can fail for its own reasons; a node that answers belongs to a loaded driver.
    if not opened and reason in (None, "kfd-missing"):
        if any(_NOT_LIVE.search(line) for line in lines):
            return "module-not-live"
        if any(_NOT_LOADED.search(line) for line in lines):
            return "module-not-loaded"
    if reason:
        return reason
    # Releases before 3.3 named no reason, only the group.
    if not opened and any(_NO_MEMBER.search(line) for line in lines):
        return "kfd-permission"
    crashed = any(map(_STARTED.search, lines)) and any(map(_CRASHED.search, lines))
    if crashed or any(map(_HSA.search, lines)):
        return "hsa-init-failed"
    return None if opened else "unparseable"


def _reason(refusal: str) -> str:
    return next((problem for pattern, problem in _REASONS if pattern.search(refusal)), "kfd-open-failed")
