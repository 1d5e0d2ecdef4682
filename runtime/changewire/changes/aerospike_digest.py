"""The digest by which an Aerospike server addresses a record, computed from set and user key."""

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

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
        set: Name of the set; None or empty where the record is in none.
        user_key: The key by which the application addresses the record.

    Raises:
        ValueError: The key is no integer of 64 bits, float, text or bytes (`True` is none), or
            text has half of a surrogate pair.
        ImportError: pycryptodome is not installed.
    """
    try:
        hashed = (set or "").encode() + _key_bytes(user_key)
    except (KeyError, struct.error):
        text = "a user key is an integer of 64 bits, a float, text or bytes"
        raise ValueError(text) from None
    return ripemd160(hashed)


def _key_bytes(user_key: Any) -> bytes:
    kind, bytes_of = _KEY_BYTES[type(user_key)]
    return kind + bytes_of(user_key)


def ripemd160(data: bytes) -> bytes:
    """Return the RIPEMD-160 hash of bytes.

    Raises:
        ImportError: pycryptodome is not installed.
    """
    # hashlib has RIPEMD-160 only where the OpenSSL below it was built with it.
    try:
        from Crypto.Hash import RIPEMD160
    except ImportError as error:
        text = 'digests need pycryptodome: pip install "changewire[digest]"'
        raise ImportError(text, name=error.name) from error
    return RIPEMD160.new(data).digest()
