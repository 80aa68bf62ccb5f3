"""What the product wrote down on a host."""

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import paths, records
from tests.unit.module_utils.tree import MakeHost


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"boot_id": "a", "module": "B"}', {"id": "a", "module": "B"}),
        ('{"boot_id": "a", "module": ""}', {"id": "a", "module": ""}),
        ('{"boot_id": "a"}', None),
        ('["a", "B"]', None),
        ('{"boot_id": ', None),
        ("", None),
    ],
)
def test_reboot(text: str, expected: object) -> None:
    assert records.parse_reboot(text) == expected


def test_a_host_that_was_never_touched(make_host: MakeHost) -> None:
    host = make_host({"/proc/sys/kernel/random/boot_id": "a\n"})
    assert records.boot(host) == {"id": "a", "last": None}
    assert records.holds(host) == []
    assert not records.drained(host)


def test_holds_are_one_name_a_line(make_host: MakeHost) -> None:
    assert records.holds(make_host({paths.HOLDS: "b\na\n\nb\n"})) == ["a", "b"]


def test_a_host_that_was_drained(make_host: MakeHost) -> None:
    assert records.drained(make_host({paths.DRAINED: ""}))
