"""apt's list of unmet dependencies, whose cause lies in the versions.

A line reads "owner : Depends: name (= wanted) but offered is to be installed", with the words in the user's language;
further lines of the same owner are indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ansible_collections.gpufleet.rocm.plugins.module_utils.packages import build_field, in_stack
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import Found, matching, phrases, rule

_NAME = r"[a-z0-9][a-z0-9+.-]+(?::[a-z0-9]+)?"
_NEED = (
    rf"(?P<relation>[^\W\d][^:()\d]{{1,40}}): (?P<name>{_NAME})"
    r"(?: \((?P<operator>[<>=]{1,2}) (?P<wanted>[^\s)]+)\))? (?P<tail>[^\s(].*)$"
)
_LINE = re.compile(rf"^[\s>]*{_NAME} : {_NEED}")
# Apt indents further needs to the column of the first; without the indentation only English tells a need.
_FURTHER = re.compile(rf"^[\s>]{{4,}}{_NEED}")
_ENGLISH = re.compile(r"^[\s>]*(?:Pre-?)?Depends: ")
_VERSION = re.compile(r"(?<![\w.])\d[\w.+~:-]*")
_LIBRARY = re.compile(r"^(?:lib.*\d.*|python3\.\d+.*)$")
_NOT_INSTALLABLE = rule("suite-mismatch", phrases("not-installable"))
_HELD = rule("unmet-dependencies", rf"^(?:.*[\s\"'])?E: .*(?:{phrases('held-broken')}|pkgProblem(?:Resolver)?::)")

IDS = frozenset(
    {"distro-package-shadows", "release-mix", "updates-pocket-missing", "suite-mismatch", "unmet-dependencies"}
)


def read(lines: Sequence[str]) -> list[Found]:
    """The causes that the versions show; `unmet-dependencies` where they show none."""
    needs = list(_needs(lines))
    found = [(cause, number) for number, need in needs if (cause := _cause(need))]
    if found:
        return found
    unclear = [("unmet-dependencies", number) for number, _ in needs]
    return [*unclear, *matching([_HELD], lines)]


def _needs(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Lines that name a need and what apt found for it, with their numbers."""
    below = False
    for number, line in enumerate(lines):
        need = _LINE.match(line)
        if not need and (below or _ENGLISH.match(line)):
            need = _FURTHER.match(line) or _FURTHER.match(f"    {line}")
        if need:
            yield number, need
        below = need is not None


def _cause(need: re.Match[str]) -> str | None:
    name, wanted, tail = need["name"].partition(":")[0], need["wanted"], need["tail"]
    version = _VERSION.search(tail)
    if not version:
        foreign = _LIBRARY.match(name) and not in_stack(name)
        return "suite-mismatch" if foreign and _NOT_INSTALLABLE.matches(tail) else None
    if not wanted:
        return None
    offered = version.group()
    built, other = build_field(wanted), build_field(offered)
    if built and other:
        return "release-mix" if built != other else None
    if built:
        return "distro-package-shadows"
    close = offered.startswith(wanted) or wanted.startswith(offered)
    return "updates-pocket-missing" if need["operator"] == "=" and close else None
