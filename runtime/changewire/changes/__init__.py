"""The third room: a model to the changes that it stands for. One adapter for each vendor."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from changewire.changes.change_row import ChangeRow
from changewire.changes.options import IMAGES, Digests, Image, check_options
from changewire.codec import codec
from changewire_messages import FORMATS
from changewire_messages.change import Change, Source

__all__ = ["IMAGES", "Digests", "Image", "change_row", "changes", "empty_message"]

Names = Sequence[str] | None
Adapter = Callable[[Any, bytes | None, Names, str, Names], ChangeRow]
"""From a message, the record key, key columns, the image and column families to its change."""


def changes(
    message: object,
    record_key: bytes | None = None,
    keys: Sequence[str] | None = None,
    image: Image = "full",
    families: Sequence[str] | None = None,
    *,
    digests: Digests = "off",
) -> list[Change]:
    """Return the changes that a message stands for, in their order.

    Args:
        message: A model of a message, from `decode`.
        record_key: The key of the Kafka record, for formats whose messages do not name the row.
        keys: Columns that name the row, in place of those that the message or its format says.
            Aerospike rows are named by their digest.
        image: What the message holds of a row after a write.
        families: Column families of an HBase table, to take names of its columns apart; other
            tables have none.
        digests: ``count`` and ``refuse`` compare the digest of an Aerospike record with that of its
            set and user key, and count or refuse a record where they differ.

    Raises:
        DecodeError: The message contradicts itself.
        TypeError: It is no model of a message.
        ValueError: `keys`, `families` or `digests` does not fit the format, or `image` or `digests`
            is unknown.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
    """
    kind: Any = type(message)
    check_options(_adapter(kind)[0], image, keys, families, digests)
    found = change_row(
        message, record_key, keys=keys, image=image, families=families, digests=digests
    )
    return [found.change()]


def change_row(
    message: object,
    record_key: bytes | None,
    *,
    keys: Names,
    image: str,
    families: Names,
    digests: str,
) -> ChangeRow:
    """Return the change of a message, for options that `check_options` has seen."""
    kind: Any = type(message)
    name, adapter = _adapter(kind)
    found = adapter(message, record_key, keys, image, families)
    if digests != "off":
        _check_digest(found, name, digests)
    return found


def _check_digest(change: ChangeRow, format: str, digests: str) -> None:
    from changewire.changes.digest_check import check_digest

    check_digest(change, format, digests)


@cache
def _adapter(kind: Any) -> tuple[str, Adapter]:
    """Return the format that a model belongs to, and its adapter, imported when it is needed."""
    for name, adapter in _ADAPTERS.items():
        if kind.__module__ == f"{FORMATS[name]}.models" and kind in codec(name).models:
            return name, adapter()
    text = f"{kind.__name__} is no model of a message"
    raise TypeError(text)


def _aerospike() -> Adapter:
    from changewire.changes.aerospike import aerospike_changes

    return aerospike_changes


def _aerospike_msgpack() -> Adapter:
    from changewire.changes.aerospike_msgpack import aerospike_msgpack_changes

    return aerospike_msgpack_changes


def _dataworks() -> Adapter:
    from changewire.changes.dataworks import dataworks_changes

    return dataworks_changes


def _lindorm() -> Adapter:
    from changewire.changes.lindorm import lindorm_changes

    return lindorm_changes


_ADAPTERS: Mapping[str, Callable[[], Adapter]] = {
    "aerospike-json": _aerospike,
    "aerospike-msgpack": _aerospike_msgpack,
    "dataworks-json": _dataworks,
    "lindorm-json": _lindorm,
}


def empty_message(format: str, *, null_value: bool) -> ChangeRow:
    """Return the control event of a message that holds nothing.

    Args:
        format: Public name of the format.
        null_value: Whether the Kafka record has no value (a tombstone); otherwise the message is
            a batch without elements.
    """
    system = format.partition("-")[0]
    source = Source(system=system, database=None, schema=None, table=None)
    return ChangeRow(op="empty", source=source, attributes={"null_value": null_value})
