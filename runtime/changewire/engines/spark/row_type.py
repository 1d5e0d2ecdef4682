"""Schemas of rows to the Spark type of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

from changewire.changes import embedded
from changewire.engines.spark.readings import MESSAGE_SCHEMA, ROW_SCHEMA, TYPED_BY
from changewire.generator import generator_part

RowSchema = Mapping[str, Any] | str | bytes | PathLike[str]
"""A schema, parsed or as JSON text, or the path of its file."""


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
    found = schema if isinstance(schema, Mapping) else embedded.parsed(_text(schema))
    if not isinstance(found, Mapping):
        raise ValueError("a schema of rows is a JSON object")  # noqa: TRY004 - a wrong value
    if "properties" in found:
        return _struct_type(_of_json_schema(found), ROW_SCHEMA)
    if format is None:
        raise ValueError("no JSON Schema with properties; a schema from a message needs `format`")
    columns = embedded.row_type(found, format=format, keys=keys, families=families)
    return _struct_type(columns, MESSAGE_SCHEMA)


def _text(schema: str | bytes | PathLike[str]) -> str | bytes:
    if isinstance(schema, bytes) or (isinstance(schema, str) and schema.lstrip().startswith("{")):
        return schema
    return Path(schema).read_bytes()


def _of_json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    generator = generator_part("row_type", "JSON Schemas of rows need")
    columns: dict[str, Any] = generator(schema)
    return columns


def _struct_type(columns: dict[str, Any], typed_by: str) -> StructType:
    for column in columns["fields"]:
        column["metadata"][TYPED_BY] = typed_by
    return StructType.fromJson(columns)
