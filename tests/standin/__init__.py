"""A family in MessagePack, written by hand as the generator would: the codec needs no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct

FORMAT: Final = "standin-msgpack"
ENCODING: Final = "msgpack"
EXACT: Final = False
ROLES: Final[Mapping[str, str]] = {
    "message": "Message",
    "batch": "Batch",
    "key": "Key",
    "key_batch": "KeyBatch",
}

Int64: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


_USER_KEYS = (int, float, str, bytes, type(None))


class Key(Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """The key of a record."""

    namespace: str
    set: str | None
    digest: Annotated[bytes, Meta(min_length=20, max_length=20)]
    user_key: Any

    def __post_init__(self) -> None:
        """Check what msgspec cannot: it has no union of text and bytes."""
        if type(self.user_key) not in _USER_KEYS:
            raise ValueError


class Bin(Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """A column, of any value."""

    name: str
    value: Any


class Row(Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """What a write holds."""

    key: Key
    gen: Int64 | None
    bins: list[Bin]


class Tombstone(Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """What a delete holds."""

    key: Key
    flags: Int64


class Write(Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """A write: three positions, the last of three."""

    version: Literal[1]
    type: Literal[1]
    row: Row


class Delete(Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """A delete: three positions, the last of two."""

    version: Literal[1]
    type: Literal[2]
    row: Tombstone


Message: TypeAlias = Write | Delete
Batch: TypeAlias = list[Message]
KeyBatch: TypeAlias = list[Key]
