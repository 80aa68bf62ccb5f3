"""Lines of a tool's output, freed of what terminals, web forms, log collectors and Ansible's results add."""

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
# Output inside Ansible's results: a string, and the same again as a list with one string for each line.
_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_KEY = r'"(?:[\w.]+\.)?std(?:out|err)(?:_lines)?"'
_VALUE = re.compile(
    r"%s:\s*(?:(?P<whole>%s)|\[(?P<items>(?:\s*%s,?)*)\s*\]?)|(?P<string>%s)" % (_KEY, _QUOTED, _QUOTED, _QUOTED)
)
_STRING = re.compile(_QUOTED)
_ITEM = re.compile(r"^\s*(?:- )?(?:(\"(?:[^\"\\]|\\.)*\")|'((?:[^']|'')*)'),?$")
# The same in YAML.
_YAML_KEY = re.compile(r"^(?P<indent> *)(?:[\w.]+\.)?std(?:out|err)(?P<list>_lines)?:(?: (?P<value>.*))?$")
_YAML_BLOCK = re.compile(r"^[|>][+-]?\d?$")
# What docker, journald, MPI and the like put in front of each line.
_CARRIER = re.compile(
    r"^(?:\[\d+(?:,\d+)?\]<std(?:out|err)>: ?"
    r"|[\w.-]+ +\| "
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)?\]? "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [\w./@-]+(?:\[\d+\])?: )"
)


def plain_lines(text: str) -> list[str]:
    """The lines of `text` without escape sequences, markup, odd blanks and trailing blanks; indentation stays.

    Of an output that a dump of Ansible's results holds several times, the first copy counts.
    """
    seen = _Seen()
    text = _VALUE.sub(lambda match: _unfolded(match, seen), text)
    plain = _ENTITIES.sub(lambda match: html.unescape(match.group()), _TAGS.sub("", _ESCAPES.sub("", text)))
    plain = plain.translate(_SPACES).replace("\r\n", "\n").replace("\r", "\n")
    return [_item(line) for line in _without_copies([line.rstrip() for line in plain.split("\n")], seen)]


def bare_lines(text: str) -> list[str]:
    """The plain lines without what a log collector put in front of them."""
    return [_CARRIER.sub("", line) for line in plain_lines(text)]


class _Seen:
    """The outputs that a text held so far."""

    def __init__(self) -> None:
        self._outputs: list[str] = []

    def again(self, output: str) -> bool:
        """Whether the output was there before, whatever became of its blanks or its end."""
        words = " ".join(_ESCAPES.sub("", output).split())
        if any(known.startswith(words) for known in self._outputs):
            return True
        self._outputs.append(words)
        return False


def _unfolded(match: re.Match[str], seen: _Seen) -> str:
    """A JSON string that is or holds several lines, and a list of lines, as these lines."""
    if match.group("string"):
        return "\n%s\n" % _decoded(match.group()) if "\\n" in match.group() else match.group()
    if match.group("whole"):
        output = _decoded(match.group("whole"))
    else:
        output = "\n".join(_decoded(item) for item in _STRING.findall(match.group("items")))
    return "" if seen.again(output) else "\n%s\n" % output


def _without_copies(lines: list[str], seen: _Seen) -> list[str]:
    """The lines with the outputs that stand in YAML brought to the margin, each of them once."""
    kept: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        key = _YAML_KEY.match(line)
        if not key:
            kept.append(line)
            continue
        indent, value = len(key.group("indent")), key.group("value") or ""
        start = number
        while number < len(lines) and _inside(lines[number], indent, bool(key.group("list"))):
            number += 1
        block = lines[start:number]
        if value and not _YAML_BLOCK.match(value):
            block.insert(0, value)
        margin = min([len(line) - len(line.lstrip()) for line in block if line], default=0)
        output = [line[margin:] for line in block]
        if key.group("list"):
            output = _items(output)
        if not seen.again("\n".join(output)):
            kept.extend(output)
    return kept


def _items(lines: list[str]) -> list[str]:
    """The items of a YAML list; long ones are wrapped."""
    items: list[str] = []
    for line in lines:
        if line.startswith("- ") or not items:
            items.append(line)
        elif line:
            items[-1] += " " + line.lstrip()
    return [item[2:] if item.startswith("- ") else item for item in map(_item, items)]


def _inside(line: str, indent: int, items: bool) -> bool:
    """Whether a line belongs to the YAML value of a key with this indentation."""
    deep = len(line) - len(line.lstrip(" "))
    return not line or deep > indent or (items and deep == indent and line.startswith("- ", deep))


def _item(line: str) -> str:
    """The line that is all of an item of a list, else the line as it is."""
    item = _ITEM.match(line)
    if not item:
        return line
    if item.group(1) is None:
        return item.group(2).replace("''", "'")
    return _ESCAPES.sub("", _decoded(item.group(1))).rstrip()


def _decoded(string: str) -> str:
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return string[1:-1]
