"""The columns of a table of versions, by those of its rows and by the names that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.changelog.versions import columns_fault
from changewire.engines.errors import OutputError
from changewire.engines.spark.apply.shape import CONTENT, NAMED
from changewire.engines.spark.apply.typed_shape import Shape
from changewire.tables.metadata import COLUMN
from changewire.tables.version_rows import VersionNames


def _plain(metadata: Column) -> dict[str, Column]:
    return {
        "valid_from": metadata["event_time"],
        "valid_to": metadata["ended"]["event_time"],
        "is_current": metadata["ended"].isNull(),
        "op": metadata["op"],
    }


def _auto_cdc(metadata: Column) -> dict[str, Column]:
    nothing = F.struct(*(F.lit(None).cast("bigint").alias(name) for name in ("major", "minor")))
    last = F.coalesce(metadata["ended"]["sequence"], nothing)
    return {
        "__START_AT": metadata["sequence"],
        "__END_AT": F.when(metadata["ended"].isNotNull(), last),
    }


_SPANS: Final[Mapping[VersionNames, Callable[[Column], dict[str, Column]]]] = MappingProxyType(
    {"plain": _plain, "auto_cdc": _auto_cdc}
)
"""`changewire.tables.version_rows.SPAN_COLUMNS` in SQL."""


def version_columns(shape: Shape, names: VersionNames) -> dict[str, Column]:
    """Return the columns of a table of versions, of those of `keys.output_type`.

    Args:
        shape: How the table has its rows.
        names: How columns are named.

    Raises:
        OutputError: The rows have a column of such a name.
    """
    row = shape.row_columns(F.col(NAMED), F.col(CONTENT))
    found = columns_fault(row, names)
    if found is not None:
        raise OutputError(found)
    return {**row, **_SPANS[names](F.col("metadata")), COLUMN: F.col("metadata")}


def with_columns(versions: DataFrame, shape: Shape, names: VersionNames) -> DataFrame:
    """Return versions with the columns that their table has; see `version_columns`."""
    columns = version_columns(shape, names)
    return versions.select(*(column.alias(name) for name, column in columns.items()))
