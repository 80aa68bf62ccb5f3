"""Rows per file of the matrix, and what resolving a release costs: ``python -m tests.bench.matrix``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

from ansible_collections.gpufleet.rocm.plugins.plugin_utils import matrix
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.errors import DecisionError
from ansible_collections.gpufleet.rocm.plugins.plugin_utils.releases import resolve_release

CALLS = 200


def rows() -> dict[str, str]:
    """Number of rows of each list in each data file."""
    counts = {}
    for file in sorted(matrix.DATA.glob("*.yml")):
        table = matrix.table(file.stem)
        parts = [f"{len(value)} {key}" for key, value in table.items() if isinstance(value, (tuple, Mapping))]
        counts[file.name] = ", ".join(parts)
    return counts


def pairs() -> Iterator[tuple[str, dict[str, str]]]:
    """Every release with every system that it is published for."""
    for version in matrix.releases():
        for system in matrix.table("os")["systems"]:
            with contextlib.suppress(DecisionError):
                resolve_release(version.full, {"codename": system["codename"]})
                yield version.full, {"codename": system["codename"]}


def main() -> None:
    """Print the measurements."""
    jammy = {"id": "ubuntu", "version_id": "22.04", "codename": "jammy"}
    started = time.perf_counter()
    resolve_release("6.0", jammy)
    first = time.perf_counter() - started
    cases = list(pairs())
    with mock.patch.object(Path, "read_text", side_effect=AssertionError("data was read twice")):
        started = time.perf_counter()
        for number in range(CALLS):
            resolve_release(*cases[number % len(cases)])
        each = (time.perf_counter() - started) / CALLS
    for name, text in rows().items():
        print(f"{name:18} {text}")
    print(f"release: first call {first * 1000:.1f} ms, then {each * 1000:.3f} ms a call over {CALLS} calls")
    print("no file was read after the first call")


if __name__ == "__main__":
    main()
