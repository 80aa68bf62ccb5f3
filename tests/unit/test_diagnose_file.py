"""A given file is read, or there is one message why not."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.diagnosis.log_file import LIMIT, read_log
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PCI rejects atomics\n", "PCI rejects atomics\n"),
        ("Fehler beim \u00d6ffnen".encode("latin-1"), "Fehler beim \ufffdffnen"),
        ("False".encode("utf-16"), "False"),
        (b"x" * LIMIT, "x" * LIMIT),
    ],
)
def test_a_text_is_read(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "log").write_bytes(content)
    assert read_log(str(tmp_path / "log")) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"is empty; expected a text file .* Next: write the output of the tool"),
        (b" \n\n", r"is empty;"),
        (b"\x7fELF\0\0\0text", r"is binary;"),
        (bytes(range(128, 256)) * 4, r"is binary;"),
        (gzip.compress(b"PCI rejects atomics"), r"is compressed; .* Next: unpack it first: zcat"),
        (b"x" * (LIMIT + 1), r"has 2 MB; .* Next: cut the part around the failure out, such as tail -c 2M"),
    ],
)
def test_anything_else_is_one_message(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(DecisionError, match=message):
        read_log(str(tmp_path / "log"))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, found in (
        ("pipe", "is no file"),
        (".", "is no file"),
        ("none", "is not there"),
        ("a\0b", "is not there"),
    ):
        with pytest.raises(DecisionError, match=found):
            read_log(str(tmp_path / name))
