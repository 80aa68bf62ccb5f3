"""Lines of a tool's output, freed of what terminals, web forms and log collectors add."""

from __future__ import annotations

import html
import json
import re

# Colours and cursor movements; rocminfo writes them even into a file.
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_SPACES = dict([(ord(character), " ") for character in "\u00a0\u2007\u202f"] + [(0xFEFF, ""), (0x200B, "")])
# A coloured terminal that was pasted into a web form. Mail addresses stand in angle brackets too.
_TAGS = re.compile(r"</?(?:pre|code|font|span|b|i|br|p|div)(?: [^<>]*)?/?>", re.IGNORECASE)
_ENTITIES = re.compile(r"&(?:nbsp|lt|gt|amp|quot|#39);")
# Output inside Ansible's results: a string with "\n" in it, or a list of strings, one on each line.
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ITEM = re.compile(r"^\s*(?:- )?(?:(\"(?:[^\"\\]|\\.)*\")|'([^']*)'),?$")
# What docker, journald, MPI and the like put in front of each line.
_CARRIER = re.compile(
    r"^(?:\[\d+(?:,\d+)?\]<std(?:out|err)>: ?"
    r"|[\w.-]+ +\| "
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)? "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./@-]+(?:\[\d+\])?: )"
)


def plain_lines(text: str) -> list[str]:
    """The lines of `text` without escape sequences, markup, odd blanks and trailing blanks; indentation stays."""
    text = _STRING.sub(_unfolded, text)
    plain = _ENTITIES.sub(lambda match: html.unescape(match.group()), _TAGS.sub("", _ESCAPES.sub("", text)))
    plain = plain.translate(_SPACES).replace("\r\n", "\n").replace("\r", "\n")
    return [_item(line.rstrip()) for line in plain.split("\n")]


def bare_lines(text: str) -> list[str]:
    """The plain lines without what a log collector put in front of them."""
    return [_CARRIER.sub("", line) for line in plain_lines(text)]


def _unfolded(string: re.Match[str]) -> str:
    """A JSON string that holds several lines, as these lines."""
    return "\n%s\n" % _decoded(string.group()) if "\\n" in string.group() else string.group()


def _item(line: str) -> str:
    """The line that is all of an item of a list, else the line as it is."""
    item = _ITEM.match(line)
    if not item:
        return line
    return item.group(2) if item.group(1) is None else _ESCAPES.sub("", _decoded(item.group(1))).rstrip()


def _decoded(string: str) -> str:
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return string[1:-1]
