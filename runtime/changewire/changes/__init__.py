"""The third room: a model to the changes that it stands for. One adapter for each vendor."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from changewire.changes.adapters import Adapter, Names, adapter, format_of_model, has_adapter
from changewire.changes.change_row import ChangeRow
from changewire.changes.options import IMAGES, Digests, Image, NullValue, check_options
from changewire.changes.values import system_of
from changewire.codec import DecodeError
from changewire.codec.border import internal_error
from changewire_messages.change import Change, Source

__all__ = [
    "IMAGES",
    "Digests",
    "Image",
    "NullValue",
    "change_row",
    "changes",
    "empty_message",
]

_ADAPTERLESS = "its package names no function in the entry point group changewire.adapters"


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
            is unknown, or the format, of another package, has no adapter.
        ImportError: Digests are to be compared, and pycryptodome is not installed.
    """
    kind: Any = type(message)
    name = format_of_model(kind)
    if not has_adapter(name):
        raise ValueError(f"what messages of {name} mean for tables, nobody says: {_ADAPTERLESS}")
    check_options(name, image, keys, families, digests)
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
    """Return the change of a message, for options that `check_options` has seen.

    A message of a format without adapter is a control event that holds it.

    Raises:
        DecodeError: The message contradicts itself.
    """
    kind: Any = type(message)
    name, changes_of = _adapter(kind)
    try:
        found = changes_of(message, record_key, keys, image, families)
    except DecodeError:
        raise
    except Exception as error:  # noqa: BLE001 - as at the border of the codec
        raise DecodeError(name, [internal_error(error)]) from None
    if digests != "off":
        _check_digest(found, name, digests)
    return found


def _check_digest(change: ChangeRow, format: str, digests: str) -> None:
    from changewire.changes.digest_check import check_digest

    check_digest(change, format, digests)


@cache
def _adapter(kind: Any) -> tuple[str, Adapter]:
    """Return the format that a model belongs to, and its adapter."""
    name = format_of_model(kind)
    return name, adapter(name)


def empty_message(format: str, *, null_value: bool) -> ChangeRow:
    """Return the control event of a message that holds nothing.

    Args:
        format: Public name of the format.
        null_value: Whether the Kafka record has no value (a tombstone); otherwise the message is
            a batch without elements.
    """
    source = Source(system=system_of(format), database=None, schema=None, table=None)
    return ChangeRow(op="empty", source=source, attributes={"null_value": null_value})
