"""Commands as a user in a fresh login: new groups count, and so does the PATH of the login shell."""

from __future__ import annotations

import os
import pwd
import shlex
import subprocess
import tempfile
import time

# Settings of a user's own that would answer for the host.
SETTINGS = (
    "HSA_OVERRIDE_GFX_VERSION",
    "LD_LIBRARY_PATH",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "CUDA_VISIBLE_DEVICES",
)
TIMED_OUT = 124
# What comes before it was printed by the user's own start-up files.
_MARK = "--- output of the check ---"
# What the inner limit gets to end the command before the outer one gives up.
_GRACE_S = 20
_OUTPUT_LIMIT = 1024 * 1024


class Login:
    """Runs commands as one user. Raises KeyError where there is no such user.

    `more_path` is put behind the login's own PATH.
    """

    def __init__(self, user: str, timeout: int, more_path: str = "") -> None:
        self.account = pwd.getpwnam(user)
        self.timeout = timeout
        self.more_path = more_path

    @property
    def name(self) -> str:
        return self.account.pw_name

    def run(self, command: str, limit: int = 0, settings: bool = False) -> tuple[int, str]:
        """``(exit status, output and errors)`` of a shell command line; 124 after the time limit.

        The user's own settings are taken away, and `more_path` is added, unless `settings` asks for the login as it is.
        """
        limit = limit or self.timeout
        started = time.monotonic()
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(
                    self.argv(self._script(command, limit, settings)),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            except OSError as error:
                return 127, str(error)
            try:
                code = process.wait(limit + _GRACE_S)
            except subprocess.TimeoutExpired:
                # Waiting in the kernel for a GPU that hangs, it cannot even be killed: it is left behind.
                process.kill()
                code = TIMED_OUT
            output.seek(0, os.SEEK_END)
            output.seek(max(0, output.tell() - _OUTPUT_LIMIT))
            text = output.read().decode("utf-8", "replace")
        text = text.rpartition(_MARK)[2].strip()
        if code and time.monotonic() - started >= limit:
            return TIMED_OUT, (text + "\nno end after %d s" % limit).strip()
        return code, text

    def argv(self, script: str) -> list[str]:
        """The command that gives a script to a new login shell; as root for any user, else for oneself."""
        if os.geteuid() == 0:
            shell = ["-s", "/bin/sh"] if os.path.basename(self.account.pw_shell) in ("nologin", "false", "") else []
            return ["runuser", *shell, "-l", self.name, "-c", script]
        clean = ["env", "-i", "HOME=" + self.account.pw_dir, "USER=" + self.name, "LOGNAME=" + self.name]
        return [*clean, self.account.pw_shell or "/bin/sh", "-l", "-c", script]

    def _script(self, command: str, limit: int, settings: bool) -> str:
        """One command that every login shell understands, whatever its language."""
        lines = ["echo; echo '%s'" % _MARK, "export LC_ALL=C.UTF-8", "cd /", command]
        if self.more_path and not settings:
            lines.insert(1, 'export PATH="$PATH":%s' % shlex.quote(self.more_path))
        if not settings:
            lines.insert(1, "unset " + " ".join(SETTINGS))
        # The time limit stands inside: a login shell's children are in a session of their own.
        return "exec timeout --kill-after=5 %d /bin/sh -c %s" % (limit, shlex.quote("; ".join(lines)))
