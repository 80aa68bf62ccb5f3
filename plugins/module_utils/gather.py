"""Everything that the planner needs to know about one host, as one dictionary.

`gather` is the whole module without Ansible: the same call serves the live host, a tree copied from another
host, and the tests. The RETURN block of the rocm_facts module documents the result.
"""

from __future__ import annotations

import os
from typing import Any, Callable

from ansible_collections.gpufleet.rocm.plugins.module_utils import (
    accounts as accounts_reader,
)
from ansible_collections.gpufleet.rocm.plugins.module_utils import (
    aptlists,
    aptpins,
    aptpolicy,
    aptsources,
    disk,
    dkms,
    dpkg,
    environment,
    installs,
    kernel,
    keyrings,
    modules,
    os_release,
    owned_files,
    packages,
    pythons,
    secure_boot,
    sessions,
    sysfs,
    unattended,
    venv,
    virtualization,
)
from ansible_collections.gpufleet.rocm.plugins.module_utils import (
    records as own_records,
)
from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host
from ansible_collections.gpufleet.rocm.plugins.module_utils.secrets import masked

SCHEMA = 1
# As much as the kernel allows its command line.
_TEXT_LIMIT = 4096
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "i386": "i686"}


class _Sections:
    """Runs one reader after the other; a reader that fails leaves its default and a line in `problems`."""

    def __init__(self) -> None:
        self.problems: list[dict[str, str]] = []

    def note(self, section: str, message: str) -> None:
        self.problems.append({"section": section, "message": message})

    def read(self, section: str, default: Any, reader: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return reader(*arguments)
        except Exception as error:
            # A host in a state nobody thought of must still be described as far as possible.
            self.note(section, "%s: %s" % (type(error).__name__, error))
            return default


def _packages(
    host: Host,
    records: list[dpkg.Package],
    kernel_fact: dict[str, Any],
    ask_for_kernel: bool,
    sections: _Sections,
) -> dict[str, Any]:
    """The `packages` fact; fills the versions in kernel_fact, for which apt is asked in the same call."""
    releases = [release for release in (kernel_fact["release"], kernel_fact["next_boot"]) if release]
    chosen = packages.select(records, releases, dpkg.native_architecture(records))
    names = [name for name, package in chosen.items() if packages.in_stack(package.name, package.version)]
    facts = [fact for fact in (kernel_fact, kernel_fact["next"]) if fact]
    wanted = [fact[part] for fact in facts for part in ("headers", "modules_extra") if fact[part]["package"]]
    asked = sorted(set(names + [part["package"] for part in wanted if ask_for_kernel]))
    policy, error = aptpolicy.gather(host, asked)
    if error:
        sections.note("apt", error)
    for part in wanted:
        part["candidate"] = policy.get(part["package"], aptpolicy.UNKNOWN).candidate
    for fact in facts:
        fact["modules_extra"]["installed"] = fact["modules_extra"]["package"] in chosen

    origins = aptlists.Origins(host)

    def origin(name: str) -> str | None:
        sources = policy.get(name, aptpolicy.UNKNOWN).sources
        return next((found for found in (origins.get(*source) for source in sources) if found), None)

    return {name: packages.fact(package, origin(name)) for name, package in chosen.items()}


def _apt(host: Host) -> dict[str, Any]:
    sources = aptsources.gather(host)
    names = host.names(aptlists.LISTS)
    for entry in sources:
        components = [str(item) for item in _list(entry["components"])]
        entry["indexed"] = aptlists.has_index(names, str(entry["uri"]), str(entry["suite"]), components)
    signed_by = [path for entry in sources for path in str(entry["signed_by"] or "").replace(",", " ").split()]
    hosts = sorted({aptsources.host_of(str(entry["uri"])) for entry in sources} - {""})
    return {
        "sources": sources,
        "pins": aptpins.gather(host, hosts),
        "keyrings": keyrings.gather(host, list(dict.fromkeys(signed_by))),
    }


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _driver(host: Host, kernel_fact: dict[str, Any], sections: _Sections) -> dict[str, Any]:
    return {
        **sysfs.loaded_module(host),
        "on_disk": sections.read("driver.on_disk", None, modules.on_disk, host, kernel_fact["release"]),
        "dkms": sections.read("driver.dkms", [], dkms.gather, host),
        "sources": sections.read("driver.sources", [], dkms.packaged, host, "amdgpu", dkms.DRIVER_PACKAGES),
        "signing_key": sections.read("driver.signing_key", None, secure_boot.signing_key, host),
        "blacklist": sections.read("driver.blacklist", [], modules.blacklist, host, kernel_fact["cmdline"]),
    }


def _architecture(host: Host, records: list[dpkg.Package]) -> str | None:
    if host.live:
        return os.uname().machine
    native = dpkg.native_architecture(records)
    return _MACHINES.get(native or "", native)


def _plain(value: Any) -> Any:
    """The facts without secrets and what is no text (undecodable file names), with texts of a bounded length."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return masked(value[:_TEXT_LIMIT].encode("utf-8", "replace").decode("utf-8"))
    return value


def gather(root: str = "/", users: list[str] | None = None, venvs: list[str] | None = None) -> dict[str, Any]:
    """Facts about the host whose file system is at `root`; never raises for what it finds there.

    users: names to look up. venvs: absolute paths of virtual environments, existing or not.
    """
    host = Host(root)
    sections = _Sections()
    read = sections.read
    venv_paths = [path.rstrip("/") or "/" for path in venvs or []]
    accounts = accounts_reader.Accounts(host)

    virtual = read("virtualization", {"kind": "none", "name": ""}, virtualization.gather, host)
    in_container = virtual["kind"] == "container"
    kernel_fact: dict[str, Any] = kernel.gather(host, in_container)
    newest = next(iter(kernel_fact["installed"]), kernel_fact["release"])
    records = read("dpkg", [], dpkg.read, host)
    user_facts = read("users", {}, accounts_reader.gather_users, accounts, users or [])
    homes = [str(user["home"]) for user in user_facts.values() if isinstance(user, dict)]
    ask_for_kernel = virtual["kind"] in ("none", "vm")

    facts = {
        "schema": SCHEMA,
        "os": read("os", os_release.identity({}), os_release.gather, host),
        "architecture": _architecture(host, records),
        "packages": read("packages", {}, _packages, host, records, kernel_fact, ask_for_kernel, sections),
        "kernel": kernel_fact,
        "secure_boot": read("secure_boot", "unknown", secure_boot.gather, host, in_container),
        "virtualization": virtual,
        "gpus": read("gpus", [], sysfs.gpus, host),
        "driver": _driver(host, kernel_fact, sections),
        "boot": read("boot", {"id": None, "last": None}, own_records.boot, host),
        "holds": read("holds", [], own_records.holds, host),
        "drained": read("drained", False, own_records.drained, host),
        "kfd": read("kfd", dict(sysfs.NO_KFD), sysfs.kfd, host, accounts),
        "render_nodes": read("render_nodes", [], sysfs.render_nodes, host, accounts),
        "dpkg_broken": dpkg.broken(records),
        "unattended_upgrades": read(
            "unattended_upgrades", dict(unattended.NONE), unattended.gather, host, records, newest
        ),
        "apt": read("apt", {"sources": [], "pins": [], "keyrings": []}, _apt, host),
        "files": read("files", {}, owned_files.gather, host, accounts, venv_paths),
        "rocm": read("rocm", {"link": None, "installs": [], "alternatives": []}, installs.gather, host),
        "ldconfig": read("ldconfig", {}, installs.gather_ldconfig, host),
        "groups": read("groups", dict.fromkeys(accounts_reader.DEVICE_GROUPS), accounts_reader.gather_groups, accounts),
        "users": user_facts,
        "sessions": read("sessions", [], sessions.gather, host, accounts, user_facts),
        "environment": read("environment", [], environment.gather, host, homes),
        "disk": read("disk", {}, disk.gather, host, venv_paths),
        "python": read("python", [], pythons.gather, host),
        "venvs": read("venvs", [], venv.gather, host, venv_paths),
        "problems": sections.problems,
    }
    plain: dict[str, Any] = _plain(facts)
    return plain
