"""What a user writes; mypy and pyright check it against the installed package, both strict."""

from __future__ import annotations

from typing import Any

import msgspec

import changewire as cw
from changewire import aerospike_json


def ages(lines: list[bytes]) -> dict[str, int]:
    """Return the bin ``age`` of each user, by user key."""
    found: dict[str, int] = {}
    codec = cw.codec("aerospike-json")
    for line in lines:
        for element in codec.decode_all(line):
            if isinstance(element, cw.Rejection):
                raise SystemExit(f"{element.code} at {element.pointer}: {element.message}")
            message: aerospike_json.Message = element
            if isinstance(message, aerospike_json.Write):
                for item in message.bins:
                    if isinstance(item, aerospike_json.IntBin) and item.name == "age":
                        found[str(message.key.user_key)] = item.value
            elif message.key.user_key is not None:
                found.pop(str(message.key.user_key), None)
    return found


def tables(message: aerospike_json.Message) -> set[str | None]:
    """Return the tables that a message changes."""
    return {
        change.source.table for change in cw.changes(message, row_image="patch", time_zone="UTC")
    }


def producer(name: str, value: int) -> bytes:
    """Return a message that every reader accepts."""
    key = aerospike_json.Key(namespace="shop", set="users", digest=bytes(20), user_key=name)
    age = aerospike_json.IntBin(name="age", value=value)
    message = aerospike_json.Write(key=key, gen=1, exp=0, lut=None, bins=[age])
    try:
        return cw.encode(message)
    except cw.EncodeError as error:
        problems: list[cw.Issue] = error.issues
        raise SystemExit(
            "; ".join(issue.sentence(show_values=True) for issue in problems)
        ) from error


def reason(data: bytes) -> str:
    """Return why a message is refused; empty where it is not."""
    try:
        cw.decode(data, format="aerospike-json")
    except cw.DecodeError as error:
        code: str = error.code
        offset: int | None = error.byte_offset
        return f"{code} at {error.pointer or offset}"
    return ""


class User(msgspec.Struct):
    """A model as `changewire schema generate` makes them of row schemas."""

    name: str


def typed_rows(changes: list[cw.Change]) -> list[User]:
    """Return the rows of changes, as a model."""
    return [cw.row(change.after, User) for change in changes if change.after is not None]


def drafted(values: list[bytes]) -> dict[str, Any]:
    """Return the draft of a row schema."""
    draft: cw.Draft = cw.infer(values, format="lindorm-json", table="shop.users")
    return draft.schema if draft.rows > draft.rejected else {}
