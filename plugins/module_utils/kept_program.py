"""The HIP test program of an earlier check, good for as long as nothing that goes into it has changed.

Compiling takes seconds of processor time on every host of a fleet, and says nothing new where no package, tool,
library or source was touched since. Running the program does, so it is kept to be run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import time

FOLDER = "/var/cache/gpufleet.rocm"
# Every installation and removal of a package changes this file.
PACKAGES = "/var/lib/dpkg/status"


def _state(path: str) -> list[object]:
    """What changes about a file or folder when it is replaced, or when an entry of the folder is."""
    try:
        info = os.stat(path)
    except OSError:
        return [path, None]
    return [os.path.realpath(path), info.st_mtime_ns, info.st_size]


def fingerprint(prefix: str, words: list[str]) -> str:
    """A digest of the toolchain below `prefix` (such as /opt/rocm) and of the `words` that the compiler is given."""
    parts = ["bin/hipcc", "lib", "include/hip", "llvm/bin", "lib/llvm/bin", "amdgcn/bitcode", "lib/llvm/amdgcn/bitcode"]
    states = [_state(path) for path in [PACKAGES] + [os.path.join(prefix, part) for part in parts]]
    return hashlib.sha256(json.dumps([states, words]).encode()).hexdigest()


class KeptProgram:
    """One program with the fingerprint of what it was made from."""

    def __init__(self, key: str, folder: str = FOLDER) -> None:
        self.key = key
        self.folder = folder
        self.path = os.path.join(folder, "vector_add")
        self._record = os.path.join(folder, "vector_add.json")

    def since(self) -> str:
        """The day the program was compiled, empty where there is none for this fingerprint."""
        try:
            with open(self._record, encoding="utf-8") as handle:
                record = json.load(handle)
            usable = record["key"] == self.key and record["checks"] and os.access(self.path, os.X_OK)
            return str(record["compiled"]) if usable else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def checks(self) -> list[dict[str, str]]:
        """The checks that the program passed when it was compiled: id, status and evidence."""
        with open(self._record, encoding="utf-8") as handle:
            rows = json.load(handle)["checks"]
        return [{name: str(row[name]) for name in ("id", "status", "evidence")} for row in rows]

    def keep(self, program: str, owner: int, checks: list[dict[str, object]]) -> None:
        """Copy a program that the user `owner` compiled. A link, or somebody else's file under its name, is left alone.

        The record goes first and comes last, so that it never belongs to another program.
        """
        with os.fdopen(os.open(program, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as source:
            info = os.fstat(source.fileno())
            if not stat.S_ISREG(info.st_mode) or info.st_uid != owner:
                return
            os.makedirs(self.folder, exist_ok=True)
            os.chmod(self.folder, 0o755)
            if os.path.exists(self._record):
                os.unlink(self._record)
            with open(self.path + ".new", "wb") as copy:
                shutil.copyfileobj(source, copy)
        os.chmod(self.path + ".new", 0o755)
        os.replace(self.path + ".new", self.path)
        with open(self._record, "w", encoding="utf-8") as handle:
            json.dump({"key": self.key, "compiled": time.strftime("%Y-%m-%d"), "checks": checks}, handle)
