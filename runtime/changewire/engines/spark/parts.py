"""Small parts of queries that several modules use: quoted names, and positions of rows."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import POSITION
from changewire.tables.names import NO_TABLE
from changewire.tables.routing import NAMES

_PARTS: Final = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
"""Parts of the name of a table, between dots that are not quoted."""


def split_name(name: str) -> list[str]:
    """Return the parts of the name of a table, quoted as they are."""
    return _PARTS.findall(name)


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return f"`{name.replace('`', '``')}`"


def table_name() -> Column:
    """Return the name of the table of a row of a log, as `changewire.tables.names.dotted` does."""
    parts = (F.nullif(F.col("source")[name], F.lit("")) for name in NAMES[1:])
    return F.coalesce(F.nullif(F.concat_ws(".", *parts), F.lit("")), F.lit(NO_TABLE))


def position_columns() -> list[Column]:
    """Return the columns of a decoded row's position."""
    parts = [
        F.coalesce(*columns, F.lit(default)).alias(name)
        for name, (columns, default) in POSITION.items()
    ]
    return [*parts, F.col("element")]
