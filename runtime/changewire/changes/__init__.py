"""The third room: a model to the changes that it represents. One adapter for each format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from changewire.changes.adapters import (
    GROUP,
    Adapter,
    change_row,
    deleted_row,
    format_of_model,
    has_adapter,
)
from changewire.changes.decode_options import (
    ROW_IMAGES,
    DecodeKeywords,
    DecodeOptions,
    ImagesByTable,
    RowImage,
    Tombstones,
)
from changewire_messages.change import Change

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from changewire.changes.sources import KeysByTable
from changewire.changes.vendors import VendorKeywords, with_defaults

__all__ = [
    "ROW_IMAGES",
    "Adapter",
    "DecodeKeywords",
    "DecodeOptions",
    "RowImage",
    "Tombstones",
    "change_row",
    "changes",
    "delete_by_key",
]


def changes(
    message: object,
    record_key: bytes | None = None,
    key_columns: Sequence[str] | KeysByTable | None = None,
    row_image: RowImage | ImagesByTable = "full",
    *,
    strip_registry_prefix: bool = False,
    **vendor: Unpack[VendorKeywords],
) -> list[Change]:
    """Return the changes that a message represents, in their order.

    Args:
        message: A model of a message, from `decode`.
        record_key: The key of the Kafka record, for formats whose messages do not name the row.
        key_columns: Columns that name the row, instead of those that the message or its format
            says; or a mapping, as for `DecodeKeywords`.
        row_image: Part of a row that a write has; or a mapping, as for `DecodeKeywords`.
        strip_registry_prefix: Whether to remove the 5 bytes of a schema registry before the key.
        **vendor: Options for the messages of one vendor, see `VendorKeywords`.

    Raises:
        DecodeError: The message contradicts itself.
        TypeError: It is not a model of a message, or there is no such option.
        ValueError: An option does not fit the format, or has a value that is not allowed, or the
            format, of another package, has no adapter.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
    """
    kind: Any = type(message)
    name = format_of_model(kind)
    if not has_adapter(name):
        raise ValueError(
            f"format {name} has no adapter: no package names one in the entry point group {GROUP}"
        )
    options = DecodeOptions(
        name,
        row_image,
        key_columns,
        strip_registry_prefix=strip_registry_prefix,
        **with_defaults(vendor),  # refuses options of records
    )
    key = None if record_key is None else options.stripped(record_key)
    return [change_row(message, key, options).change()]


def delete_by_key(
    record_key: bytes, *, format: str, key_columns: Sequence[str] | None = None
) -> Change:
    """Return the delete that a Kafka record without value is: a tombstone of a compacted topic.

    It has no time and no sequence. Keys of some formats do not say the table.

    Args:
        record_key: The key of the record.
        format: Public name of the format.
        key_columns: Columns that name the row; without them all that the key has.

    Raises:
        DecodeError: The key does not name a row; the code is ``invalid-record-key``.
        ValueError: There is no such format, or keys of its records do not name rows.
    """
    return deleted_row(
        record_key, DecodeOptions(format, key_columns=key_columns, tombstones="delete")
    ).change()
