"""Messages with something in them changed: most are still messages, and many hold what is rare."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

import msgpack

_RAW: Final = re.compile(r'"@@([^"@]+)@@"')
"""Stands for a number in JSON text that no Python number is written as."""

NUMBERS: Final = ("1e400", "-1E-400", "0.1234567890123456789012345", "9223372036854775808", "1.0")
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 7, 2**31, 2**63 - 1, -(2**63), 2.5, 1e308, 5e-324),
    *("", "x", "1004", "1.100000", "-0.10", "1E+400", "0.1234567890123456789", "NaN", "AAE="),
    *("2024-01-02", "2024-01-02T03:04:05Z", "\u00e9\u0000\u2028'\"\\", "x" * 300),
    *([], [1], [None, "a"], {}, {"a": 1}, {"": None}),
)
NAMES: Final = (
    "",
    "ID",
    "key",
    "row",
    "_changewire",
    "a b`c;${env:HOME}{x}'",
    "a.b",
    "\u00fc",
    "0",
)
TYPES: Final = (
    *("LONG", "DOUBLE", "STRING", "DATE", "BYTES", "BOOLEAN", "GEOMETRY"),
    *("int8", "int32", "int64", "float", "double", "string", "bytes", "boolean", "struct", "map"),
)

FOCUS: Final = frozenset({"after", "before", "bins", "dataColumn", "fields", "key", "primaryKey"})
"""Members of messages that hold rows, keys and types: four of five changes are made below them."""

_Place = tuple[Any, Any]
"""An object or array, and a name or index in it."""


def mutated_json(messages: Sequence[bytes], number: int, seed: int) -> Iterator[bytes]:
    """Yield JSON messages with one to three changes each, the same ones for a seed."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    parsed = [json.loads(message) for message in messages]
    for _ in range(number):
        message = json.loads(json.dumps(draw.choice(parsed)))
        for _ in range(draw.choice((1, 1, 2, 3))):
            message = _changed(message, draw, _json_value)
        text = _RAW.sub(lambda found: found[1], json.dumps(message, ensure_ascii=False))
        yield _damaged(text.encode("utf-8", "surrogatepass"), draw)


def mutated_msgpack(messages: Sequence[bytes], number: int, seed: int) -> Iterator[bytes]:
    """Yield MessagePack messages likewise."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    for _ in range(number):
        message = _unpacked(draw.choice(messages))
        for _ in range(draw.choice((1, 1, 2, 3))):
            message = _changed(message, draw, _msgpack_value)
        yield _damaged(msgpack.packb(message, strict_types=False), draw)


def _unpacked(message: bytes) -> Any:
    """Return a message as lists and dictionaries; a map with keys that these lack is pairs."""
    return msgpack.unpackb(message, strict_map_key=False, object_pairs_hook=_map)


def _map(pairs: list[tuple[Any, Any]]) -> Any:
    is_plain = all(isinstance(key, (str, int, bytes)) for key, _ in pairs)
    return dict(pairs) if is_plain else [[*pair] for pair in pairs]


def _damaged(message: bytes, draw: random.Random) -> bytes:
    """Return a message, in one of twenty with a byte changed or its end cut off."""
    place = draw.randrange(len(message)) if message else 0
    what = draw.randrange(40)
    if what == 0:
        return message[:place]
    if what == 1:
        return message[:place] + bytes([draw.randrange(256)]) + message[place + 1 :]
    return message


def _changed(message: Any, draw: random.Random, values: Callable[[random.Random], Any]) -> Any:
    """Return a message with one change."""
    places = [*_places(message)]
    if not places:
        return values(draw)
    rows = [place for place, is_row in places if is_row]
    held, name = draw.choice(rows if rows and draw.randrange(5) else [one for one, _ in places])
    value = held[name]
    what = draw.choice(_OPERATIONS)
    if what == "type" and isinstance(held, dict) and name == "type":
        held[name] = draw.choice(TYPES)
    elif what == "drop":
        del held[name]
    elif what == "rename" and isinstance(held, dict):
        held[draw.choice(NAMES)] = held.pop(name)
    elif what == "add" and isinstance(held, dict):
        held[draw.choice(NAMES)] = values(draw)
    elif what == "text" and isinstance(value, (int, float)):
        held[name] = str(value)
    else:
        held[name] = values(draw)
    return message


_OPERATIONS: Final = ("drop", "rename", "add", "type", "text", "text", "value", "value", "value")


def _json_value(draw: random.Random) -> Any:
    return deepcopy(draw.choice((*VALUES, *(f"@@{number}@@" for number in NUMBERS))))


def _msgpack_value(draw: random.Random) -> Any:
    extensions = (
        msgpack.ExtType(7, b"\xac\xed"),
        msgpack.Timestamp(253402300799, 999_999_999),
        b"\x00\xff",
    )
    return deepcopy(draw.choice((*VALUES, *extensions, 2**64 - 1, float("nan"))))


def _places(message: Any, *, is_row: bool = False) -> Iterator[tuple[_Place, bool]]:
    """Yield every member and item of a message, and whether it is below one of `FOCUS`."""
    if not isinstance(message, (dict, list)):
        return
    names: Any = [*message] if isinstance(message, dict) else range(len(message))
    for name in names:
        yield (message, name), is_row
        yield from _places(message[name], is_row=is_row or name in FOCUS)
