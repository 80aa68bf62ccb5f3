"""The one exception of the decision code."""

from __future__ import annotations


class DecisionError(ValueError):
    """A wish that cannot be fulfilled, told as: what was found, what was expected, what to do next.

    `id` is a stable kebab-case name (the same in plan, report and documentation).
    `str(error)` is "<found>; expected <expected>. Next: <remedy>".
    """

    def __init__(self, id: str, found: str, expected: str, remedy: str) -> None:
        super().__init__(f"{found}; expected {expected}. Next: {remedy}")
        self.id = id
        self.found = found
        self.expected = expected
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[DecisionError], tuple[str, str, str, str]]:
        """Let worker processes send the error on: the default would replay only the joined text."""
        return type(self), (self.id, self.found, self.expected, self.remedy)
