"""Small parts of queries that several modules use: quoted names, and positions of rows."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import POSITION


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return f"`{name.replace('`', '``')}`"


def position_columns() -> list[Column]:
    """Return the columns of a decoded row's position."""
    parts = [
        F.coalesce(*columns, F.lit(default)).alias(name)
        for name, (columns, default) in POSITION.items()
    ]
    return [*parts, F.col("element")]
