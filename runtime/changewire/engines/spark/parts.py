"""Small parts of queries that several modules use: quoted names, and places of rows."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return f"`{name.replace('`', '``')}`"


def position_columns() -> list[Column]:
    """Return the columns of a decoded row's place, as `changewire.tables.position_of` has them."""
    return [
        F.coalesce("topic", "path", F.lit("")).alias("topic"),
        F.coalesce("partition", F.lit(-1)).alias("partition"),
        F.coalesce("offset", "number", F.lit(-1)).alias("offset"),
        F.col("element"),
    ]
