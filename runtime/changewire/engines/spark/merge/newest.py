"""The rule for easy keys, in SQL: the newest change of each key in a batch.

A change is easy if it has a sequence and writes or deletes a whole row. Then what a row becomes is
its newest change, and `changewire.tables` says the same of it.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.spark.merge.mutations import NAMED, ORDER_FIELDS
from changewire.engines.spark.merge.shapes import Shape
from changewire.tables.mutations import DELETE, FULL

_REST: Final = [field.name for field in ORDER_FIELDS if field.name != "major"]
_FIRST: Final = "_first"


def is_easy() -> Column:
    """Return the condition that a mutation is easy."""
    return F.col("major").isNotNull() & F.col("kind").isin(FULL, DELETE)


def newest(mutations: DataFrame, shape: Shape) -> DataFrame:
    """Return the newest mutation of each key.

    Args:
        mutations: Easy ones, as `mutations_of` returns them.
        shape: How the table has its rows. The columns of its key make the partitions: they are
            compared more quickly than the text of the key.
    """
    of_key = Window.partitionBy(*(F.col(NAMED)[name] for name in shape.keys))
    ordered = of_key.orderBy(
        F.desc("major"), F.desc(F.struct(*_REST)), F.desc(F.col("kind") == DELETE)
    )
    return (
        mutations.withColumn(_FIRST, F.row_number().over(ordered)).where("_first = 1").drop(_FIRST)
    )


def is_newer(one: str, other: str) -> str:
    """Return the condition in SQL that one column of order fields is newer than another.

    The first numbers are compared alone before all fields are, which is quicker. NULL in place of
    the first number is older than any.
    """
    parts = [", ".join(f"{column}.`{name}`" for name in _REST) for column in (one, other)]
    first, second = f"{one}.`major`", f"{other}.`major`"
    is_later = f"{first} = {second} AND struct({parts[0]}) > struct({parts[1]})"
    return f"({second} IS NULL OR {first} > {second} OR ({is_later}))"
