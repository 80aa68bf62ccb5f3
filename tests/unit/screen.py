"""A small terminal: what a person sees after a program wrote this."""

from __future__ import annotations

import re

TOKEN = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


class Screen:
    """Rows that were written, those that scrolled away among them."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns = columns
        self.height = rows
        self.rows: list[str] = [""]
        self.row = 0
        self.column = 0
        self.cursor_shown = True

    @property
    def text(self) -> str:
        """Everything, from the first line that scrolled away to the cursor."""
        return "\n".join(row.rstrip() for row in self.rows).rstrip("\n")

    def feed(self, text: str) -> None:
        """Take what a program wrote."""
        for token in TOKEN.finditer(text):
            if token[3]:
                self._control(token[1], token[2], token[3])
            elif token[0] == "\r":
                self.column = 0
            elif token[0] == "\n":
                self._down()
                self.column = 0
            else:
                for char in token[0]:
                    self._put(char)

    def _control(self, private: str, argument: str, name: str) -> None:
        if name == "A":
            # A cursor stops at the upper edge.
            self.row = max(self.row - int(argument or 1), len(self.rows) - self.height, 0)
        elif name == "J":
            self.rows[self.row] = self.rows[self.row][: self.column]
            del self.rows[self.row + 1 :]
        elif name == "K":
            self.rows[self.row] = self.rows[self.row][: self.column]
        elif private and argument == "25":
            self.cursor_shown = name == "h"
        elif name != "m":
            raise AssertionError(f"unexpected control sequence ending in {name}")

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")

    def _put(self, char: str) -> None:
        if self.column == self.columns:
            self._down()
            self.column = 0
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[: self.column] + char + row[self.column + 1 :]
        self.column += 1
