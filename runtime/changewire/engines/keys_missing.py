"""Batches of which no table can take a change."""

from __future__ import annotations

from changewire.engines.errors import KeysMissingError
from changewire.tables.ways import Known


def check_keys(changes: int, key_missing: int, known: Known) -> None:
    """Refuse a batch in which no change has a key, where none ever had.

    Args:
        changes: How many changes it has.
        key_missing: How many of them have no key.
        known: Tables that were fed.

    Raises:
        KeysMissingError: It is such a batch.
    """
    if changes and changes == key_missing and not known.names:
        raise KeysMissingError(
            f"none of {changes} changes has a key, so no table can take them; "
            "name the columns of the key by `keys`. Nothing of the batch was written"
        )
