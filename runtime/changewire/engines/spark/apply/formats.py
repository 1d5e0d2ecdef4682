"""What differs between table formats: how a table is named, made and merged into."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from changewire.engines.spark.apply.delta import Delta
from changewire.engines.spark.apply.iceberg import Iceberg
from changewire.engines.spark.apply.making import Left


class TableFormat(Protocol):
    """A table format.

    Attributes:
        name: As Spark names it.
        takes_paths: Whether a table may be a path, without a catalog that names it.
        conflict: What the text of an error has if another writer came first.
        counts_rows: Whether a MERGE returns how many rows it changed.
        has_all_in_version: Whether the version of a table says too which columns and properties it
            has.
    """

    name: str
    takes_paths: bool
    conflict: re.Pattern[str]
    counts_rows: bool
    has_all_in_version: bool

    def identifier(self, name: str) -> str:
        """Return a table, a path or a name, as SQL names it."""
        ...

    def kept(self, columns: StructType) -> StructType:
        """Return columns with the types that a table has them as."""
        ...

    def fault(self, columns: StructType) -> str | None:
        """Return why a table cannot have some columns; None if it can."""
        ...

    def widens(self, there: DataType, wider: DataType) -> bool:
        """Whether a column's type can become another one, which holds all of its values."""
        ...

    def create(self, spark: SparkSession, name: str, columns: StructType) -> bool:
        """Make a table if it is not there, and the namespace of its name.

        Returns:
            Whether it was made, so that it has no rows; `False` if that is not known.
        """
        ...

    def evolve(self, spark: SparkSession, name: str, columns: StructType) -> None:
        """Add columns to a table, and widen its types."""
        ...

    def refresh(self, spark: SparkSession, table: str) -> None:
        """Let the next query read what other sessions have written to a table by now."""
        ...

    def version(self, spark: SparkSession, table: str) -> Any:
        """Return what shows later whether a table is still as it was."""
        ...

    def is_first(self, version: Any, commits: int) -> bool:
        """Whether a table has had no more than some commits since it was made."""
        ...

    def left(self, spark: SparkSession, table: str, since: Any, *, wrote: bool) -> Left:
        """Return whether no other writer wrote a table since a version.

        Args:
            spark: The session.
            table: The table, as SQL names it.
            since: The version.
            wrote: Whether one commit since then is this writer's own.
        """
        ...

    def merge(self, source: DataFrame, table: str, statement: str, since: Any) -> int | None:
        """Run a MERGE from ``{source}``.

        Args:
            source: What is merged.
            table: The table, as SQL names it.
            statement: The MERGE.
            since: Version of the table that it was decided on.

        Returns:
            How many rows it changed; None if Spark does not say.

        Raises:
            WriteConflictError: Spark does not say, and another writer came first.
        """
        ...


_FORMATS: Final[Mapping[str, TableFormat]] = {one.name: one for one in (Delta(), Iceberg())}


def format_of(sink: str) -> TableFormat:
    """Return a table format that a stream can merge into, by its name.

    Raises:
        ValueError: There is no such format.
    """
    if sink not in _FORMATS:
        raise ValueError(f"no table format {sink!r}; there are: {', '.join(_FORMATS)}")
    return _FORMATS[sink]
