"""Bytes that contain a message: behind the prefix of a schema registry, or compressed.

No message begins as such bytes do: JSON has no such first byte, and in MessagePack each is an
integer, if messages are arrays.
"""

from collections.abc import Mapping
from typing import Final

from changewire.codec.issues import Issue
from changewire.codec.wire import Data, bytes_of
from changewire.msgpack_heads import ARRAYS

PREFIX_BYTES: Final = 5
"""Of the prefix: a zero, and the id of a schema in 4 bytes."""

CODES: Final = frozenset({"compressed", "registry-framing"})
"""Codes of bytes that have a message."""

_ZERO: Final = b"\x00"
_BLANK: Final = b" \t\r\n"
_COMPRESSED: Final[Mapping[bytes, str]] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""What compressed bytes, by how they begin."""


def framing_issue(data: bytes, rule: str, what: str = "a message") -> Issue | None:
    """Return why bytes are not a message, if they contain one; None for any others."""
    if data.startswith(_ZERO) and _begins_as_message(data[PREFIX_BYTES:]):
        expected = (
            f"{what} without the {PREFIX_BYTES} bytes of a schema registry before it, which "
            "strip_registry_prefix removes"
        )
        return Issue("", "registry-framing", rule, expected)
    for magic, name in _COMPRESSED.items():
        if data.startswith(magic):
            return Issue("", "compressed", rule, f"{what} that is not compressed; this is {name}")
    return None


def without_prefix(data: Data) -> bytes:
    """Return what follows the prefix of a schema registry; bytes without one as they are."""
    data = bytes_of(data)
    is_framed = data.startswith(_ZERO) and len(data) >= PREFIX_BYTES
    return data[PREFIX_BYTES:] if is_framed else data


def _begins_as_message(data: bytes) -> bool:
    return data.lstrip(_BLANK).startswith((b"{", b"[")) or data[:1] in _ARRAY_HEADS


_ARRAY_HEADS: Final = frozenset(bytes([first]) for first in ARRAYS)
