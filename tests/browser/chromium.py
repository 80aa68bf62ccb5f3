"""A headless Chromium, driven through its DevTools protocol over a pipe: nothing but the browser is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--mute-audio")
PATIENCE = 60


def program() -> str | None:
    """The browser of this machine, None where there is none."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Page:
    """One tab, and everything that its document complained about, asked the network for, or popped up."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = os.fdopen(commands, "wb", buffering=0), os.fdopen(answers, "rb")
        self._number, self._session, self._pending = 0, "", b""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.loaded = 0
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            assert select.select([self._answers], [], [], PATIENCE)[0], f"the browser said nothing for {PATIENCE} s"
            part = os.read(self._answers.fileno(), 1 << 20)
            assert part, "the browser ended"
            self._pending += part
        message, _, self._pending = self._pending.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.complaints.append(f"console: {told['args']}")
            case "Runtime.exceptionThrown":
                self.complaints.append(f"exception: {told['exceptionDetails']}")
            case "Log.entryAdded":
                self.complaints.append(f"log: {told['entry']['text']}")
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(told["message"])
            case "Page.loadEventFired":
                self.loaded += 1

    def load(self, path: Path) -> None:
        """Show a file, with its script where scripts are allowed."""
        before = self.loaded
        self.send("Page.navigate", url=path.as_uri())
        while self.loaded == before:
            self._note(self._read())

    def open(self, path: Path) -> float:
        """Show a file; return the seconds until its script has run and the first picture of it is there."""
        started = time.monotonic()
        self.load(path)
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - started

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Type one key."""
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        codes = {"Enter": 13, "Escape": 27, "Tab": 9}
        more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def look(self, width: int = 1600, height: int = 1200, dark: bool = False, media: str = "screen") -> None:
        """Set the size of the window and how the page is shown."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", media=media, features=scheme)

    def screenshot(self, path: Path) -> None:
        """Keep what is in the window."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with one empty page, gone afterwards."""
    command = program()
    assert command, f"found none of {', '.join(PROGRAMS)}"
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    for end in (commands_out, answers_in):
        os.set_inheritable(end, True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The protocol is spoken on descriptors 3 and 4; bash alone moves those of two digits.
        move = f'exec 3<&{commands_out} 4>&{answers_in}; exec "$0" "$@"'
        process = subprocess.Popen(
            ["bash", "-c", move, command, *OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            pass_fds=(commands_out, answers_in),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(commands_out)
        os.close(answers_in)
        try:
            yield Page(commands_in, answers_out)
        finally:
            process.terminate()
            process.wait(PATIENCE)
