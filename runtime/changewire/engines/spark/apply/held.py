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
from changewire.engines.spark.apply.shape import CONTENT, NAMED, Shape
from changewire.tables.metadata import COLUMN

_ROW: Final = "row"


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
    """Return ``key``, ``named``, ``content`` and ``metadata`` of a table's rows.

    Not selecting ``content`` lets Spark skip the columns of rows.

    Args:
        place: The table.
        keys: Has ``key`` and ``named``, each key once.
        is_all: Whether rows of other keys are returned too.

    Returns:
        The rows; None if there is no table.
    """
    if place.table is None:
        return None
    shape, row = place.shape, F.col(_ROW)
    rows = keys.sparkSession.table(place.table).select(F.struct("*").alias(_ROW))
    is_same = reduce(and_, (row[name].eqNullSafe(F.col(NAMED)[name]) for name in shape.keys))
    found = rows.join(keys.select("key", NAMED), is_same, "left" if is_all else "inner")
    return found.select(
        F.coalesce("key", shape.key_text(row)).alias("key"),
        struct_of({name: row[name] for name in shape.keys}).alias(NAMED),
        shape.content(row).alias(CONTENT),
        row[COLUMN].alias("metadata"),
    )


def held_tombstones(place: Place, keys: DataFrame) -> DataFrame:
    """Return ``key`` and ``metadata`` of the tombstones of some keys; a key may have several."""
    found = keys.sparkSession.table(place.tombstones).join(keys.select("key"), "key", "left_semi")
    return found.select("key", F.col(COLUMN).alias("metadata"))


def struct_of(columns: Mapping[str, Column]) -> Column:
    """Return a struct of columns."""
    return F.struct(*(column.alias(name) for name, column in columns.items()))
