"""A disk cache of the machine's own Debian mirror: the hosts have no other way to a distribution."""

from __future__ import annotations

import os
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path

from sandbox import paths

# Indexes change; packages and by-hash files never do.
INDEX_TTL_S = 6 * 3600
TIMEOUT_S = 60


class PullThrough:
    """Answers a path such as `debian/pool/x.deb` with a local file, fetching it once."""

    def __init__(self, upstreams: dict[str, str], folder: Path = paths.DEBIAN_CACHE) -> None:
        """`upstreams` maps the first path element (`debian`) to the real base URI."""
        self._upstreams = upstreams
        self._folder = folder
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def handles(self, relative: str) -> bool:
        """Whether the path belongs to one of the mirrored archives."""
        return relative.split("/", 1)[0] in self._upstreams

    def fetch(self, relative: str) -> tuple[int, Path | None]:
        """(200, file) or (HTTP status, None). A stale copy is served when the mirror does not answer."""
        name, _, rest = relative.partition("/")
        target = self._folder / relative
        with self._locks[relative]:
            if target.is_file() and self._is_fresh(target, rest):
                return 200, target
            try:
                self._download(f"{self._upstreams[name]}/{rest}", target)
            except urllib.error.HTTPError as error:
                return error.code, None
            except (urllib.error.URLError, OSError):
                return (200, target) if target.is_file() else (502, None)
        return 200, target

    @staticmethod
    def _is_fresh(target: Path, rest: str) -> bool:
        """Packages stay for ever; an index is asked for again after a while (its age here is its change time)."""
        immutable = not rest.startswith("dists/") or "/by-hash/" in rest
        return immutable or time.time() - target.stat().st_ctime < INDEX_TTL_S

    @staticmethod
    def _download(url: str, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{target.name}.{threading.get_ident()}.partial")
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer, partial.open("wb") as output:
                shutil.copyfileobj(answer, output, 1 << 20)
                modified = answer.headers.get("Last-Modified")
            if modified:
                stamp = time.mktime(time.strptime(modified, "%a, %d %b %Y %H:%M:%S %Z")) - time.timezone
                os.utime(partial, (stamp, stamp))
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
