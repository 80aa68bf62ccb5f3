"""The HTTP server of the sandbox: a folder for each of AMD's and PyTorch's hosts, and the Debian mirror cache.

Runs as `python -m sandbox.upstream.server` in the background; `daemon.py` starts and stops it.
"""

from __future__ import annotations

import email.utils
import html
import http.server
import re
import socket
import sys
import threading
import time
import urllib.parse
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from sandbox import mirror, paths
from sandbox.upstream import faults
from sandbox.upstream.faults import Fault
from sandbox.upstream.pull_through import PullThrough
from sandbox.upstream.shelf import Shelf

PORT = 8600
# The bridge address exists only while a host runs; IP_FREEBIND lets the server listen before that.
ADDRESSES = ("10.77.0.1", "127.0.0.1")
IP_FREEBIND = 15
SIGNED = ("InRelease", "Release.gpg")
CHUNK = 1 << 18
# Response header that names the tree which is served.
OWNER = "X-Sandbox-Tree"


class FaultBook:
    """The rules of faults.json, re-read when the file changes, with a count of how often each has struck."""

    def __init__(self, path: Path = paths.FAULTS) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._rules: list[Fault] = []
        self._struck: dict[Fault, int] = {}
        self._lock = threading.Lock()

    def strike(self, url_path: str) -> list[Fault]:
        """The rules that apply to this request; each of them is counted."""
        with self._lock:
            self._reload()
            hits = [
                rule
                for rule in self._rules
                if url_path.startswith(rule.prefix)
                and applies(rule.kind, url_path)
                and (rule.times is None or self._struck.get(rule, 0) < rule.times)
            ]
            for rule in hits:
                self._struck[rule] = self._struck.get(rule, 0) + 1
            return hits

    def _reload(self) -> None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._rules, self._struck = None, [], {}
            return
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._stamp:
            self._stamp, self._rules, self._struck = stamp, faults.read(self._path), {}


def applies(kind: str, url_path: str) -> bool:
    """Whether a kind of fault concerns this sort of file at all."""
    name = url_path.rsplit("/", 1)[-1]
    if kind in ("foreign-key", "expired-key"):
        return name.endswith(".gpg.key") or (name.endswith(".gpg") and "/gpg/" in url_path)
    if kind == "foreign-signature":
        return name in SIGNED
    if kind == "no-inrelease":
        return name == "InRelease"
    return True


@dataclass(frozen=True)
class Body:
    """What to send: the status, the bytes' source and how much of it to really send."""

    status: int
    data: bytes | Path
    content_type: str = "application/octet-stream"
    modified: float | None = None
    cut: bool = False

    @property
    def size(self) -> int:
        """The length in bytes that the answer declares."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.stat().st_size


def plain(status: int, text: str) -> Body:
    """A short text answer."""
    return Body(status, f"{text}\n".encode(), "text/plain; charset=utf-8")


def listing(folder: Path, url_path: str) -> Body:
    """A directory page as plain web servers give it."""
    visible = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
    names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in visible)
    links = "".join(f'<a href="{urllib.parse.quote(name)}">{html.escape(name)}</a>\n' for name in names)
    title = f"Index of {html.escape(url_path)}"
    text = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><pre>\n{links}</pre></body></html>\n"
    return Body(200, text.encode(), "text/html; charset=utf-8")


def variant(path: Path, kinds: set[str]) -> Path:
    """The file to serve instead, where a key or signature fault is on."""
    if "foreign-key" in kinds:
        return paths.KEYS / "foreign.asc"
    if "expired-key" in kinds:
        return paths.KEYS / "radeon-expired.asc"
    if "foreign-signature" in kinds:
        return path.with_name(f".foreign.{path.name}")
    return path


def damaged(path: Path, kinds: set[str]) -> bytes | None:
    """The changed bytes, where the content itself is at fault."""
    if "wrong-size" in kinds:
        return path.read_bytes() + b"stale proxy\n"
    if "tampered" in kinds:
        data = bytearray(path.read_bytes())
        middle = len(data) // 2
        data[middle : middle + 8] = b"tampered"[: len(data) - middle]
        return bytes(data)
    return None


class Site:
    """Maps a URL path to a Body; knows the tree, the mirror cache and the faults, but nothing of sockets."""

    def __init__(self, tree: Path, pull: PullThrough, book: FaultBook) -> None:
        self._tree = tree
        self._shelf = Shelf(tree)
        self._pull = pull
        self._book = book

    def answer(self, url_path: str) -> Body:
        """The answer to GET; HEAD sends the same without the bytes. Sleeps where a `slow` fault is on."""
        rules = self._book.strike(url_path)
        kinds = {rule.kind for rule in rules}
        for rule in rules:
            if rule.kind == "slow":
                time.sleep(rule.seconds)
        if kinds & {"404", "no-inrelease"}:
            return plain(404, "404 Not Found (a fault of the sandbox)")
        if "500" in kinds:
            return plain(500, "500 Internal Server Error (a fault of the sandbox)")
        relative = urllib.parse.unquote(url_path).lstrip("/")
        if ".." in Path(relative).parts:
            return plain(404, "404 Not Found")
        if self._pull.handles(relative):
            status, path = self._pull.fetch(relative)
            return self._file(path, kinds) if path else plain(status, f"{status} from the Debian mirror")
        return self._local(relative, url_path, kinds)

    def _local(self, relative: str, url_path: str, kinds: set[str]) -> Body:
        self._shelf.fill(relative)
        path = self._tree / relative
        if path.is_dir():
            if not url_path.endswith("/"):
                return Body(HTTPStatus.MOVED_PERMANENTLY, f"{url_path}/".encode())
            index = path / "index.html"
            return self._file(index, kinds) if index.is_file() else listing(path, url_path)
        if any(part.startswith(".") for part in Path(relative).parts) or not path.is_file():
            return plain(404, "404 Not Found")
        return self._file(variant(path, kinds), kinds)

    @staticmethod
    def _file(path: Path, kinds: set[str]) -> Body:
        content_type = "text/html; charset=utf-8" if path.suffix == ".html" else "application/octet-stream"
        changed = damaged(path, kinds)
        data: bytes | Path = path if changed is None else changed
        return Body(200, data, content_type, path.stat().st_mtime, cut="cut" in kinds)


class Handler(http.server.BaseHTTPRequestHandler):
    """HTTP/1.1 with keep-alive, HEAD, single ranges and If-Modified-Since: what apt and pip use."""

    protocol_version = "HTTP/1.1"
    server_version = "gpufleet-sandbox"
    site: Site

    def do_GET(self) -> None:
        """Send headers and content."""
        self._send(with_content=True)

    def do_HEAD(self) -> None:
        """Send headers only."""
        self._send(with_content=False)

    def log_message(self, format: str, *args: object) -> None:
        """One line for each request, with the time."""
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {self.client_address[0]} {format % args}\n")
        sys.stderr.flush()

    def _send(self, *, with_content: bool) -> None:
        url_path = urllib.parse.urlsplit(self.path).path
        body = self.site.answer(url_path)
        if body.status == HTTPStatus.MOVED_PERMANENTLY and isinstance(body.data, bytes):
            self._head(body.status, [("Location", body.data.decode()), ("Content-Length", "0")])
            return
        if body.status == 200 and self._unchanged(body):
            self._head(HTTPStatus.NOT_MODIFIED, [])
            return
        first, last, size = 0, body.size - 1, body.size
        status = body.status
        headers = [("Content-Type", body.content_type), ("Accept-Ranges", "bytes")]
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if status == 200 and wanted and self._range_is_current(body):
            first = int(wanted[1])
            last = min(int(wanted[2]), last) if wanted[2] else last
            if first >= size:
                self._head(416, [("Content-Range", f"bytes */{size}"), ("Content-Length", "0")])
                return
            status = HTTPStatus.PARTIAL_CONTENT
            headers.append(("Content-Range", f"bytes {first}-{last}/{size}"))
        if body.modified is not None:
            headers.append(("Last-Modified", email.utils.formatdate(body.modified, usegmt=True)))
        headers.append(("Content-Length", str(last - first + 1)))
        self._head(status, headers)
        if with_content:
            self._content(body, first, last - first + 1)

    def _head(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.send_response(status)
        self.send_header(OWNER, str(paths.TREE))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def _unchanged(self, body: Body) -> bool:
        stamp = self.headers.get("If-Modified-Since")
        if stamp is None or body.modified is None:
            return False
        return int(body.modified) <= email.utils.parsedate_to_datetime(stamp).timestamp()

    def _range_is_current(self, body: Body) -> bool:
        """A client resumes only the file that it began with (If-Range carries its date)."""
        stamp = self.headers.get("If-Range")
        return not stamp or body.modified is None or stamp == email.utils.formatdate(body.modified, usegmt=True)

    def _content(self, body: Body, first: int, length: int) -> None:
        if body.cut:
            length //= 2
            self.close_connection = True
        if isinstance(body.data, bytes):
            self.wfile.write(body.data[first : first + length])
        else:
            with body.data.open("rb") as source:
                source.seek(first)
                while length > 0 and (chunk := source.read(min(CHUNK, length))):
                    self.wfile.write(chunk)
                    length -= len(chunk)
        if body.cut:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)


class Server(http.server.ThreadingHTTPServer):
    """A threaded server that may bind to an address which does not exist yet."""

    daemon_threads = True
    request_queue_size = 256

    def server_bind(self) -> None:
        """Bind with IP_FREEBIND; skips the parent's reverse look-up of the name, which may hang."""
        self.socket.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


def main() -> None:
    """Serve until killed."""
    upstreams = {archive.name: archive.uri for archive in mirror.archives()}
    Handler.site = Site(paths.TREE, PullThrough(upstreams), FaultBook())
    servers = [Server((address, PORT), Handler) for address in ADDRESSES]
    for server in servers[1:]:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"serving {paths.TREE} on port {PORT} of {', '.join(ADDRESSES)}", file=sys.stderr, flush=True)
    servers[0].serve_forever()


if __name__ == "__main__":
    main()
