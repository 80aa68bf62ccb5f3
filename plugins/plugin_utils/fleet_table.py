"""Rows of cells as aligned text that fits a terminal: what has no room stands indented below its row."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

GAP = "  "
INDENT = " " * 6
# The last column is not made narrower than this.
LEAST = 16


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Lines of at most ``width`` characters, unless a single word is longer.

    The last columns go below their row, one after the other, until the others fit. The last one of a row is not padded,
    and may be wrapped itself as long as enough of it fits.
    """
    inside = len(header)
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(inside)]
    words = [len(word) for row in [header, *rows] for word in row[-1].split()]
    if _span([*widths[:-1], max([LEAST, *words])]) > width:
        while inside > 1 and _span(widths[:inside]) > width:
            inside -= 1
    lines = []
    for row in [header, *rows]:
        lines += _line(row[:inside], widths, width)
        lines += _below(header[inside:], row[inside:], width) if row is not header else []
    return lines


def _span(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _line(cells: Sequence[str], widths: Sequence[int], width: int) -> list[str]:
    start = GAP.join(cell.ljust(size) for cell, size in zip(cells[:-1], widths, strict=False))
    start += GAP if start else ""
    first, *more = _wrapped(cells[-1], max(width - len(start), LEAST))
    return [start + first, *(" " * len(start) + part for part in more)]


def _below(names: Sequence[str], cells: Sequence[str], width: int) -> list[str]:
    text = "; ".join(f"{name.lower()}: {cell}" for name, cell in zip(names, cells, strict=True) if cell)
    return [INDENT + part for part in _wrapped(text, width - len(INDENT))] if text else []


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
