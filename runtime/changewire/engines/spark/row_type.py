"""Schemas of rows to the Spark type of their columns."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql.types import StructType

from changewire.engines.typed.schemas import RowSchema, options_of_log, schema_columns


def row_type(
    schema: RowSchema,
    *,
    format: str | None = None,
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
) -> StructType:
    """Return the type of rows that a schema describes, for ``rows`` of `decode`.

    The content of a schema says which kind it is: a JSON Schema of the rows, in the dialect of
    ``schemas/README.md`` (it has ``properties``), and a schema that stands in the messages of a
    format: of Kafka Connect in Lindorm messages, ``schema`` in DataWorks messages. The metadata of
    the columns remembers which it was, because it decides what a column takes.

    Args:
        schema: The schema: parsed, JSON text, or the path of a file.
        format: Public name of the messages' format; a JSON Schema needs none.
        keys: Columns that name the row, as in `decode`.
        families: Column families of an HBase table, as in `decode`.

    Raises:
        ValueError: It is neither, or outside its dialect.
        ImportError: It is a JSON Schema, and the extra ``codegen`` is not installed.
        OSError: There is no such file.
    """
    return StructType.fromJson(schema_columns(schema, options_of_log(format, keys, families)))
