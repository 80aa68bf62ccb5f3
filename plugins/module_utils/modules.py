"""The amdgpu module on disk and what keeps it from loading."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils import dpkg
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

# In modprobe's order: a file hides those of the same name in later directories.
MODPROBE_DIRS = (
    "/etc/modprobe.d",
    "/run/modprobe.d",
    "/usr/local/lib/modprobe.d",
    "/usr/lib/modprobe.d",
    "/lib/modprobe.d",
)
_BLOCKS = re.compile(r"^(?:blacklist\s+amdgpu|install\s+amdgpu\s+(?:/usr)?/bin/(?:false|true)\b.*)$")
_CMDLINE = re.compile(r"^(?:modprobe\.blacklist|module_blacklist|rd\.driver\.blacklist)=(?:.*,)?amdgpu(?:,.*)?$")


def parse_modinfo(text: str) -> dict[str, object] | None:
    """{path, version, srcversion} of `modinfo amdgpu`; None when it found no module file."""
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, separator, value = line.partition(":")
        if separator and name in ("filename", "version", "srcversion"):
            fields.setdefault(name, value.strip())
    if "filename" not in fields:
        return None
    return {
        "path": fields["filename"],
        "version": fields.get("version"),
        "srcversion": fields.get("srcversion"),
    }


def path_in_dep(text: str) -> str | None:
    """Path of amdgpu relative to /lib/modules/<release>, from the text of modules.dep."""
    for line in text.splitlines():
        path = line.partition(":")[0]
        if path.rpartition("/")[2].startswith("amdgpu.ko"):
            return path
    return None


def on_disk(host: Host, release: str | None) -> dict[str, object] | None:
    """The module that modprobe would load for a kernel release.

    modules.dep tells first whether there is one, and where: a container is spared the command, and a tree,
    where no command runs, still gets the path (which tells a DKMS build from the kernel's own).
    """
    if not release:
        return None
    base = "/lib/modules/" + release
    relative = path_in_dep(host.read(base + "/modules.dep", 32 * 1024 * 1024) or "")
    answer = host.run(["modinfo", "-k", release, "amdgpu"], timeout=10) if relative else None
    found = parse_modinfo(answer[1]) if answer else None
    if found is None and relative:
        found = {"path": base + "/" + relative, "version": None, "srcversion": None}
    return found


def blocking_lines(text: str) -> list[tuple[int, str]]:
    """(line number, text) of the lines of a modprobe.d file that keep amdgpu from loading."""
    lines = ((number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if _BLOCKS.match(line)]


def blocking_parameters(cmdline: str) -> list[str]:
    """The kernel parameters that do the same."""
    return [word for word in cmdline.split() if _CMDLINE.match(word)]


def blacklist(host: Host, cmdline: str) -> list[dict[str, object]]:
    """Every line that keeps amdgpu from loading, and the package that ships its file."""
    found: list[dict[str, object]] = []
    seen: set[str] = set()
    for folder in MODPROBE_DIRS:
        for name in host.names(folder):
            if not name.endswith(".conf") or name in seen:
                continue
            seen.add(name)
            path = folder + "/" + name
            for number, line in blocking_lines(host.read(path) or ""):
                found.append({"file": path, "line": number, "text": line, "package": None})
    packages = dpkg.owners(host, [str(entry["file"]) for entry in found])
    for entry in found:
        entry["package"] = packages.get(str(entry["file"]))
    for word in blocking_parameters(cmdline):
        found.append({"file": "/proc/cmdline", "line": 1, "text": word, "package": None})
    return found
