"""Evidence in a text of any kind, or of several kinds at once: every reader looks for what it knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.gpufleet.rocm.plugins.module_utils import dkms, rocminfo
from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import bare_lines, plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.evidence import Evidence
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.matrix import table
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers import apt, dmesg, lspci, python, smi, toolchain
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.build_log import decisive_lines

Found = tuple[str, str]  # id, line

# What a text is called for people; where several fit, all of them.
KINDS: Mapping[str, re.Pattern[str]] = {
    "kernel log": re.compile(
        r"^(?:<\d+>)?\[ *\d+\.\d+\]|^\w.* kernel: |\b(?:amdgpu|kfd) (?:[0-9a-f]{4}:\S+|kfd): ", re.M
    ),
    "apt and dpkg": re.compile(r"^\s*(?:[EWN]: |Err:\d|Hit:\d|Get:\d|dpkg: |Setting up |Depends: )| : Depends: ", re.M),
    "DKMS": re.compile(
        r"\bDKMS make\.log\b|/var/lib/dkms/|^\S+[/,] ?\S+, \S+, \S+: (?:added|built|installed)|\bdkms\b", re.M
    ),
    "rocminfo": re.compile(r"ROC[kK] module|\bHSA Agents\b|Marketing Name:|/dev/kfd\b"),
    "lspci": re.compile(r"VGA compatible controller|Processing accelerators|\[(?:03|12)\d\d\]: "),
    "rocm-smi or amd-smi": re.compile(r"\b(?:ROCm System Management|AMDSMI|RSMI_|amdsmi|amdgpu not found in modules)"),
    "Python": re.compile(
        r"Traceback \(most recent|\b\w+Error: |\btorch\b|\bpip3?\b|PyTorch version|externally-managed-environment"
    ),
    "compiler or shell": re.compile(r"\bhipcc\b|\bclang\b|fatal error: |command not found|=> not found"),
}
# Where rocminfo's reading says only why it failed, the line that shows it.
_ROCMINFO_LINES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("kfd-", re.compile(r"open /dev/kfd|is not (?:a )?member of", re.I)),
    ("module-not-loaded", re.compile(r"not loaded", re.I)),
    ("module-not-live", re.compile(r"not live", re.I)),
    ("hsa-", re.compile(r"\bhsa|HSA_STATUS|libhsa|rocprofiler|rocminfo:|Segmentation|Aborted|Illegal|terminate", re.I)),
)
_MEMBER = re.compile(r"\bis (?:a )?member of \"?(?:render|video)\"? group", re.I)
_WSL = re.compile(r"-microsoft-standard(?:-WSL\d?)?\b|WSL environment detected", re.I)
# The integrated GPU in the name of a processor: "Radeon 780M".
_INTEGRATED = re.compile(r"\b\d{3,4}[MS]\b")
_GENERIC = re.compile(r"^AMD Radeon(?:\(TM\))? Graphics$", re.I)
_BARE_ANSWER = re.compile(r"^\W*(?:\S+ ){0,2}False\W*$")
_PYTHON = re.compile(r"torch|python|cuda", re.I)


def kinds(text: str) -> list[str]:
    """What the text seems to be, for people."""
    plain = "\n".join(plain_lines(text))
    return [name for name, pattern in KINDS.items() if pattern.search(plain)]


def read_text(text: str, source: str) -> list[Evidence]:
    """What the text is evidence of: each id once, with the line that shows it, and without secrets."""
    lines = plain_lines(text)
    first: dict[str, str] = {}
    for reader in READERS:
        for id, line in reader(text):
            first.setdefault(id, line)
    if _is_stray_answer(first, lines):
        del first["torch-gpu-unavailable"]
    return [Evidence(id, source, masked(line)) for id, line in first.items()]


def _is_stray_answer(found: Mapping[str, str], lines: Sequence[str]) -> bool:
    """Whether "False" alone on a line is no answer of PyTorch: it stands in a text about something else."""
    answer = found.get("torch-gpu-unavailable")
    if answer is None or not _BARE_ANSWER.match(answer) or _PYTHON.search(answer):
        return False
    others = [line for line in lines if line.strip() and line.strip() != answer]
    return bool(others) and not any(map(_PYTHON.search, others))


def _problems(read: Callable[[str], list[dict[str, str]]]) -> Callable[[str], Iterator[Found]]:
    def found(text: str) -> Iterator[Found]:
        for problem in read(text):
            yield problem["id"], problem["evidence"]

    return found


def _build(text: str) -> Iterator[Found]:
    """Builds of modules that failed, with the compiler's first complaint where the text holds the log."""
    for entry in dkms.parse_output(text):
        if entry["state"] == "broken":
            yield "dkms-stale-tree", str(entry["warning"])
        elif entry["state"] == "failed":
            complaints = decisive_lines(text, 1) if "make.log for" in text else []
            yield "dkms-failed", next(iter(complaints), str(entry["warning"]))
        elif entry["module"] == "amdgpu" and "diff between" in str(entry["warning"]).lower():
            yield "dkms-failed", f"amdgpu {entry['version']}, {entry['kernel']}: {entry['warning']}"


def _rocminfo(text: str) -> Iterator[Found]:
    reading = rocminfo.parse(text)
    lines = bare_lines(text)
    problem = reading["problem"]
    if isinstance(problem, str) and problem != "unparseable":
        pattern = next(pattern for start, pattern in _ROCMINFO_LINES if problem.startswith(start))
        line = _line(pattern, lines)
        if problem == "kfd-permission" and (member := _line(_MEMBER, lines)):
            yield "session-older-than-group", member
        if line:
            yield problem, line
    if wsl := _line(_WSL, lines):
        yield "wsl", wsl
    gpus = reading["gpus"]
    if isinstance(gpus, list):
        yield from _overridden(gpus, lines)


def _overridden(gpus: Iterable[Mapping[str, Any]], lines: Sequence[str]) -> Iterator[Found]:
    """An integrated GPU that passes for another target than the one its processor has."""
    nameless = [gpu["gfx"] for gpu in gpus if _GENERIC.match(gpu["name"] or "")]
    for line in lines:
        models = _INTEGRATED.findall(line) if "Name:" in line else []
        known = {row["gfx"] for row in table("gpus")["gpus"] for model in models if _names(row, model)}
        if known and nameless and not known & set(nameless):
            yield "hsa-override-set", f"{line.strip()} has {' or '.join(sorted(known))}, not {nameless[0]}"
            return


def _names(row: Mapping[str, Any], model: str) -> bool:
    return bool(row.get("integrated")) and model in _INTEGRATED.findall(row["name"])


def _lspci(text: str) -> Iterator[Found]:
    """GPUs that belong to virtual machines, and fewer of them in rocminfo's listing of the same text."""
    gpus = lspci.read_gpus(text)
    held = next((gpu for gpu in gpus if gpu["driver"] in ("gim", "vfio-pci")), None)
    if held:
        yield "hypervisor-host", f"{held['address']} 1002:{held['device']}: Kernel driver in use: {held['driver']}"
    nameless = next((gpu for gpu in gpus if not gpu["device"]), None)
    if nameless:
        yield "unparseable", f"{nameless['address']}: an AMD GPU without its ids; lspci -nn -D shows them"
    reading = rocminfo.parse(text)
    agents = reading["gpus"]
    if isinstance(agents, list) and agents and reading["complete"] and len(agents) < len(gpus) and not held:
        yield "kfd-device-failed", f"{len(gpus)} AMD GPUs in lspci, {len(agents)} GPU agents in rocminfo"


def _line(pattern: re.Pattern[str], lines: Iterable[str]) -> str | None:
    return next((line.strip() for line in lines if pattern.search(line)), None)


# In this order: of two readers that see the same, the first has the better line.
READERS: Sequence[Callable[[str], Iterable[Found]]] = (
    _rocminfo,
    _build,
    _lspci,
    *(_problems(reader.read_problems) for reader in (dmesg, apt, smi, toolchain, python)),
)
