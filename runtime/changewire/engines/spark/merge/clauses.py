"""The statement that replaces a table, with all that a table keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from changewire.engines.spark.jvm import table_metadata
from changewire.engines.spark.merge.formats import ANY_NAMES, properties_of
from changewire.engines.spark.merge.table import SparkTable
from changewire.engines.spark.parts import quoted
from changewire.engines.typed.types import has_unsafe_names

_MAPPING: Final = "delta.columnMapping.mode"
_OF_DELTA: Final = ("delta.columnMapping.maxColumnId", "delta.rowTracking.materialized")
"""Begins of the names of properties that Delta writes alone."""

_PARTITION: Final = re.compile(r"(?:\w+\((?:\d+, )?)?(?P<name>`.+`|[^`()]+)\)?")
"""A partition of Iceberg, a column or a transform of one."""


@dataclass(frozen=True)
class Clauses:
    """What is kept of a table that is replaced.

    Attributes:
        layout: Clauses in SQL of how its files are laid out.
        columns: Columns that these name.
        properties: Properties that it loses unless they are named.
        comment: Its comment.
    """

    layout: str = ""
    columns: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    def statement(self, table: SparkTable, properties: Mapping[str, str]) -> str:
        """Return the statement that replaces a table by ``{source}``, with further properties."""
        pairs = {**self.properties, **properties}.items()
        named = ", ".join(f"{_literal(name)} = {_literal(text)}" for name, text in pairs)
        comment = "" if self.comment is None else f" COMMENT {_literal(self.comment)}"
        text = f"REPLACE TABLE {table.identifier} USING {table.format.name}{self.layout}{comment} "
        text += f"TBLPROPERTIES ({named}) AS SELECT * FROM "  # noqa: S608 - all is quoted
        return text.replace("{", "{{").replace("}", "}}") + "{source}"


def clauses_of(spark: SparkSession, table: SparkTable, columns: StructType) -> Clauses:
    """Return what is kept of a table, which gets some columns."""
    if not table.format.takes_paths:
        return _of_iceberg(spark, table.identifier)
    (detail,) = spark.sql(f"DESCRIBE DETAIL {table.identifier}").collect()
    # Spark hides properties whose names look like secrets.
    metadata = table_metadata(spark, table.identifier) or {}
    properties = metadata.get("configuration", detail["properties"])
    kept = {name: text for name, text in properties.items() if not name.startswith(_OF_DELTA)}
    if has_unsafe_names(columns.jsonValue()) and kept.get(_MAPPING, "none") == "none":
        kept |= ANY_NAMES
    partitions, clusters = (detail[one] or [] for one in ("partitionColumns", "clusteringColumns"))
    layout = f" PARTITIONED BY ({', '.join(map(quoted, partitions))})" if partitions else ""
    layout += f" CLUSTER BY ({', '.join(map(quoted, clusters))})" if clusters else ""
    return Clauses(layout, (*partitions, *clusters), kept, detail["description"])


def _of_iceberg(spark: SparkSession, table: str) -> Clauses:
    """Return what is kept of a table of Iceberg.

    It keeps its comment, and its properties but for some of writing, which get their defaults.
    """
    rows = spark.sql(f"DESCRIBE TABLE {table}").collect()
    names = [row["col_name"] for row in rows]
    if "# Partition Information" in names:
        parts = [quoted(one) for one in names[names.index("# Partition Information") + 2 :]]
    else:
        parts = [row["data_type"] for row in rows if re.fullmatch(r"Part \d+", row["col_name"])]
    found = (_PARTITION.fullmatch(one) for one in parts)
    columns = (one["name"].strip("`").replace("``", "`") for one in found if one is not None)
    layout = f" PARTITIONED BY ({', '.join(parts)})" if parts else ""
    properties = properties_of(spark, table).items()
    kept = {name: text for name, text in properties if name.startswith("write.")}
    return Clauses(layout, tuple(columns), kept)


def _literal(text: str) -> str:
    """Return a text as SQL of Spark has it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
