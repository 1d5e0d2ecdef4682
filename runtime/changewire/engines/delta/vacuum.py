"""Tombstones that are no longer needed, removed."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Final

from changewire.engines.delta.columns import TOMBSTONES
from changewire.engines.delta.queries import read
from changewire.engines.delta.tables import NEXT_VERSION, check_path, opened, reported
from changewire.engines.kept import SUFFIX
from changewire.engines.retries import retried
from changewire.tables.names import beside

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND: Final = timedelta(microseconds=1)


def vacuum(target: str, *, older_than: datetime) -> int:
    """Remove the tombstones of a table; return how many.

    What is older than a delete and comes after its tombstone was removed brings the row back.

    Args:
        target: Folder of the table.
        older_than: Tombstones that were written before it go; it has a time zone.

    Raises:
        ValueError: The time has no zone, or delta-rs does not read such a path.
        OutputError: There is no such table, or it is not for delta-rs to write.
        ConflictError: Other writers changed the tombstones again and again.
    """
    if older_than.tzinfo is None:
        raise ValueError("older_than has no time zone")
    check_path(target)
    path = beside(target, SUFFIX)
    # As a number: delta-rs compares times of one unit and zone alone, and its text has another one.
    is_old = f"CAST(since AS BIGINT) < {(older_than - _EPOCH) // _MICROSECOND}"

    def remove() -> int:
        tombstones = opened(path, TOMBSTONES)
        (found,) = read(tombstones, f"SELECT count(*) AS number FROM held WHERE {is_old}")  # noqa: S608
        with reported(path):
            tombstones.delete(is_old, commit_properties=NEXT_VERSION)
        return int(found["number"])

    return retried(path, remove)
