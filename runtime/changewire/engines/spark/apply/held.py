"""What a table and its tombstones have of the keys of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by

from changewire.engines.spark.apply.formats import TableFormat
from changewire.engines.spark.apply.shape import Shape
from changewire.tables.metadata import COLUMN

_ROW: Final = "row"
_KEY: Final = "named"


@dataclass(frozen=True)
class Place:
    """A table with its tombstones.

    Attributes:
        table: The table, as SQL names it; None where nothing has told its columns yet, and there is
            nothing but deletes.
        tombstones: The table of its tombstones.
        format: Their format.
        shape: How the table has its rows.
    """

    table: str | None
    tombstones: str
    format: TableFormat
    shape: Shape

    def both(self) -> list[str]:
        """Return the table, if there is one, and that of its tombstones."""
        return [*filter(None, (self.table, self.tombstones))]


def held_rows(place: Place, keys: DataFrame, *, is_all: bool = False) -> DataFrame | None:
    """Return ``key``, ``content`` and ``metadata`` of a table's rows; None where there is no table.

    Who does not select ``content`` lets Spark leave the columns of rows unread.

    Args:
        place: The table.
        keys: Has ``key``, each once.
        is_all: Whether rows of other keys are returned too.
    """
    if place.table is None:
        return None
    shape, row = place.shape, F.col(_ROW)
    named = keys.select("key", struct_of(shape.key_columns(F.col("key"))).alias(_KEY))
    rows = keys.sparkSession.table(place.table).select(F.struct("*").alias(_ROW))
    is_same = reduce(and_, (row[name].eqNullSafe(F.col(_KEY)[name]) for name in shape.keys))
    return rows.join(named, is_same, "left" if is_all else "inner").select(
        F.coalesce("key", shape.key_text(row)).alias("key"),
        shape.content(row).alias("content"),
        row[COLUMN].alias("metadata"),
    )


def held_tombstones(place: Place, keys: DataFrame) -> DataFrame:
    """Return ``key`` and ``metadata`` of the tombstones of some keys; a key may have several."""
    found = keys.sparkSession.table(place.tombstones).join(keys, "key", "left_semi")
    return found.select("key", F.col(COLUMN).alias("metadata"))


def struct_of(columns: Mapping[str, Column]) -> Column:
    """Return a struct of columns."""
    return F.struct(*(column.alias(name) for name, column in columns.items()))
