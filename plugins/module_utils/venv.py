"""Virtual environments and the GPU packages in them, read without starting their interpreter."""

from __future__ import annotations

import re

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

_RELEVANT = re.compile(
    r"^(?:torch.*|triton.*|pytorch-triton.*|nvidia-.*|rocm.*|jax.*|tensorflow.*|onnxruntime.*|vllm.*|amdsmi"
    r"|flash-attn|bitsandbytes|numpy|pip)$"
)
_DIST = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)\.dist-info$")


def parse_config(text: str) -> dict[str, str]:
    """Fields of pyvenv.cfg."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip().lower(): value.strip() for name, separator, value in pairs if separator}


def distribution(name: str) -> tuple[str, str] | None:
    """(normalised name, version) of a dist-info directory, for instance torch, 2.3.0+rocm6.0."""
    match = _DIST.match(name)
    if not match:
        return None
    return re.sub(r"[-_.]+", "-", match.group("name")).lower(), match.group("version")


def read(host: Host, path: str) -> dict[str, object]:
    """One value of the `venvs` fact.

    `usable`: it has an interpreter and pip. `occupied`: something else lies at the path.
    """
    config = host.read(path + "/pyvenv.cfg")
    if config is None:
        missing = {"path": path, "exists": False, "usable": False, "occupied": _occupied(host, path)}
        return {**missing, "python": None, "packages": {}}
    fields = parse_config(config)
    version = re.match(r"\d+\.\d+", fields.get("version_info") or fields.get("version") or "")
    libraries = [name for name in host.names(path + "/lib") if re.match(r"^python3\.\d+$", name)]
    python = version.group(0) if version else (libraries[0][len("python") :] if libraries else None)
    packages = {}
    for library in libraries:
        for name in host.names("%s/lib/%s/site-packages" % (path, library)):
            found = distribution(name)
            if found and _RELEVANT.match(found[0]):
                packages[found[0]] = found[1]
    usable = host.exists(path + "/bin/python") and "pip" in packages
    facts = {"path": path, "exists": True, "usable": usable, "occupied": False}
    return {**facts, "python": python, "packages": packages}


def _occupied(host: Host, path: str) -> bool:
    return bool(host.names(path)) or (host.exists(path) and not host.is_dir(path))


def gather(host: Host, paths: list[str]) -> list[dict[str, object]]:
    return [read(host, path.rstrip("/") or "/") for path in paths]
