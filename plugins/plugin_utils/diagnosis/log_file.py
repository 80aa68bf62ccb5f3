"""The text that an operator hands over as a file, or one clear message why it cannot be read."""

from __future__ import annotations

import codecs
from pathlib import Path

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError

# The readers look at every line many times: this much takes them some seconds.
LIMIT = 2 * 1024 * 1024
# What PowerShell writes under Windows.
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PACKED = {b"\x1f\x8b": "zcat", b"BZh": "bzcat", b"\xfd7zXZ": "xzcat", b"(\xb5/\xfd": "zstdcat"}
EXPECTED = "a text file with the output of a tool"


def read_log(name: str) -> str:
    """The text of a file. Raises DecisionError where there is none."""
    path = Path(name.replace("\0", "")).expanduser()
    if not path.is_file():
        raise _refusal(f"{name} is {'no file' if path.exists() else 'not there'}", "correct the path in diagnose_log")
    try:
        with path.open("rb") as stream:
            content = stream.read(LIMIT + 1)
    except OSError as error:
        raise _refusal(f"{name}: {error.strerror}", "make it readable for this user") from error
    if len(content) > LIMIT:
        size = path.stat().st_size // (1024 * 1024)
        raise _refusal(f"{name} has {size} MB", f"cut the part around the failure out, such as tail -c 2M {name}")
    return _decoded(name, content)


def _decoded(name: str, content: bytes) -> str:
    packed = next((tool for start, tool in _PACKED.items() if content.startswith(start)), "")
    if packed:
        raise _refusal(f"{name} is compressed", f"unpack it first: {packed} {name} > log.txt")
    text = content.decode("utf-16" if content.startswith(_UTF16) else "utf-8", "replace")
    if not text.strip("\ufeff \t\r\n\0"):
        raise _refusal(f"{name} is empty", "write the output of the tool, errors too, into it: TOOL > log.txt 2>&1")
    if "\0" in text or text.count("\ufffd") > len(text) // 20 + 2:
        raise _refusal(f"{name} is binary", "give the output of a tool as text")
    return text


def _refusal(found: str, remedy: str) -> DecisionError:
    return DecisionError("wish-invalid", found, EXPECTED, remedy)
