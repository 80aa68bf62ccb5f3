"""What nobody should read in facts, plans and reports: passwords in addresses, tokens and the like."""

from __future__ import annotations

import re

MASK = "***"
# A password may hold / and @: what follows a colon counts up to the last @ of the word.
_ADDRESS = re.compile(r"(?<=://)(?:[^\s'\"/]*|[^\s'\"/]+:[^\s'\"]*)@")
_NAME = r"[\w.-]*(?:password|passwd|passphrase|secret|token|credential|api[_-]?key)[\w.-]*"
_VALUE = re.compile(r"(\b" + _NAME + r"|[?&]sig)(\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s&;,'\"]+)", re.I)
_HEADER = re.compile(r"(\bauthorization:\s*(?:basic|bearer|digest)\s+)\S+", re.I)
_SECRET_NAME = re.compile(_NAME, re.I)


def masked(text: str) -> str:
    """The text with its secrets replaced."""
    text = _ADDRESS.sub(MASK + "@", text)
    text = _HEADER.sub(r"\g<1>" + MASK, text)
    return _VALUE.sub(r"\g<1>\g<2>" + MASK, text)


def without_secrets(value: object) -> object:
    """Plain data with the secrets in its texts and under its names replaced."""
    if isinstance(value, dict):
        return {
            key: masked_value(str(key), item) if isinstance(item, str) else without_secrets(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_secrets(item) for item in value]
    return masked(value) if isinstance(value, str) else value


def masked_value(name: str, value: str) -> str:
    """The value of a variable, none of it where the name says that it is a secret."""
    return MASK if value and _SECRET_NAME.fullmatch(name) else masked(value)
