"""Every issue of a parsed message: the first that msgspec finds in each of its parts."""

from collections.abc import Iterator
from typing import Any

import msgspec
from tests.standin import Bin, Key, dispatch

Issue = tuple[str, str, str, Any]


def errors(obj: Any, variant: str = "Message", *, closed: bool = False) -> list[Issue]:
    """Return the issues of a parsed message."""
    del closed
    return list(_CHECKS[variant](obj, ""))


def _message(obj: Any, at: str) -> Iterator[Issue]:
    arm = dispatch.arm_of(obj)
    if arm is None:
        yield at, "oneOf", "a write or a delete", obj
        return
    row = obj[2]
    yield from _key(row[0], f"{at}/2/0")
    number = row[1]
    if type(number) is not int and not (number is None and len(row) == 3):
        yield f"{at}/2/1", "type", "integer", number
    for i, item in enumerate(row[2] if len(row) == 3 else []):
        yield from _of(item, Bin, f"{at}/2/2/{i}")


def _key(obj: Any, at: str) -> Iterator[Issue]:
    yield from _of(obj, Key, at)


def _of(obj: Any, kind: type, at: str) -> Iterator[Issue]:
    try:
        msgspec.convert(obj, kind, builtin_types=(bytes,))
    except msgspec.ValidationError:
        yield at, "type", kind.__name__, obj


def _batch(obj: Any, at: str) -> Iterator[Issue]:
    for i, item in enumerate(obj):
        yield from _message(item, f"{at}/{i}")


def _key_batch(obj: Any, at: str) -> Iterator[Issue]:
    for i, item in enumerate(obj):
        yield from _key(item, f"{at}/{i}")


_CHECKS = {"Message": _message, "Batch": _batch, "Key": _key, "KeyBatch": _key_batch}
