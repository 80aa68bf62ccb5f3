"""What a project's page of a wheel index (PEP 503) offers for Linux on x86_64."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

_LINK = re.compile(r"<a\s[^>]*?href\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.I)
_WHEEL = re.compile(
    r"^(?P<name>[^-]+)-(?P<version>[^-]+)(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl$"
)
_END_OF_PATH = re.compile(r"[?#]")
_SEPARATORS = re.compile(r"[-_.]+")


def offers(page: str, project: str) -> dict[str, list[str]]:
    """Tags ('cp310-cp310') by version of the project's wheels, both in the order of the page."""
    found: dict[str, list[str]] = {}
    for double, single in _LINK.findall(page):
        path = _END_OF_PATH.split(html.unescape(double or single), maxsplit=1)[0]
        wheel = _WHEEL.match(unquote(path.rpartition("/")[2]))
        if wheel and _normal(wheel.group("name")) == _normal(project) and _runs_here(wheel.group("platform")):
            tags = found.setdefault(wheel.group("version").lower(), [])
            tag = "%s-%s" % (wheel.group("python"), wheel.group("abi"))
            if tag not in tags:
                tags.append(tag)
    return found


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


def _runs_here(platforms: str) -> bool:
    return any(
        platform == "any" or ("linux" in platform and platform.endswith("_x86_64")) for platform in platforms.split(".")
    )
