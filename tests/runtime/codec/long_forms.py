"""Values of MessagePack with as many bytes as they can take."""

import struct
from collections.abc import Callable
from typing import Any

import msgpack
import msgspec


def longest(value: Any) -> bytes:
    """Return the longest form of a value."""
    for kind, form in LONGEST.items():
        if type(value) is kind:
            return form(value)
    return msgspec.msgpack.encode(value)


def counted(first: bytes, data: bytes) -> bytes:
    """Return the first byte, a length of four bytes, and the data."""
    return first + len(data).to_bytes(4, "big") + data


def of_many(first: bytes, count: int, items: list[Any]) -> bytes:
    """Return the first byte, a count of four bytes, and the items in their longest form."""
    return first + count.to_bytes(4, "big") + b"".join(map(longest, items))


def _ext(value: Any) -> bytes:
    head: bytes = len(value.data).to_bytes(4, "big") + value.code.to_bytes(1, "big", signed=True)
    return b"\xc9" + head + bytes(value.data)


LONGEST: dict[type, Callable[[Any], bytes]] = {
    int: lambda v: struct.pack(">BQ", 0xCF, v) if v >= 0 else struct.pack(">Bq", 0xD3, v),
    str: lambda v: counted(b"\xdb", v.encode()),
    bytes: lambda v: counted(b"\xc6", v),
    list: lambda v: of_many(b"\xdd", len(v), v),
    dict: lambda v: of_many(b"\xdf", len(v), [part for pair in v.items() for part in pair]),
    msgpack.ExtType: _ext,
    msgspec.msgpack.Ext: _ext,
}
"""The longest form of a value of each type that has more than one."""
