"""State of DKMS modules, from `dkms status`, from what a build says, or from the DKMS tree."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import dpkg
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.text import bare_lines

TREE = "/var/lib/dkms"
# Packages that bring the source of amdgpu: AMD's, under its name of today and of ROCm 4.
DRIVER_PACKAGES = ["amdgpu-dkms", "rock-dkms"]

# What a parallel shell puts in front of each line.
_HOST = r"^(?:[\w.-]+: +)?"
# "amdgpu/6.14.14-2204008.24.04, 6.14.0-29-generic, x86_64: installed (...)"; old DKMS has a comma, no slash.
_LINE = re.compile(
    _HOST + r"\W*(?P<module>\w[\w.+-]*)(?:/|, )(?P<version>[^\s,:]+)"
    r"(?:, (?P<kernel>[^\s,]+), (?P<arch>[^\s,:]+))?: (?P<state>added|built|installed(?:-weak)?)"
    r"(?P<rest>(?: from |\s*[(A-Z`]).*)?$"
)
_NOTE = re.compile(r"\((?:WARNING!\s*)?([^()]+)\)", re.IGNORECASE)
_ORIGINAL = re.compile(r"original.modules? exists?", re.IGNORECASE)
# A version directory without its source stops every dkms command, so it is an entry of its own.
_BROKEN = (
    re.compile(_HOST + r"File: .*/dkms/(?P<module>[^/]+)/(?P<version>[^/]+)/source/dkms\.conf does not exist"),
    re.compile(
        _HOST + r"(?:Error! )?(?P<module>[^\s,/:]+)/(?P<version>[^\s,:]+): (?:broken|Missing the module source)",
        re.I,
    ),
)


# Where the messages of a build name the module and its version, and the kernel; versions hold no slash.
_BUILD_OF = (
    re.compile(
        _HOST + r"Autoinstall of module (?P<module>[^\s/]+)/(?P<version>[^\s/]+) for kernel"
        r" (?P<kernel>\S+) \((?P<arch>\w+)\)"
    ),
    re.compile(
        _HOST + r"DKMS make\.log for (?P<module>[\w-]+?)-(?P<version>\d[^\s/]*) for kernel"
        r" (?P<kernel>\S+) \((?P<arch>\w+)\)"
    ),
)
_BUILD_KERNEL = re.compile(
    r"(?:bad return status for module build on kernel|build of \S+ failed for): (?P<kernel>\S+) \((?P<arch>\w+)\)", re.I
)
_BUILD_LOG = re.compile(r"/dkms/(?P<module>[^\s/]+)/(?P<version>[^\s/]+)/(?:[^\s]*/)?build/")
_BUILD_STATUS = re.compile(r"\(bad exit status: \d+\)|^make(?:\[\d+\])?: \*\*\* ")
# The kernel's own module has a higher or the same version, so that the built one stays where it is.
_NOT_NEWER = re.compile(r"module version \S+ for (?P<module>\S+)\.ko", re.I)
_IN_KERNEL = re.compile(r"is not newer than what is already found in kernel (?P<kernel>[^\s(]+)")
_AUTOINSTALL = re.compile(
    _HOST + r"(?:dkms )?autoinstall on (?P<kernel>[^\s/]+)(?:/(?P<arch>\w+))? failed for (?P<modules>.+)$", re.I
)
# A module that refuses the kernel; newer releases of DKMS name its copy of the file.
_EXCLUSIVE = re.compile(
    r"(?:/dkms/[^\s/]+/(?P<version>[^\s/]+)/(?P<kernel>[^\s/]+)/(?P<arch>[^\s/]+)/)?dkms\.conf for module"
    r" (?P<module>[^\s/]+)\S* includes a BUILD_EXCLUSIVE directive"
)
_AUTOINSTALL_MODULE = re.compile(r"([^\s,()]+)\(\d+\)")


def _entry(match: re.Match[str], state: str, warning: str | None) -> dict[str, object]:
    fields = match.groupdict()
    return {
        "module": fields["module"],
        "version": fields["version"],
        "kernel": fields.get("kernel"),
        "arch": fields.get("arch"),
        "state": state,
        "warning": warning,
    }


def parse_status(text: str) -> list[dict[str, object]]:
    """Entries of `dkms status`, output and errors together; other lines are left out.

    state is DKMS's word (added, built, installed, installed-weak) or 'broken'. kernel and arch are None for a
    module that is only added. "(original_module exists)" is normal and no warning.
    """
    entries: list[dict[str, object]] = []
    for line in text.splitlines():
        line = line.strip()
        broken = next((found for found in (pattern.match(line) for pattern in _BROKEN) if found), None)
        if broken:
            entry = _entry(broken, "broken", line)
            # DKMS complains about an entry and then lists it.
            if not any(dict(entry, warning=known["warning"]) == known for known in entries):
                entries.append(entry)
            continue
        match = _LINE.match(line)
        if match:
            notes = [note for note in _NOTE.findall(match.group("rest") or "") if not _ORIGINAL.match(note)]
            entries.append(_entry(match, match.group("state"), "; ".join(note.strip() for note in notes) or None))
    return entries


def parse_output(text: str) -> list[dict[str, object]]:
    """Entries of anything that dkms prints: `dkms status`, and failed builds with state 'failed'.

    A build that gave way to the kernel's own module has state 'built' and a warning. version is None where a message
    names the module alone; a failure whose module nobody names gives no entry.
    """
    lines = [line.strip() for line in bare_lines(text)]
    entries = parse_status("\n".join(lines)) + _failed_builds(lines)
    return list({tuple(sorted(entry.items())): entry for entry in entries}.values())


def _failed_builds(lines: list[str]) -> list[dict[str, object]]:
    """One entry per module and kernel that a build or installation failed for; its warning is the line that says so."""
    failed: dict[tuple[str, str | None], dict[str, object]] = {}
    build: dict[str, str | None] = {}

    def add(complaint: str, state: str = "failed") -> None:
        module, kernel = build.get("module"), build.get("kernel")
        if module and "kernel" in build:
            entry = failed.setdefault((module, kernel), {"module": module, "version": build.get("version")})
            entry.update({"kernel": kernel, "arch": build.get("arch") or entry.get("arch"), "state": state})
            entry.setdefault("warning", complaint)

    complaint: str | None = None
    for line in lines:
        start = next((match for match in (pattern.match(line) for pattern in _BUILD_OF) if match), None)
        other, in_kernel = _NOT_NEWER.search(line), _IN_KERNEL.search(line)
        if other:
            build, complaint = {"module": other.group("module")}, None
        if in_kernel:
            build = dict(build, **in_kernel.groupdict())
            add(line, "built")
        exclusive = _EXCLUSIVE.search(line)
        kernel, log, autoinstall = _BUILD_KERNEL.search(line), _BUILD_LOG.search(line), _AUTOINSTALL.match(line)
        if start:
            build, complaint = dict(start.groupdict()), None
        elif exclusive:
            known = build if build.get("module") == exclusive.group("module") else {}
            named = {key: value for key, value in exclusive.groupdict().items() if value}
            build = dict({"kernel": None}, **dict(known, **named))
            add(line)
        elif kernel:
            build, complaint = dict(build, **kernel.groupdict()), line
            add(line)
        elif _BUILD_STATUS.search(line):
            add(line)
        elif log and complaint:
            # "Consult .../build/make.log" follows the complaint and names what it is about.
            build = dict(build, **log.groupdict())
            add(complaint)
        elif autoinstall:
            for module in _AUTOINSTALL_MODULE.findall(autoinstall.group("modules")):
                build = {"module": module, "kernel": autoinstall.group("kernel"), "arch": autoinstall.group("arch")}
                add(line)
            build, complaint = {}, None
    return list(failed.values())


def read_tree(host: Host) -> list[dict[str, object]]:
    """The same entries from /var/lib/dkms, for a host whose dkms command cannot be asked.

    DKMS marks an installed build with a link kernel-<release>-<arch> beside the versions.
    """
    entries: list[dict[str, object]] = []
    for module in host.names(TREE):
        base = TREE + "/" + module
        names = host.names(base)
        installed = [host.link(base + "/" + name) for name in names if name.startswith("kernel-")]
        for version in names:
            if version.startswith(("kernel-", "original_module")) or not host.is_dir(base + "/" + version):
                continue
            entries.extend(_version_entries(host, module, version, [link for link in installed if link]))
    return entries


def _version_entries(host: Host, module: str, version: str, installed: list[str]) -> list[dict[str, object]]:
    base = "%s/%s/%s" % (TREE, module, version)

    def entry(kernel: str | None, arch: str | None, state: str, warning: str | None = None) -> dict[str, object]:
        return {
            "module": module,
            "version": version,
            "kernel": kernel,
            "arch": arch,
            "state": state,
            "warning": warning,
        }

    builds = [
        (kernel, arch)
        for kernel in host.names(base)
        if kernel not in ("source", "build")
        for arch in host.names(base + "/" + kernel)
        if host.is_dir("%s/%s/%s/module" % (base, kernel, arch))
    ]
    if builds:
        return [
            entry(kernel, arch, "installed" if "/".join((version, kernel, arch)) in installed else "built")
            for kernel, arch in builds
        ]
    if host.exists(base + "/source/dkms.conf"):
        return [entry(None, None, "added")]
    return [entry(None, None, "broken", base + "/source/dkms.conf does not exist")]


def packaged(host: Host, module: str, packages: list[str]) -> list[str]:
    """Versions of a module whose source one of the packages ships; dpkg's file lists tell."""
    source = re.compile("^/usr/src/" + re.escape(module) + r"-([^/\n]+)/dkms\.conf$", re.M)
    lists = (host.read("%s/info/%s.list" % (dpkg.DATABASE, name), 16 * 1024 * 1024) or "" for name in packages)
    return sorted({version for text in lists for version in source.findall(text)})


def gather(host: Host) -> list[dict[str, object]]:
    if not host.is_dir(TREE):
        return []
    answer = host.run(["dkms", "status"])
    if answer is None:
        return read_tree(host)
    entries = parse_status(answer[1] + "\n" + answer[2])
    # One broken directory makes dkms keep silent about everything else.
    return read_tree(host) if any(entry["state"] == "broken" for entry in entries) else entries
