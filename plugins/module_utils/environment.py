"""Variables that change what ROCm programs see, and the files that set them."""

from __future__ import annotations

import re
import shlex

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked_value

SYSTEM_FILES = (
    "/etc/environment",
    "/etc/profile",
    "/etc/bash.bashrc",
    "/etc/zsh/zshenv",
    "/etc/security/pam_env.conf",
)
SYSTEM_DIRS = (("/etc/profile.d", ".sh"), ("/etc/environment.d", ".conf"))
USER_FILES = (".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv", ".zshrc", ".pam_environment")

_NAME = re.compile(
    r"^(?:(?:HSA|HIP|ROCR|ROCM|AMD|AMDGPU|MIOPEN|GPU)_[A-Z0-9_]+|PYTORCH_(?:ROCM|HIP)_[A-Z0-9_]+"
    r"|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES)$"
)
# A PATH that names one version outlives it.
_VERSIONED = re.compile(r"/opt/rocm(?:-|/core-)\d")
_MENTION = re.compile(r"ROC|HIP|HSA|AMD|GPU|MIOPEN|PATH|CUDA_VISIBLE_DEVICES")
_PAM = re.compile(r"^(\w+)\s+(?:DEFAULT|OVERRIDE)=(\S*)")
_ASSIGNMENT = re.compile(r"^(\w+)=(.*)$", re.S)
_BEFORE = ("export", "declare", "typeset", "-x", "-gx", "then", "else", "do", "{")


def _words(line: str) -> list[str]:
    """Words of a shell line with quotes removed; separators are words of their own."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        # An open quote: a value that goes on in the next line.
        return line.replace('"', "").replace("'", "").split()


def _commands(words: list[str]) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in words:
        if word.strip(";&|"):
            commands[-1].append(word)
        else:
            commands.append([])
    return commands


def _command_assignments(words: list[str]) -> list[tuple[str, str]]:
    """Assignments of one command; those before a program's name hold for that program only and do not count."""
    while words and words[0] in _BEFORE:
        words = words[1:]
    found = []
    for word in words:
        match = _ASSIGNMENT.match(word)
        if not match:
            return []
        found.append((match.group(1), match.group(2)))
    return found


def assignments(text: str) -> list[tuple[str, str]]:
    """(variable, value) of the assignments in a shell or environment file; unquoted, nothing expanded."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if "=" not in line or not _MENTION.search(line):
            continue
        pam = _PAM.match(line)
        if pam:
            found.append((pam.group(1), pam.group(2).strip("\"'")))
            continue
        for command in _commands(_words(line)):
            found.extend(_command_assignments(command))
    return [pair for pair in found if _NAME.match(pair[0]) or (pair[0] == "PATH" and _VERSIONED.search(pair[1]))]


def gather(host: Host, homes: list[str]) -> list[dict[str, str]]:
    """Assignments in the system's files and in the start-up files under the given home directories."""
    files = list(SYSTEM_FILES)
    for folder, suffix in SYSTEM_DIRS:
        files.extend(folder + "/" + name for name in host.names(folder) if name.endswith(suffix))
    for home in dict.fromkeys(homes):
        files.extend(home.rstrip("/") + "/" + name for name in USER_FILES)
    return [
        {"variable": variable, "value": masked_value(variable, value), "file": path}
        for path in files
        for variable, value in assignments(host.read(path, 262144) or "")
    ]
