"""Distribution identity, in particular of derivatives."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import os_release

JAMMY = """PRETTY_NAME="Ubuntu 22.04.4 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=jammy
"""
MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="22"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n'
POP = 'ID=pop\nID_LIKE="ubuntu debian"\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\nUBUNTU_CODENAME=jammy\n'
LMDE = 'ID=linuxmint\nID_LIKE=debian\nVERSION_ID="6"\nVERSION_CODENAME=faye\nDEBIAN_CODENAME=bookworm\n'
DEBIAN = "ID=debian\nVERSION_ID='12'\nVERSION_CODENAME=bookworm\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JAMMY, ("ubuntu", ["debian"], "22.04", "jammy", "ubuntu", "jammy")),
        (MINT, ("linuxmint", ["ubuntu", "debian"], "22", "wilma", "ubuntu", "noble")),
        (POP, ("pop", ["ubuntu", "debian"], "22.04", "jammy", "ubuntu", "jammy")),
        (LMDE, ("linuxmint", ["debian"], "6", "faye", None, None)),
        (DEBIAN, ("debian", [], "12", "bookworm", "debian", "bookworm")),
        ("ID=debian\n", ("debian", [], None, None, "debian", None)),
        ("", ("linux", [], None, None, None, None)),
    ],
    ids=["ubuntu", "mint", "pop", "lmde", "debian", "debian-sid", "empty"],
)
def test_identity(text: str, expected: tuple[object, ...]) -> None:
    fact = os_release.identity(os_release.parse(text))
    assert (
        tuple(fact[key] for key in ("id", "id_like", "version_id", "codename", "base_id", "base_codename")) == expected
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('NAME="A B"', {"NAME": "A B"}),
        ("NAME='A B'", {"NAME": "A B"}),
        ("  NAME=plain  ", {"NAME": "plain"}),
        ("# NAME=no", {}),
        ("no assignment", {}),
        ("=value", {}),
        ('NAME="open', {"NAME": "open"}),
    ],
)
def test_parse(line: str, expected: dict[str, str]) -> None:
    assert os_release.parse(line) == expected
