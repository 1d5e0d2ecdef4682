"""The third room: a model to the changes that it stands for. One adapter for each format."""

from collections.abc import Sequence
from typing import Any

from changewire.changes.adapters import (
    GROUP,
    Adapter,
    change_row,
    deleted_row,
    format_of_model,
    has_adapter,
)
from changewire.changes.decode_options import (
    IMAGES,
    DecodeKeywords,
    DecodeOptions,
    Digests,
    Image,
    NullValue,
)
from changewire_messages.change import Change

__all__ = [
    "IMAGES",
    "Adapter",
    "DecodeKeywords",
    "DecodeOptions",
    "Digests",
    "Image",
    "NullValue",
    "change_row",
    "changes",
    "delete_by_key",
]


def changes(
    message: object,
    record_key: bytes | None = None,
    keys: Sequence[str] | None = None,
    image: Image = "full",
    families: Sequence[str] | None = None,
    *,
    digests: Digests = "off",
    time_zone: str = "UTC",
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
        time_zone: IANA name of the zone whose clocks made the dates of a DataWorks message: that of
            the task that synchronizes.

    Raises:
        DecodeError: The message contradicts itself.
        TypeError: It is no model of a message.
        ValueError: `keys`, `families`, `digests` or `time_zone` does not fit the format, or
            `image`, `digests` or `time_zone` is unknown, or the format, of another package, has no
            adapter.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
    """
    kind: Any = type(message)
    name = format_of_model(kind)
    if not has_adapter(name):
        raise ValueError(
            f"format {name} has no adapter: no package names one in the entry point group {GROUP}"
        )
    options = DecodeOptions(name, image, keys, families, digests, time_zone=time_zone)
    return [change_row(message, record_key, options).change()]


def delete_by_key(record_key: bytes, *, format: str, keys: Sequence[str] | None = None) -> Change:
    """Return the delete that a Kafka record without value is: a tombstone of a compacted topic.

    It has no time and no sequence. The key of a Lindorm record does not say the table.

    Args:
        record_key: The key of the record.
        format: Public name of the format.
        keys: Columns that name the row; without them all that the key has.

    Raises:
        DecodeError: The key does not name a row; the code is ``invalid-record-key``.
        ValueError: There is no such format, or keys of its records do not name rows.
    """
    return deleted_row(record_key, DecodeOptions(format, keys=keys, null_value="delete")).change()
