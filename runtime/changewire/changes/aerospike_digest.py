"""The digest by which an Aerospike server addresses a record: computed from set and user key."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from changewire.changes.change_row import ChangeRow
from changewire.changes.values import base64_bytes
from changewire.codec import DecodeError, Issue, codec_of, encoding_of
from changewire.codec.msgpack_values import pointer_of
from changewire.codec.places import place_in
from changewire.extras import install

KEY_COLUMN: Final = "aerospike_digest"
"""Column that has the digest. Bin names are shorter, so no bin can have this name."""

MISMATCH: Final = "digest-mismatch"
"""Leniency, and code of an issue."""

_KEY_BYTES: Final[Mapping[type, tuple[bytes, Callable[[Any], bytes]]]] = {
    int: (b"\x01", struct.Struct(">q").pack),
    float: (b"\x02", struct.Struct(">d").pack),
    str: (b"\x03", str.encode),
    bytes: (b"\x04", bytes),
}
"""For each type of a user key its type byte, and what gives the bytes that are hashed."""


def digest(set: str | None, user_key: float | str | bytes) -> bytes:
    """Return the digest of a record: 20 bytes.

    It is RIPEMD-160 of the set name, a byte for the type of the key, and the key: an integer as 8
    bytes, signed and big-endian, a float as binary64 big-endian, text as UTF-8, bytes as they are.
    The namespace has no part in it. The rule is that of Aerospike's clients (``Crypto.java`` and
    ``Value.java`` of the Java client); their published digests have no float among them.

    Args:
        set: Name of the set; None or empty if the record is in none.
        user_key: The key by which the application addresses the record.

    Raises:
        ValueError: The key is not an integer of 64 bits, float, text or bytes (nor is `True`), or
            text has half of a surrogate pair.
        ImportError: pycryptodome is not installed.
    """
    try:
        key: Any = user_key
        kind, bytes_of = _KEY_BYTES[type(key)]
        hashed = (set or "").encode() + kind + bytes_of(key)
    except (KeyError, struct.error):
        raise ValueError("a user key is an integer of 64 bits, a float, text or bytes") from None
    return ripemd160(hashed)


def ripemd160(data: bytes) -> bytes:
    """Return the RIPEMD-160 hash of bytes."""
    # hashlib has RIPEMD-160 only where the OpenSSL below it was built with it.
    try:
        from Crypto.Hash import RIPEMD160
    except ImportError as error:
        text = f"digests need pycryptodome: {install('digest')}"
        raise ImportError(text, name=error.name) from error
    return RIPEMD160.new(data).digest()


def check_digest(
    change: ChangeRow, message: Struct, path_to_key: Sequence[str], digests: str
) -> None:
    """Compare the digest of a record with that of its set and user key (see `digest`).

    If that is only counted, the change gets the leniency ``digest-mismatch``. A record without
    user key is not checked, and neither is a delete without set: the server ships no set with some
    deletes.
    """
    if digests == "off":
        return
    found = change.attributes
    set_name, user_key = found["set"], found["user_key"]
    if user_key is None or (set_name is None and change.op == "delete"):
        return
    stored = change.key[KEY_COLUMN] if change.key else None
    name = codec_of(message).format
    if any(digest(set_name, key) == stored for key in _user_keys(user_key, name)):
        return
    if digests == "warn":
        found["leniencies"] = [MISMATCH]
        return
    set_at, digest_at, key_at = (
        pointer_of(place_in(message, *path_to_key, name)) for name in ("set", "digest", "user_key")
    )
    expected = f"the digest of set and user key, which are at {set_at} and {key_at}"
    raise DecodeError(name, [Issue(digest_at, MISMATCH, "digest", expected, stored)])


def _user_keys(user_key: Any, format: str) -> Iterator[Any]:
    """Yield what a user key may be: Base64 text in JSON may represent bytes."""
    yield user_key
    if type(user_key) is str and encoding_of(format) == "json":
        data = base64_bytes(user_key)
        if data is not None:
            yield data
