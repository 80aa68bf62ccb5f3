"""Read access to one host, live ("/") or a tree copied from another host.

Every reader goes through this class, so that nothing of the machine it runs on leaks into what is said about
a tree: absolute links are followed inside the tree and commands are not run at all.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess

DEFAULT_LIMIT = 1024 * 1024
COMMAND_TIMEOUT_S = 20
_MAX_LINKS = 40
# A path read from a file may hold a NUL, for which Python raises ValueError.
UNREADABLE = (OSError, ValueError)
_COMMAND_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Host:
    """Paths given to the methods are the host's own absolute paths ("/etc/os-release")."""

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.realpath(root)
        self.live = self.root == "/"

    def resolve(self, path: str) -> str:
        """The host's own path behind `path` with every link followed; what leads nowhere is kept as it is."""
        try:
            return os.path.realpath(path) if self.live else self._inside(path)
        except UNREADABLE:
            return path

    def _inside(self, path: str) -> str:
        """The same in a tree. Raises OSError for a loop of links: the machine must not follow one out of the tree."""
        done: list[str] = []
        pending = path.split("/")[::-1]
        links = 0
        while pending:
            part = pending.pop()
            if part in ("", "."):
                continue
            if part == "..":
                del done[-1:]
                continue
            try:
                target = os.readlink(self.root + "/".join(["", *done, part]))
            except UNREADABLE:
                done.append(part)
                continue
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if target.startswith("/"):
                done = []
            pending.extend(target.split("/")[::-1])
        return "/" + "/".join(done)

    def local(self, path: str) -> str:
        """The path on the machine that runs this code, links followed inside the tree."""
        return path if self.live else self.root + self._inside(path)

    def read_bytes(self, path: str, limit: int = DEFAULT_LIMIT) -> bytes | None:
        """At most `limit` bytes of a regular file; None when it is missing, unreadable or not a file.

        A pipe or a device in the place of a file is not opened for waiting: the read must never hang.
        """
        try:
            descriptor = os.open(self.local(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except UNREADABLE:
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                return stream.read(limit)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def read(self, path: str, limit: int = DEFAULT_LIMIT) -> str | None:
        """The same as text; bytes that are not UTF-8 become replacement characters."""
        data = self.read_bytes(path, limit)
        return None if data is None else data.decode("utf-8", "replace")

    def value(self, path: str) -> str | None:
        """A one-value file as sysfs has them, stripped; None when missing or empty."""
        return (self.read(path, 65536) or "").strip() or None

    def names(self, path: str) -> list[str]:
        """Sorted names in a directory; empty when there is none."""
        try:
            return sorted(os.listdir(self.local(path)))
        except UNREADABLE:
            return []

    def stat(self, path: str) -> os.stat_result | None:
        """Status of what `path` leads to; None when it leads nowhere."""
        try:
            return os.stat(self.local(path))
        except UNREADABLE:
            return None

    def exists(self, path: str) -> bool:
        return self.stat(path) is not None

    def is_dir(self, path: str) -> bool:
        status = self.stat(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def link(self, path: str) -> str | None:
        """The text of a symbolic link, whether or not it leads anywhere; None when it is no link."""
        folder, _, name = path.rpartition("/")
        try:
            return os.readlink(self.local(folder or "/").rstrip("/") + "/" + name)
        except UNREADABLE:
            return None

    def run(self, argv: list[str], timeout: float = COMMAND_TIMEOUT_S) -> tuple[int, str, str] | None:
        """(exit status, output, errors) of a command in the C locale.

        None when it cannot be run, takes longer than `timeout` seconds, or the host is only a tree.
        """
        if not self.live:
            return None
        environment = dict(os.environ, LC_ALL="C.UTF-8", LANGUAGE="", PATH=_COMMAND_PATH)
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            # The whole session: a shell script's children would keep the pipes open after it.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
        return process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")
