"""What apt, dpkg and the builds that dpkg starts complain about, in any language.

apt translates its sentences. What it does not translate decides here wherever possible: addresses, file names, option
names, HTTP and errno numbers, the words of gpgv, versions and their order. Only where a message holds nothing of that
kind do the phrases of data/apt_phrases.yml help out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ansible_collections.gpufleet.rocm.plugins.module_utils import kernel
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import plain_lines
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers import dependencies
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.network import CERTIFICATE, NO_ANSWER, PROXY
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import (
    Found,
    Problem,
    matching,
    phrases,
    problems,
    rule,
)

# Straight quotes, backtick, and the single and double ones of all languages (U+2018 to U+203A, guillemets).
_QUOTE = "[\"'`\u00ab\u00b4\u00bb\u2018-\u201f\u2039\u203a]"
_PACKAGE = r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9]+)?"
_VERSION = rf"{_QUOTE} ?\d[\w.+:~-]* ?{_QUOTE}"
# The mark of apt's own lines; Ansible puts its message in front, so it may stand inside a line.
_ERROR = r"(?:^|[\s\"'])E: "
_WARNING = r"(?:^|[\s\"'])W: "
_MARK = r"(?:^|[\s\"'])[EWN]: "
# Since apt 3.0 the mark is a word; apt's Python library, which Ansible uses, leaves the blank out.
_WORDS = {"E": "error", "W": "warning", "N": "notice"}
_MARKS = re.compile(
    "(?:(?<=[\\s\"'])|^)(?:"
    + "|".join(rf"(?P<{mark}>{mark}:|{phrases(f'mark-{word}')} ?[:\uff1a])" for mark, word in _WORDS.items())
    + ") ?"
)
# A repository as apt names it: address, suite, Release or InRelease.
_RELEASE = rf"{_MARK}.*://\S+ \S+ (?:In)?Release\b"
_FIELDS = "(?:Version|Suite|Codename|Origin|Label)"
_SOURCES = r"/etc/apt/sources\.list(?:\.d/\S+)?"
_BACKUP = r"\.(?:save|bak|orig|old|disabled|distUpgrade|dpkg-\w+|ucf-\w+)(?:\.\d+)?"

DISK = rule("disk-space", rf"{phrases('no-space')}|\bENOSPC\b|\(28: |\[Errno 28\]")

RULES = (
    # Keys and signatures: the words of gpgv, and of sqv on newer systems.
    rule(
        "key-expired",
        r"\b(?:EXPKEYSIG|KEYEXPIRED|EXPSIG)\b|key \S* ?is not alive|\bexpired on \d{4}-",
    ),
    rule("key-missing", r"\bNO_PUBKEY\b|Missing key [0-9A-F]{16,40}|Can't check signature: No public key"),
    rule("key-revoked", r"\b(?:REVKEYSIG|KEYREVOKED)\b"),
    rule("signature-invalid", r"\b(?:BADSIG|ERRSIG|NODATA \d)\b"),
    rule("signature-weak", r"Policy rejected|SHA-?1 is not considered secure|weak (?:digest )?algorithm|weak security"),
    rule(
        "keyring-unusable",
        r"keyring(?:\(s\))? /\S+ are ignored|Failed to parse keyring",
    ),
    rule("key-in-trusted-gpg", rf"{_MARK}\S*://.*/etc/apt/trusted\.gpg"),
    # Source files.
    rule("signed-by-conflict", rf"{_ERROR}.*\bSigned-By\b.* != "),
    rule("source-duplicate", rf"{_SOURCES}:\d+\b.*{_SOURCES}:\d+"),
    rule(
        "source-file-ignored",
        rf"{_MARK}.*{_QUOTE} ?/etc/apt/(?:sources\.list|preferences|apt\.conf|trusted\.gpg)\.d/? ?{_QUOTE}",
        unless=rf"(?:{_BACKUP}|~) ?{_QUOTE}",
    ),
    rule("source-malformed", rf"{_ERROR}.*(?:\b\d+\b.*{_SOURCES}|{_SOURCES}.*\s\d+(?![\d-]))", unless=r"://"),
    rule("source-malformed", rf"{_ERROR}.* /etc/apt/preferences(?:\.d/\S+)?", unless=r"\(13: "),
    # Servers and their answers.
    rule("mirror-out-of-sync", r"\(\d+ ?!= \d+\)"),
    rule("mirror-out-of-sync", rf"(?:^ +|\S  ).{{0,60}}{phrases('hash-mismatch')}"),
    rule("repo-info-changed", rf"{_RELEASE}.*{_QUOTE} ?{_FIELDS} ?{_QUOTE}"),
    rule("clock-wrong", rf"{_MARK}.*Release.*{phrases('release-not-yet-valid')}|\bNot live until \d{{4}}-"),
    # One language has the same words for both, and a few more for the clock.
    rule(
        "repo-expired",
        rf"{_MARK}.*Release.*{phrases('release-expired')}",
        unless=phrases("release-not-yet-valid"),
    ),
    # "Conflicting distribution: https://... noble InRelease (expected noble but got jammy)"
    rule("suite-mismatch", rf"{_RELEASE} ?[(\uff08][^()\uff08\uff09]*[)\uff09]$", unless=r"\(\d+: "),
    # "Skipping acquire of configured file 'x/binary-amd64/Packages' ...": a component that the repository lacks. For an
    # architecture that it lacks apt only leaves a note.
    rule(
        "repo-path-missing",
        rf"{_WARNING}(?=.*://\S+ \S+ (?:In)?Release\b).*{_QUOTE} ?\S+/(?:binary-\w+|source)/\w+ ?{_QUOTE}",
    ),
    PROXY,
    CERTIFICATE,
    rule("apt-https-missing", r"/usr/lib/apt/methods/https"),
    # Packages.
    rule("proxmox-host", r"\bpve-apt-hook\b"),
    rule("downgrade-refused", r"--allow-downgrades\b"),
    rule("package-held", r"--allow-change-held-packages\b"),
    rule(
        "package-version-missing",
        rf"{_ERROR}.*(?:{_VERSION}.*{_QUOTE} ?{_PACKAGE} ?{_QUOTE}|{_QUOTE} ?(?!\d){_PACKAGE} ?{_QUOTE}.*{_VERSION})"
        rf"|{_ERROR}(?=.*\W\d).*{phrases('version-not-found')}",
        unless="://",
    ),
    # Builds of kernel modules that dpkg starts.
    rule("dkms-failed", r"autoinstall on \S+ failed for "),
    rule("dkms-failed", r"bad return status for module build on kernel|build of \S+\.ko failed for"),
    rule("dkms-failed", r"^make(?:\[\d+\])?: \*\*\* .*/var/lib/dkms/"),
    rule("dkms-failed", r"\(bad exit status: \d+\)|is not newer than what is already found in kernel"),
    # "installed amdgpu-dkms package post-installation script subprocess returned error exit status 10"
    rule("dkms-failed", r"^ .*\b(?:amdgpu|rock)-dkms\b[^/:]* \d+$"),
    rule("headers-missing", r"install the linux-headers-\S+ package"),
    rule("headers-missing", r"kernel headers for kernel \S+ cannot be found"),
    rule("headers-missing", r"kernel (?:headers|source) for this kernel do(?:es)? not seem to be installed"),
    rule("kernel-unsupported", r"includes a BUILD_EXCLUSIVE directive"),
    rule("dkms-stale-tree", r"/dkms/\S+/source/dkms\.conf does not exist|Missing the module source directory"),
    rule("dkms-stale-tree", r"Could not locate dkms\.conf"),
    # dpkg itself, rights and space.
    rule("dpkg-broken", r"\(--configure\)"),
    rule("dpkg-broken", rf"dpkg --configure -a|{_ERROR}.*{phrases('reinstall')}"),
    rule("root-required", rf"/lock(?:-frontend)?\b.*\(13: |(?:{_ERROR}|^dpkg: ).*{phrases('are-you-root')}"),
    DISK,
    rule("initramfs-failed", r"update-initramfs: failed for /boot/\S+"),
    rule("initramfs-failed", r"mkinitramfs failure"),
)
_LOCKED = rule(
    "apt-locked",
    r"/var/(?:lib/dpkg|lib/apt/lists|cache/apt/archives)/lock\b|Failed to lock apt for exclusive"
    r"|\bdpkg\b.* locked by another process",
)
_ARCHIVES_FULL = rule("disk-space", rf"{_ERROR}(?:.* )?/var/cache/apt/archives/?(?![\w/])", unless="://")
_UNSIGNED = rule("repo-unsigned", rf"{_RELEASE}.*{phrases('not-signed')}|--allow-unauthenticated\b")
_DPKG_FAILED = rule("dpkg-broken", rf"{_ERROR}.*/usr/bin/dpkg\b.*\(\d+\)")
# What leaves a repository without a valid signature.
_EXPLAINED = {
    *("key-expired", "key-missing", "key-revoked", "signature-invalid", "signature-weak", "keyring-unusable"),
    *("clock-wrong", "repo-unreachable", "proxy-authentication", "tls-certificate"),
}

_NO_RELEASE = rule("repo-path-missing", rf"{_RELEASE}.*{phrases('no-release-file')}")
# "404  Not Found": HTTP's own words, which apt sets off with two blanks.
# Of a server without an address only its name is left as it is: "  Could not resolve 'repo.radeon.com'".
_HOST = re.compile(rf"(?:^ |\S  )[^/]{{0,200}}{_QUOTE} ?[\w-]+(?:\.[\w-]+)*\.[a-z]+ ?{_QUOTE}", re.IGNORECASE)
_STATUS = re.compile(r"(?:^|\s)(?P<code>[45]\d\d)  ?[A-Z][A-Za-z]+(?: |$)")
_MARKED = re.compile(_MARK)
# A package file, or what apt says of one: address, suite/component, architecture, package, architecture, version.
_DEB = re.compile(r"\.deb\b|://\S{1,400} \S+/\S+ \S+ [a-z0-9][a-z0-9+.-]+ \S+ \d")
_NO_CANDIDATE = rule("package-no-candidate", rf"{_ERROR}.*{phrases('no-candidate')}")
_NOT_FOUND = rule(
    "package-not-found",
    rf"{_ERROR}.*{phrases('not-found')}|No package matching {_QUOTE}\S+{_QUOTE} is available",
    unless=r"://|/etc/",
)
_UNPACK = re.compile(r"\(--(?:unpack|install)\)")
_FILE = re.compile(rf"{_QUOTE} ?/\S+ ?{_QUOTE}|\s/\S+\uff0c")
_KERNEL = re.compile(r"(?<!\d)\d+\.\d+\.\d+-0\d{5}(?:rc\d+)?-\w+")
_COMPLAINT = re.compile(rf"{_ERROR}|^\s*Error!|^\s*ERROR\b")

IDS = frozenset(
    {one.id for one in (*RULES, _LOCKED, _UNSIGNED, _NO_RELEASE, _NO_CANDIDATE, _NOT_FOUND)}
    | {"repo-unreachable", "index-stale", "file-conflict", "modules-extra-missing", "kernel-mainline"}
    | dependencies.IDS
)


def read_problems(text: str) -> list[Problem]:
    """``[{id, evidence}]`` in the order of the text, each id once with the line that says most."""
    printed = [message for line in plain_lines(text) for message in _messages(line)]
    lines = [_MARKS.sub(lambda mark: f"{mark.lastgroup}: ", line) for line in printed]
    # apt repeats what went wrong in a line with the address.
    order = sorted(range(len(lines)), key=lambda number: "://" not in lines[number])
    found = list(matching(RULES, lines, order))
    found += [*_answers(lines, order), *_packages(lines), *_overwritten(lines), *_mainline(lines)]
    found += dependencies.read(lines)
    ids = {id for id, _ in found}
    locked = list(matching([_LOCKED], lines))
    if "root-required" not in ids:
        found += locked
    if not locked:
        found += matching([_ARCHIVES_FULL], lines)
    if not ids & _EXPLAINED:
        found += matching([_UNSIGNED], lines)
    if not found:
        found += matching([_DPKG_FAILED], lines)
    return problems(found, printed)


def _messages(line: str) -> list[str]:
    """The line, cut before each of apt's marks: Ansible joins what apt said."""
    places = [0, *(mark.start() for mark in _MARKS.finditer(line) if mark.start()), len(line)]
    return [line[start:end] for start, end in pairwise(places)]


def _answers(lines: Sequence[str], order: Sequence[int]) -> list[Found]:
    """What the servers said: a path that is not there, a package file that is gone, or nothing of use."""
    found = [(id, number) for number in order if (id := _answer(lines, number))]
    if all(id != "repo-unreachable" for id, _ in found):
        # Without any answer a repository has no Release file either.
        found = [*matching([_NO_RELEASE], lines), *found]
    return found


def _answer(lines: Sequence[str], number: int) -> str | None:
    line, before = lines[number], lines[number - 1] if number else ""
    status = _STATUS.search(line)
    if status and ("://" in line or "://" in before):
        if status["code"] in ("404", "410"):
            return "index-stale" if _DEB.search(line) or _DEB.search(before) else "repo-path-missing"
        return None if status["code"] == "407" else "repo-unreachable"
    reported = line.startswith(" ") or "://" in line or _MARKED.search(line)
    if reported and NO_ANSWER.matches(line):
        return "repo-unreachable"
    return "repo-unreachable" if "://" in f"{line}{before}" and _HOST.search(line) else None


def _packages(lines: Sequence[str]) -> Iterator[Found]:
    """Packages that no index offers, told apart by what their absence means."""
    for number, line in enumerate(lines):
        missing = next((one for one in (_NO_CANDIDATE, _NOT_FOUND) if one.matches(line)), None)
        if missing and "linux-headers-" in line:
            yield "headers-missing", number
        elif missing and "linux-modules-extra-" in line:
            yield "modules-extra-missing", number
        elif missing:
            yield missing.id, number


def _overwritten(lines: Sequence[str]) -> Iterator[Found]:
    """Two packages with the same file: dpkg names the archive, and the file on the next line."""
    for number, (line, following) in enumerate(pairwise([*lines, ""])):
        if not _UNPACK.search(line) or DISK.matches(following):
            continue
        if _FILE.search(following):
            yield "file-conflict", number + 1
        else:
            yield "dpkg-broken", number


def _mainline(lines: Sequence[str]) -> Iterator[Found]:
    """A complaint that names a mainline kernel, for which there are neither headers nor drivers to be had."""
    for number, line in enumerate(lines):
        release = _KERNEL.search(line)
        if release and _COMPLAINT.search(line) and kernel.parse_release(release.group())["mainline"]:
            yield "kernel-mainline", number
