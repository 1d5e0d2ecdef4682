"""The statement that replaces a table, with all that a table keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StructType

from changewire.engines.partitions import Layout, Partition, layout_by
from changewire.engines.settings import Settings
from changewire.engines.spark.jvm import table_metadata
from changewire.engines.spark.merge.formats import ANY_NAMES, properties_of
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.typed.types import has_unsafe_names

_MAPPING: Final = "delta.columnMapping.mode"
_OF_DELTA: Final = ("delta.columnMapping.maxColumnId", "delta.rowTracking.materialized")
"""Begins of the names of properties that Delta writes alone."""

_PARTITION: Final = re.compile(r"(?:(\w+)\((?:(\d+), )?)?(`.+`|[^`()]+)\)?")
"""A partition of Iceberg, a column or a transform of one."""

_ALL_COLUMNS: Final = "# Partition Information"
"""What Spark describes partitions by, if all are columns."""


@dataclass(frozen=True)
class Clauses:
    """What is kept of a table that is replaced.

    Attributes:
        layout: How its files are laid out.
        properties: Properties that it loses unless they are named.
        comment: Its comment.
    """

    layout: Layout
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    def asked(self, settings: Settings) -> Clauses:
        """Return these clauses with the layout and the properties that settings ask for."""
        layout = self.layout if settings.layout is None else settings.layout
        return replace(self, layout=layout, properties={**self.properties, **settings.properties})

    def statement(self, table: SparkTable, properties: Mapping[str, str]) -> str:
        """Return the statement that replaces a table, with further properties, up to its source."""
        pairs = {**self.properties, **properties}.items()
        named = ", ".join(f"{_literal(name)} = {_literal(text)}" for name, text in pairs)
        comment = "" if self.comment is None else f" COMMENT {_literal(self.comment)}"
        text = (
            f"REPLACE TABLE {table.identifier} USING {table.format.name}{self.layout.sql}{comment} "
        )
        return f"{text}TBLPROPERTIES ({named}) AS SELECT * FROM "  # noqa: S608 - all is quoted


def clauses_of(spark: SparkSession, table: SparkTable, columns: StructType) -> Clauses:
    """Return what is kept of a table, which gets some columns."""
    if not table.format.takes_paths:
        return _of_iceberg(spark, table)
    (detail,) = spark.sql(f"DESCRIBE DETAIL {table.identifier}").collect()
    # Spark hides properties whose names look like secrets.
    metadata = table_metadata(spark, table.identifier) or {}
    properties = metadata.get("configuration", detail["properties"])
    kept = {name: text for name, text in properties.items() if not name.startswith(_OF_DELTA)}
    if has_unsafe_names(columns.jsonValue()) and kept.get(_MAPPING, "none") == "none":
        kept |= ANY_NAMES
    return Clauses(_layout_in(detail), kept, detail["description"])


def layout_of(spark: SparkSession, table: SparkTable) -> Layout:
    """Return how the files of a table are laid out."""
    if table.format.takes_paths:
        (detail,) = spark.sql(f"DESCRIBE DETAIL {table.identifier}").collect()
        return _layout_in(detail)
    rows = spark.sql(f"DESCRIBE TABLE {table.identifier}").collect()
    names = [row["col_name"] for row in rows]
    if _ALL_COLUMNS in names:
        parts = names[names.index(_ALL_COLUMNS) + 2 :]
    else:
        parts = [row["data_type"] for row in rows if re.fullmatch(r"Part \d+", row["col_name"])]
    return Layout(tuple(map(_partition, parts)))


def _layout_in(detail: Row) -> Layout:
    """Return the layout of a table of Delta, by its description."""
    # Names of partitions are as they are, and those of clusters quoted if need be.
    clusters = [_partition(one).column for one in detail["clusteringColumns"] or ()]
    return layout_by(detail["partitionColumns"], clusters)


def _partition(text: str) -> Partition:
    """Return a column, or a partition of Iceberg, as Spark describes it."""
    found = _PARTITION.fullmatch(text)
    if found is None:
        return Partition(text)
    transform, number, name = found.groups()
    name = name[1:-1].replace("``", "`") if name.startswith("`") else name
    return Partition(name, transform or "", int(number or 0))


def _of_iceberg(spark: SparkSession, table: SparkTable) -> Clauses:
    """Return what is kept of a table of Iceberg.

    It keeps its comment, and its properties but for some of writing, which get their defaults.
    """
    properties = properties_of(spark, table.identifier).items()
    kept = {name: text for name, text in properties if name.startswith("write.")}
    return Clauses(layout_of(spark, table), kept)


def _literal(text: str) -> str:
    """Return a text as SQL of Spark has it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
