"""The one exception that the command line turns into a plain message."""

from __future__ import annotations


class SandboxError(RuntimeError):
    """Something outside our control is missing or failed; the text says what and what to do next."""
