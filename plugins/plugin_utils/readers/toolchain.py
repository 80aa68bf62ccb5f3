"""What shells, compilers and linkers do not find of ROCm, and what the kernel says about the speed of a GPU."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import Problem, matching, problems, rule

_TOOL = r"(?:rocm-smi|amd-smi|rocminfo|rocm_agent_enumerator|rocprof\w*|hipcc|hipconfig|hipify-\w+|amdclang(?:\+\+)?)"
_HEADER = r"(?:hip|roc|hsa|rccl|miopen|amd_comgr|thrust/system/hip)[\w/-]*\.(?:h|hpp)\b"
_LIBRARY = r"(?:amdhip|hip|hsa-|hsakmt|roc|rccl|MIOpen|migraphx|amd_comgr|amd_smi)[\w.+-]{0,80}"

RULES = (
    # "bash: hipcc: command not found", "sh: 1: hipcc: not found", "zsh: command not found: hipcc".
    rule(
        "tool-not-on-path",
        rf"(?<![\w./-]){_TOOL}: (?:command )?not found|command not found: {_TOOL}\b|Command '{_TOOL}' not found"
        rf"|['\"]{_TOOL}['\"]: executable file not found|No such file or directory: '{_TOOL}'",
    ),
    rule("hip-header-missing", rf"error: ['\"]?{_HEADER}['\"]?(?: file not found|: No such file)"),
    rule(
        "rocm-library-missing",
        rf"(?:cannot find|unable to find library) -l{_LIBRARY}|\blib{_LIBRARY}\.so[\w.]{{0,40}} => not found",
    ),
    rule(
        "library-missing",
        r"\blib[\w.+-]{1,80}\.so[\w.]{0,40} => not found",
        unless=rf"\blib(?:{_LIBRARY}|cuda\w*|cu(?:blas|dnn|fft|rand|solver|sparse)\w*|nccl|torch\w*|c10\w*)\.so",
    ),
    rule("pcie-link-degraded", r"available PCIe bandwidth, limited by .{1,200}capable of", where=r"\bamdgpu\b"),
    rule("gpu-clock-limited", r"thermal throttling", where=r"\bamdgpu\b"),
)
IDS = frozenset(one.id for one in RULES)


def read_problems(text: str) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the text, each id once with the line that shows it first."""
    lines = plain_lines(text)
    return problems(matching(RULES, lines), lines)
