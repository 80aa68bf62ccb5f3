"""State of DKMS modules, from `dkms status` or from the DKMS tree."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

TREE = "/var/lib/dkms"

# "amdgpu/6.14.14-2204008.24.04, 6.14.0-29-generic, x86_64: installed (...)"; old DKMS has a comma, no slash.
_LINE = re.compile(
    r"^(?P<module>[^\s,/:]+)(?:/|, )(?P<version>[^\s,:]+)"
    r"(?:, (?P<kernel>[^\s,]+), (?P<arch>[^\s,:]+))?: (?P<state>[a-z-]+)(?P<rest>.*)$"
)
_WARNING = re.compile(r"WARNING!\s*([^()]+)", re.IGNORECASE)
# A version directory without its source stops every dkms command, so it is an entry of its own.
_BROKEN = (
    re.compile(r"^File: .*/dkms/(?P<module>[^/]+)/(?P<version>[^/]+)/source/dkms\.conf does not exist"),
    re.compile(
        r"^(?:Error! )?(?P<module>[^\s,/:]+)/(?P<version>[^\s,:]+): (?:broken|Missing the module source)",
        re.I,
    ),
)


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
            entries.append(_entry(broken, "broken", line))
            continue
        match = _LINE.match(line)
        if match and match.group("module") != "Error!":
            warning = _WARNING.search(match.group("rest"))
            entries.append(_entry(match, match.group("state"), warning.group(1).strip() if warning else None))
    return entries


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


def gather(host: Host) -> list[dict[str, object]]:
    if not host.is_dir(TREE):
        return []
    answer = host.run(["dkms", "status"])
    if answer is None:
        return read_tree(host)
    entries = parse_status(answer[1] + "\n" + answer[2])
    # One broken directory makes dkms keep silent about everything else.
    return read_tree(host) if any(entry["state"] == "broken" for entry in entries) else entries
