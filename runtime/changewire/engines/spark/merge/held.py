"""What is known of a table before some changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql import DataFrame

from changewire.tables.order import OLDEST, Order


class Deletes(NamedTuple):
    """Deletes of a table that a log has.

    Attributes:
        rows: ``named`` and the fields of an order.
        are_few: Whether the driver has them.
    """

    rows: DataFrame
    are_few: bool


@dataclass(frozen=True)
class Held:
    """What is known of a table before some changes.

    Attributes:
        table: Its rows; None without any.
        deletes: Its deletes, as `late.logged_deletes` returns them; None if no change can be older.
        deleted: Greatest first number of the sequence of a delete; None without `deletes`.
        floor: Order of the newest truncate.
        has_patches: Whether it may have rows that were patched.
    """

    table: DataFrame | None = None
    deletes: Deletes | None = None
    deleted: int | None = None
    floor: Order = OLDEST
    has_patches: bool = False
