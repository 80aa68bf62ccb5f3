"""The apt archives, each suite built when somebody first asks for it: a run needs two or three of several dozen."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from sandbox.upstream import amdgpu, amdrocm, apt_tree, rocm
from sandbox.upstream.rocm import Archive

# <archive>/dists/<suite>/... names one suite; a file of the pool may belong to any.
_PLACE = re.compile(r"(?P<archive>.+?)/(?:dists/(?P<suite>[^/]+)|pool)/")
COMPLETE = ".complete"


@cache
def archives() -> Mapping[str, Archive]:
    """Every archive by its path, which begins with the host name."""
    everything = chain(rocm.archives(), amdgpu.archives(), amdrocm.archives())
    return {archive.path: archive for archive in everything}


class Shelf:
    """Builds below one folder; several requests for one archive wait for the first."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def fill(self, relative: str) -> None:
        """Make sure that the suite which holds this URL path exists, where it belongs to an archive."""
        place = _PLACE.match(relative)
        archive = archives().get(place["archive"]) if place else None
        if place is None or archive is None:
            return
        with self._locks[archive.path]:
            for suite in archive.suites:
                complete = self._root / archive.path / "dists" / suite.name / COMPLETE
                if place["suite"] in (None, suite.name) and not complete.exists():
                    apt_tree.write_suite(self._root / archive.path, suite)
                    complete.touch()
