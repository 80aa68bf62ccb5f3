"""What rocm-smi and amd-smi complain about. Their tables are no evidence: they work where compute does not."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import Problem, matching, problems, rule

RULES = (
    rule("module-not-loaded", r"driver not initialized \(amdgpu not found in modules\)"),
    rule("gpu-busy", r"\bDevice is currently busy\b|\b(?:AMDSMI|RSMI)_STATUS_BUSY\b"),
    rule("root-required", r"\bAMDSMI_STATUS_NO_PERM\b|\bRSMI_STATUS_PERMISSION\b"),
    rule("partition-mode-forbidden", r"\b(?:AMDSMI|RSMI)_STATUS_SETTING_UNAVAILABLE\b"),
    rule("open-files-exhausted", r"\[Errno 24\] Too many open files"),
)
IDS = frozenset(one.id for one in RULES)


def read_problems(text: str) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the text, each id once with the line that shows it first."""
    lines = plain_lines(text)
    return problems(matching(RULES, lines), lines)
