"""OpenPGP keys: compared with GnuPG, and never a crash.

The keys beside this file were made for these tests: forever.asc has no expiry, limited.asc expires after a year,
renewed.asc is the same key with a later date and a subkey that expires on its own.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.gpufleet.rocm.plugins.module_utils import keyrings, openpgp
from tests.unit.module_utils.tree import MakeHost

KEYS = Path(__file__).parent / "keys"
FOREVER, LIMITED, RENEWED = ((KEYS / name).read_bytes() for name in ("forever.asc", "limited.asc", "renewed.asc"))


def binary(armoured: bytes) -> bytes:
    """The packets of an armoured key."""
    lines = armoured.split(b"\n\n", 1)[1].split(b"\n=", 1)[0]
    return base64.b64decode(lines)


FOREVER_FACT = {
    "fingerprint": "1B43F7CD494CB536283357C3A3D43503D2A59986",
    "key_id": "A3D43503D2A59986",
    "created": "2026-12-01",
    "expires": None,
    "uids": ["Sandbox Forever <forever@example.test>"],
}
LIMITED_FACT = {
    "fingerprint": "F9B51CB4C0E204D43A98E775C5E8CCF86A2FBE8F",
    "key_id": "C5E8CCF86A2FBE8F",
    "created": "2024-01-31",
    "expires": "2025-01-30",
    "uids": ["Sandbox Limited <limited@example.test>"],
}
RENEWED_FACT = dict(LIMITED_FACT, expires="2036-08-31")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (FOREVER, [FOREVER_FACT]),
        (binary(FOREVER), [FOREVER_FACT]),
        (LIMITED, [LIMITED_FACT]),
        (RENEWED, [RENEWED_FACT]),
        (binary(RENEWED), [RENEWED_FACT]),
        (FOREVER + LIMITED, [FOREVER_FACT, LIMITED_FACT]),
        (binary(FOREVER) + binary(LIMITED), [FOREVER_FACT, LIMITED_FACT]),
        (b"Saved from a web page\r\n\r\n" + FOREVER.replace(b"\n", b"\r\n") + b"bye\r\n", [FOREVER_FACT]),
        (FOREVER.replace(b"-----\n\n", b"-----\nVersion: 1\nComment: a: b\n\n", 1), [FOREVER_FACT]),
        (FOREVER.replace(b"=S4H7\n", b""), [FOREVER_FACT]),
        (FOREVER.replace(b"=S4H7", b"=S4H8"), [FOREVER_FACT]),
        # The newest self-signature counts, in whatever order they stand.
        (binary(RENEWED) + binary(LIMITED), [RENEWED_FACT, LIMITED_FACT]),
    ],
)
def test_keys(data: bytes, expected: list[dict[str, object]]) -> None:
    assert openpgp.keys(data) == expected


def with_signatures(*keys: bytes) -> bytes:
    """The first key's key and user id packets, followed by the self-signatures of all."""
    key_and_uid = binary(keys[0])[: 2 + 51 + 2 + 38]
    return key_and_uid + b"".join(binary(key)[len(key_and_uid) :][: 2 + 150] for key in keys)


@pytest.mark.parametrize("order", [(LIMITED, RENEWED), (RENEWED, LIMITED)])
def test_the_newest_self_signature_counts(order: tuple[bytes, bytes]) -> None:
    assert openpgp.keys(with_signatures(*order)) == [RENEWED_FACT]


def test_a_signature_of_another_key_does_not_count() -> None:
    key_and_uid = binary(FOREVER)[: 2 + 51 + 2 + 38]
    foreign = binary(RENEWED)[2 + 51 + 2 + 38 :][: 2 + 150]
    assert openpgp.keys(key_and_uid + foreign) == [FOREVER_FACT]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no OpenPGP public key"),
        (b"<html>404</html>", "no OpenPGP public key"),
        (FOREVER[:-40], "cut off"),
        (binary(FOREVER)[:-1], "cut off"),
        (FOREVER.replace(b"mDMEaw7m", b"mDME!w7m"), "not base64"),
        (b"\x00" * 8 + b"KBXf" + b"\x00" * 20, "keybox"),
        (bytes([0xC5, 1, 0]), "secret"),
        (bytes([0xCD, 3]) + b"uid", "no OpenPGP public key"),
        (bytes([0xC6, 6, 3, 0, 0, 0, 0, 0]), "no OpenPGP public key"),
        (bytes([0xC6]), "cut off"),
        (bytes([0xC6, 0xFF, 0, 0]), "cut off"),
    ],
)
def test_what_is_no_key_says_so(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        openpgp.keys(data)


def test_newer_key_versions_have_longer_fingerprints() -> None:
    for version in (5, 6):
        body = bytes([version, 0, 0, 0, 0, 27, 0, 0, 0, 1, 0])
        (key,) = openpgp.keys(bytes([0xC6, len(body)]) + body)
        assert len(str(key["fingerprint"])) == 64
        assert str(key["fingerprint"]).startswith(str(key["key_id"]))


def only_value_error(data: bytes) -> None:
    try:
        keys = openpgp.keys(data)
    except ValueError:
        return
    assert all(len(str(key["fingerprint"])) in (40, 64) for key in keys)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_never_crash(data: bytes) -> None:
    only_value_error(data)
    only_value_error(b"\xc6" + data)


@settings(max_examples=300)
@given(st.sampled_from([FOREVER, binary(RENEWED)]), st.data())
def test_a_damaged_key_never_crashes(key: bytes, data: st.DataObject) -> None:
    damaged = bytearray(key)
    for _number in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(key) - 1))] = data.draw(st.integers(0, 255))
    only_value_error(bytes(damaged))
    only_value_error(bytes(damaged)[: data.draw(st.integers(0, len(key)))])


@given(st.binary(max_size=200))
def test_an_armoured_block_of_anything_never_crashes(data: bytes) -> None:
    only_value_error(
        b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n" + base64.b64encode(data) + b"\n-----END PGP PUBLIC KEY BLOCK-----\n"
    )


@pytest.mark.skipif(shutil.which("gpg") is None, reason="GnuPG is not installed")
@pytest.mark.parametrize("algorithm", ["ed25519", "rsa2048", "nistp256"])
@pytest.mark.parametrize("lifetime", ["never", "2030-08-01"])
def test_gnupg_agrees(tmp_path: Path, algorithm: str, lifetime: str) -> None:
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet"]
    subprocess.run(
        [*gpg, "--passphrase", "", "--quick-gen-key", "Möller <m@example.test>", algorithm, "sign", lifetime],
        check=True,
        capture_output=True,
    )
    try:
        exported = subprocess.run([*gpg, "--export"], check=True, capture_output=True).stdout
        listing = subprocess.run([*gpg, "--with-colons", "--list-keys"], check=True, capture_output=True).stdout
    finally:
        subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "gpg-agent"], check=False, capture_output=True)
    (key,) = openpgp.keys(exported)
    fields = {line.split(":")[0]: line.split(":") for line in listing.decode().splitlines()}
    assert key["fingerprint"] == fields["fpr"][9]
    assert key["uids"] == [fields["uid"][9]]
    assert key["expires"] == (None if lifetime == "never" else lifetime)


@pytest.mark.parametrize("data", [FOREVER, binary(RENEWED), FOREVER + LIMITED, b"noise\n" + LIMITED + b"noise\n"])
def test_armour_keeps_the_keys(data: bytes) -> None:
    text = openpgp.armour(data).encode()
    assert openpgp.keys(text) == openpgp.keys(data)
    assert openpgp.armour(text).encode() == text


def test_armour_writes_what_gnupg_wrote() -> None:
    assert openpgp.armour(binary(FOREVER)).encode() == FOREVER


def test_keyrings(make_host: MakeHost) -> None:
    host = make_host(
        {
            "/etc/apt/keyrings/rocm.asc": LIMITED + FOREVER,
            "/etc/apt/keyrings/other.asc": FOREVER,
            "/usr/share/keyrings/amdrocm.gpg": binary(RENEWED),
            "/usr/share/keyrings/radeon.gpg": "not a key",
            "/srv/used.gpg": FOREVER,
            "/etc/apt/trusted.gpg.d/other.asc": FOREVER,
        }
    )
    used = ["/srv/used.gpg", "/etc/apt/keyrings/rocm.gpg", "/etc/apt/keyrings/rocm.asc", "(inline key)"]
    found = [
        (ring["path"], ring["fingerprints"], ring["expires"], ring["form"]) for ring in keyrings.gather(host, used)
    ]
    forever, limited = FOREVER_FACT["fingerprint"], LIMITED_FACT["fingerprint"]
    assert found == [
        ("/srv/used.gpg", [forever], None, "armored"),
        ("/etc/apt/keyrings/rocm.gpg", [], None, "missing"),
        ("/etc/apt/keyrings/rocm.asc", [limited, forever], "2025-01-30", "armored"),
        ("/usr/share/keyrings/amdrocm.gpg", [limited], "2036-08-31", "binary"),
        ("/usr/share/keyrings/radeon.gpg", [], None, "invalid"),
    ]


def test_amds_key_among_the_trusted_ones(make_host: MakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyrings, "AMD_FINGERPRINTS", (FOREVER_FACT["fingerprint"],))
    host = make_host(
        {
            "/etc/apt/trusted.gpg": binary(LIMITED) + binary(FOREVER),
            "/etc/apt/trusted.gpg.d/other.asc": LIMITED,
            "/etc/apt/trusted.gpg.d/broken.gpg": "nothing",
        }
    )
    assert [ring["path"] for ring in keyrings.gather(host, [])] == ["/etc/apt/trusted.gpg"]
