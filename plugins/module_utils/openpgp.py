"""Reads OpenPGP public keys (RFC 4880 and RFC 9580), armoured or binary, with the standard library only.

Fingerprints are computed from the key material, so they can be compared with a pinned value. Signatures are
not verified: the expiry is what the newest self-signature says, which is good enough to warn, not to trust.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import re
from typing import Iterator, NamedTuple, Tuple

_BEGIN = re.compile(rb"^-----BEGIN PGP PUBLIC KEY BLOCK-----[ \t]*\r?$", re.M)
_END = re.compile(rb"^-----END PGP PUBLIC KEY BLOCK-----[ \t]*\r?$", re.M)

_SIGNATURE, _PUBLIC_KEY, _USER_ID, _PUBLIC_SUBKEY = 2, 6, 13, 14
_SECRET = (5, 7)
_CERTIFICATIONS = (0x10, 0x11, 0x12, 0x13)
_DIRECT_KEY = 0x1F
_SUB_CREATED, _SUB_KEY_LIFETIME, _SUB_ISSUER, _SUB_ISSUER_FINGERPRINT = 2, 9, 16, 33


class _Signature(NamedTuple):
    kind: int
    created: int
    lifetime: int
    issuers: Tuple[bytes, ...]


class _Key:
    """One primary key while its packets are read."""

    def __init__(self, body: bytes) -> None:
        self.fingerprint, self.key_id, self.created = _identify(body)
        self.uids: list[str] = []
        self.direct: _Signature | None = None
        self.certified: dict[int, _Signature] = {}

    def add_signature(self, signature: _Signature) -> None:
        """Keep the newest self-signature of the key and of each user id."""
        if signature.issuers and not any(issuer in (self.key_id, self.fingerprint) for issuer in signature.issuers):
            return
        if signature.kind == _DIRECT_KEY and _newer(signature, self.direct):
            self.direct = signature
        elif signature.kind in _CERTIFICATIONS and self.uids:
            index = len(self.uids) - 1
            if _newer(signature, self.certified.get(index)):
                self.certified[index] = signature

    def expires(self) -> int | None:
        """Seconds since 1970, or None for never.

        As GnuPG decides: the key's own signature first, else the newest user id that sets a lifetime.
        """
        if self.direct and self.direct.lifetime:
            return self.created + self.direct.lifetime
        limited = [signature for signature in self.certified.values() if signature.lifetime]
        if not limited:
            return None
        return self.created + max(limited, key=lambda signature: signature.created).lifetime


def _newer(signature: _Signature, other: _Signature | None) -> bool:
    return other is None or signature.created >= other.created


def _identify(body: bytes) -> tuple[bytes, bytes, int]:
    """(fingerprint, key id, creation time) of a public key packet.

    Raises ValueError for a version that has no fingerprint of this kind (3 and older) or a cut packet.
    """
    version = body[0] if body else 0
    if version not in (4, 5, 6) or len(body) < 6:
        raise ValueError("OpenPGP key of version %d is not supported" % version)
    created = int.from_bytes(body[1:5], "big")
    if version == 4:
        # SHA-1 is what names a version 4 key; it protects nothing here.
        digest = hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).digest()
        return digest, digest[-8:], created
    start = b"\x9a" if version == 5 else b"\x9b"
    digest = hashlib.sha256(start + len(body).to_bytes(4, "big") + body).digest()
    return digest, digest[:8], created


def _decode(text: bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the armoured OpenPGP key holds a line that is not base64") from None


def _unarmour(block: bytes) -> bytes:
    """Packets of one armoured block, given without its first and last line. Raises ValueError."""
    lines = [line.strip() for line in block.strip(b"\r\n").splitlines()]
    # Headers ("Version: ...") end at an empty line; some writers leave both out.
    if b"" in lines and all(b": " in line or line.endswith(b":") for line in lines[: lines.index(b"")]):
        lines = lines[lines.index(b"") + 1 :]
    # The checksum line is left out of the reading: RFC 9580 forbids refusing a key for it, and apt ignores it too.
    if lines and lines[-1].startswith(b"="):
        lines.pop()
    return _decode(b"".join(lines))


def is_armoured(data: bytes) -> bool:
    """Whether the bytes hold an armoured public key block."""
    return _BEGIN.search(data) is not None


def _binary(data: bytes) -> bytes:
    """All packets of the input. Raises ValueError when it is no OpenPGP data."""
    begin = _BEGIN.search(data)
    if begin is None:
        if data[8:12] == b"KBXf":
            raise ValueError("this is a GnuPG keybox, which apt cannot read; export the key from it")
        if not data or not data[0] & 0x80:
            raise ValueError("no OpenPGP public key in it")
        return data
    packets = []
    while begin is not None:
        end = _END.search(data, begin.end())
        if end is None:
            raise ValueError("the armoured OpenPGP key is cut off")
        packets.append(_unarmour(data[begin.end() : end.start()]))
        begin = _BEGIN.search(data, end.end())
    return b"".join(packets)


def _new_length(data: bytes, at: int) -> tuple[int, int, bool]:
    """(length, position after it, whether more parts follow) of a new-format length."""
    first = data[at]
    if first < 192:
        return first, at + 1, False
    if first < 224:
        return ((first - 192) << 8) + data[at + 1] + 192, at + 2, False
    if first == 255:
        return int.from_bytes(_exactly(data, at + 1, 4), "big"), at + 5, False
    return 1 << (first & 0x1F), at + 1, True


def _exactly(data: bytes, at: int, size: int) -> bytes:
    part = data[at : at + size]
    if len(part) != size:
        raise ValueError("the OpenPGP key is cut off")
    return part


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(tag, body) of every packet. Raises ValueError for a broken frame, IndexError for a cut length."""
    at = 0
    while at < len(data):
        head = data[at]
        if not head & 0x80:
            raise ValueError("damaged OpenPGP data at byte %d" % at)
        at += 1
        if head & 0x40:
            tag, body, more = head & 0x3F, b"", True
            while more:
                size, at, more = _new_length(data, at)
                body += _exactly(data, at, size)
                at += size
        else:
            tag, kind = (head >> 2) & 0x0F, head & 3
            # Kind 3 has no length: the packet goes on to the end.
            width = (1, 2, 4, 0)[kind]
            size = int.from_bytes(_exactly(data, at, width), "big") if width else len(data) - at
            body = _exactly(data, at + width, size)
            at += width + size
        yield tag, body


def _subpackets(area: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(area):
        size, at, _more = _new_length(area, at) if area[at] < 224 or area[at] == 255 else (0, at + 1, False)
        if size < 1 or at + size > len(area):
            return
        # The top bit only marks a subpacket as critical.
        yield area[at] & 0x7F, area[at + 1 : at + size]
        at += size


def _signature(body: bytes) -> _Signature | None:
    """The fields of a signature that matter here; None when it is damaged or of an unknown version."""
    if len(body) < 10:
        return None
    if body[0] == 3:
        return _Signature(body[2], int.from_bytes(body[3:7], "big"), 0, (body[7:15],))
    if body[0] not in (4, 5, 6):
        return None
    width = 4 if body[0] == 6 else 2
    hashed_end = 4 + width + int.from_bytes(body[4 : 4 + width], "big")
    hashed = body[4 + width : hashed_end]
    rest_start = hashed_end + width
    rest = body[rest_start : rest_start + int.from_bytes(body[hashed_end:rest_start], "big")]
    created = lifetime = 0
    issuers: list[bytes] = []
    try:
        for kind, value in _subpackets(hashed):
            if kind == _SUB_CREATED:
                created = int.from_bytes(value[:4], "big")
            elif kind == _SUB_KEY_LIFETIME:
                lifetime = int.from_bytes(value[:4], "big")
        for kind, value in [*_subpackets(hashed), *_subpackets(rest)]:
            if kind == _SUB_ISSUER:
                issuers.append(value)
            elif kind == _SUB_ISSUER_FINGERPRINT:
                issuers.append(value[1:])
    except IndexError:
        return None
    return _Signature(body[1], created, lifetime, tuple(issuers))


def _collect(data: bytes) -> list[_Key]:
    found: list[_Key] = []
    key: _Key | None = None
    on_primary = False
    for tag, body in _packets(data):
        if tag in _SECRET:
            raise ValueError("this is a secret OpenPGP key; export the public key instead")
        if tag == _PUBLIC_KEY:
            try:
                key = _Key(body)
                found.append(key)
            except ValueError:
                # An old key in a keyring does not spoil the others.
                key = None
            on_primary = True
        elif tag == _PUBLIC_SUBKEY:
            on_primary = False
        elif key is not None and tag == _USER_ID:
            key.uids.append(body.decode("utf-8", "replace"))
        elif key is not None and tag == _SIGNATURE and on_primary:
            signature = _signature(body)
            if signature is not None:
                key.add_signature(signature)
    return found


def _date(seconds: int) -> str:
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%d")


def keys(data: bytes) -> list[dict[str, object]]:
    """Primary keys of a file, in its order.

    Each is {fingerprint: upper-case hex, key_id: 16 hex digits, created and expires: 'YYYY-MM-DD' in UTC
    (expires None for never), uids: [text]}. Raises ValueError, and nothing else, when no key can be read.
    """
    try:
        found = _collect(_binary(data))
    except IndexError:
        raise ValueError("the OpenPGP key is cut off") from None
    if not found:
        raise ValueError("no OpenPGP public key in it")
    result: list[dict[str, object]] = []
    for key in found:
        expires = key.expires()
        result.append(
            {
                "fingerprint": key.fingerprint.hex().upper(),
                "key_id": key.key_id.hex().upper(),
                "created": _date(key.created),
                "expires": None if expires is None else _date(expires),
                "uids": key.uids,
            }
        )
    return result


def _crc24(data: bytes) -> int:
    """The checksum of armoured text, which older readers still want to see."""
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _bit in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1864CFB
    return crc


def armour(data: bytes) -> str:
    """The packets of the input in one fresh armoured block, so that what was read is exactly what gets written.

    Text around the blocks of the input, and whatever another reader might see in it, is gone. Raises ValueError.
    """
    packets = _binary(data)
    text = base64.b64encode(packets).decode("ascii")
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    checksum = base64.b64encode(_crc24(packets).to_bytes(3, "big")).decode("ascii")
    begin, end = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
    return "\n".join([begin, "", *lines, "=" + checksum, end, ""])
