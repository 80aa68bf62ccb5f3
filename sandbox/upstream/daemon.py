"""Start and stop the upstream server as a background process."""

from __future__ import annotations

import hashlib
import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sandbox import paths
from sandbox.errors import SandboxError
from sandbox.progress import note
from sandbox.upstream import server

MODULE = "sandbox.upstream.server"


def code_digest() -> str:
    """Changes with the server's code and data, so that an old server is not left running."""
    files = sorted(path for path in Path(server.__file__).parent.rglob("*") if path.suffix in (".py", ".yml"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def pid() -> int | None:
    """The server's process id, or None; a recycled pid of another program does not count."""
    try:
        number = int(paths.SERVER_PID.read_text().split()[0])
        words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, IndexError, ValueError):
        return None
    return number if MODULE.encode() in words else None


def answers() -> bool:
    """Whether a server of this checkout answers on the local address; another one may hold the port."""
    connection = http.client.HTTPConnection("127.0.0.1", server.PORT, timeout=2)
    try:
        connection.request("HEAD", "/")
        return connection.getresponse().getheader(server.OWNER) == str(paths.TREE)
    except OSError:
        return False
    finally:
        connection.close()


def start() -> None:
    """Start the server unless it runs. Raises SandboxError with its log when it does not come up."""
    if pid() is not None and paths.SERVER_PID.read_text().split()[1:] == [code_digest()] and answers():
        return
    stop()
    paths.ensure(paths.TREE)
    with paths.SERVER_LOG.open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE],
            cwd=paths.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    paths.SERVER_PID.write_text(f"{process.pid} {code_digest()}\n")
    for _ in range(100):
        if answers():
            note(f"upstream server: port {server.PORT}, process {process.pid}, log {paths.SERVER_LOG}")
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    tail = "\n".join(paths.SERVER_LOG.read_text().splitlines()[-5:])
    raise SandboxError(f"the upstream server did not start:\n{tail}")


def stop() -> None:
    """Stop the server if it runs."""
    number = pid()
    if number is not None:
        os.kill(number, signal.SIGTERM)
        for _ in range(50):
            if pid() is None or _is_zombie(number):
                break
            time.sleep(0.1)
    paths.SERVER_PID.unlink(missing_ok=True)


def _is_zombie(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
