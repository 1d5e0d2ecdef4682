"""Kafka records without value, as the deletes that they are on a compacted topic."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from changewire.changes.change_row import ChangeRow
from changewire.changes.options import check_null_value, check_options
from changewire.codec import DecodeError, Issue, codec
from changewire_messages.change import Change

_Delete = Callable[[bytes, Sequence[str] | None], ChangeRow]


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
    codec(format)
    check_null_value(format, "delete")
    check_options(format, "full", keys, None, "off")
    return deleted_row(record_key, format=format, keys=keys).change()


def deleted_row(record_key: bytes, *, format: str, keys: Sequence[str] | None) -> ChangeRow:
    """Return what `delete_by_key` does, for options that were checked, as columns hold it.

    Raises:
        DecodeError: The key does not name a row.
    """
    try:
        return _DELETES[format](format)(record_key, keys)
    except DecodeError as error:
        raise DecodeError(format, [_invalid_key(error.issues[0])]) from None


def _invalid_key(issue: Issue) -> Issue:
    """Return the issue of a record, for one whose place is in its key."""
    place = f" at {issue.place} of it" if issue.pointer else ""
    expected = f"a record key that names a row, with {issue.expected}{place}"
    return Issue("", "invalid-record-key", "null_value", expected, issue.actual, issue.actual_type)


def _aerospike(format: str) -> _Delete:
    from changewire.changes.aerospike import aerospike_delete

    return partial(aerospike_delete, format)


def _lindorm(format: str) -> _Delete:  # noqa: ARG001 - it has one encoding
    from changewire.changes.lindorm import lindorm_delete

    return lindorm_delete


_DELETES: Final[Mapping[str, Callable[[str], _Delete]]] = {
    "aerospike-json": _aerospike,
    "aerospike-msgpack": _aerospike,
    "lindorm-json": _lindorm,
}
"""What makes the deletes of a format; its adapter is imported when it is first asked for."""
