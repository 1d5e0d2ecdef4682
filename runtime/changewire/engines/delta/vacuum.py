"""Tombstones that are not needed any more."""

from __future__ import annotations

from datetime import datetime

from changewire.engines.delta.columns import TOMBSTONES
from changewire.engines.delta.places import check_path, opened, told
from changewire.engines.kept import SUFFIX
from changewire.tables.names import beside


def vacuum(target: str, *, older_than: datetime) -> int:
    """Remove the tombstones of a table; return how many.

    What is older than a delete and comes after its tombstone was removed brings the row back.

    Args:
        target: Folder of the table.
        older_than: Tombstones that were written before it go; it has a time zone.

    Raises:
        ValueError: The time has no zone, or delta-rs does not read such a path.
        OutputError: There is no such table, or it is not for delta-rs to write.
        ConflictError: Another writer changed the tombstones meanwhile.
    """
    if older_than.tzinfo is None:
        raise ValueError("older_than has no time zone")
    check_path(target)
    path = beside(target, SUFFIX)
    graves = opened(path, TOMBSTONES)
    with told(path):
        done = graves.delete(f"since < timestamp '{older_than.isoformat()}'")
    return int(done["num_deleted_rows"])
