"""Candidates and sources of packages, from one call of `apt-cache policy`."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Tuple

from ansible_collections.gpufleet.rocm.plugins.module_utils.host import Host

_PACKAGE = re.compile(r"^(\S+):$")
_CANDIDATE = re.compile(r"^  Candidate: (\S+)$")
_VERSION = re.compile(r"^ (\*\*\*|   ) (\S+)")
_SOURCE = re.compile(r"^ {8,}-?\d+ (\S+) (\S+)(?: |$)")


class Policy(NamedTuple):
    """What apt says about one package: `sources` are the (URI, suite) that offer the installed version."""

    candidate: Optional[str]
    sources: List[Tuple[str, str]]


UNKNOWN = Policy(None, [])


def parse(text: str) -> dict[str, Policy]:
    """Answers by package name; a package that apt does not know is not among them."""
    found: dict[str, Policy] = {}
    name = ""
    installed = False
    for line in text.splitlines():
        package = _PACKAGE.match(line)
        if package:
            name, installed = package.group(1), False
            found[name] = Policy(None, [])
            continue
        if not name:
            continue
        candidate = _CANDIDATE.match(line)
        source = _SOURCE.match(line)
        version = _VERSION.match(line)
        if candidate:
            if candidate.group(1) != "(none)":
                found[name] = found[name]._replace(candidate=candidate.group(1))
        elif source:
            # dpkg's own status file is listed as a source too, without suite and component.
            if installed and "/" in source.group(2):
                found[name].sources.append((source.group(1), source.group(2).rpartition("/")[0] or "/"))
        elif version:
            installed = version.group(1) == "***"
    return found


def gather(host: Host, names: list[str]) -> tuple[dict[str, Policy], str | None]:
    """(answers by name, apt's first error or None); empty where apt cannot be asked."""
    answer = host.run(["apt-cache", "policy", *names]) if names else None
    if answer is None:
        return {}, None
    errors = [line for line in answer[2].splitlines() if line.startswith("E:")]
    return parse(answer[1]), (errors[0] if errors else None)
