"""What a user gives as the columns of rows, as columns of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypedDict, runtime_checkable

import pyarrow as pa

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.typed.readings import MESSAGE_SCHEMA, ROW_SCHEMA, TYPED_BY
from changewire.engines.typed.types import columns_of, row_columns
from changewire.generator import generator_part

RowSchema = Mapping[str, Any] | str | bytes | PathLike[str]
"""A schema, parsed or as JSON text, or the path of its file."""


@runtime_checkable
class ArrowSchema(Protocol):
    """Columns as any library has them that speaks Arrow's PyCapsule interface: `pyarrow.Schema`."""

    def __arrow_c_schema__(self) -> Any:
        """Return the columns as an Arrow schema."""
        ...


class SchemaOptions(TypedDict, total=False):
    """What the type of rows depends on, beside a schema from a message."""

    format: str | None
    keys: Sequence[str] | None
    families: Sequence[str] | None


RowsAs: TypeAlias = str | bytes | PathLike[str] | Mapping[str, Any] | Any
"""``json``, a `pyarrow.Schema` or struct type, a StructType of PySpark, or a schema of the row."""

_OF_SPARK: Final = "jsonValue"
"""Method by which PySpark's types give their JSON form; it need not be loaded to call it."""


def schema_columns(
    schema: RowSchema,
    *,
    format: str | None = None,
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the columns of rows that a schema describes, in the JSON form of a StructType.

    The arguments are those of `changewire.spark.row_type`.

    Raises:
        ValueError: It is neither, or outside its dialect.
        ImportError: It is a JSON Schema, and the extra ``codegen`` is not installed.
        OSError: There is no such file.
    """
    found = schema if isinstance(schema, Mapping) else embedded.parsed(_text(schema))
    if not isinstance(found, Mapping):
        raise ValueError("a schema of rows is a JSON object")  # noqa: TRY004 - a wrong value
    if "properties" in found:
        return _typed_by(_of_json_schema(found), ROW_SCHEMA)
    if format is None:
        raise ValueError("no JSON Schema with properties; a schema from a message needs `format`")
    columns = embedded.row_type(found, format=format, keys=keys, families=families)
    return _typed_by(columns, MESSAGE_SCHEMA)


def given_columns(rows: Any, decode_options: DecodeOptions | None) -> pa.Schema:
    """Return the columns of rows that a type, of Arrow or of PySpark, or a schema says.

    Args:
        rows: The type or the schema.
        decode_options: How messages are read, for schemas that stand in them; None: they are
            refused.

    Raises:
        ValueError: It is neither, or a row has no column of such a type.
        ImportError: It is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    if isinstance(rows, (pa.Schema, pa.StructType)):
        return row_columns(rows)
    if isinstance(rows, ArrowSchema):
        return row_columns(pa.schema(rows))
    if hasattr(rows, _OF_SPARK) and isinstance(struct := getattr(rows, _OF_SPARK)(), Mapping):
        return columns_of(struct)
    if not isinstance(rows, (str, bytes, PathLike, Mapping)):
        raise _not_given(rows)
    try:
        found = schema_columns(rows, **schema_options(decode_options))
    except OSError:
        raise _not_given(rows) from None
    return columns_of(found)


def schema_options(decode_options: DecodeOptions | None) -> SchemaOptions:
    """Return what `schema_columns` takes of the options by which messages are read."""
    of = decode_options
    return {} if of is None else {"format": of.format, "keys": of.keys, "families": of.families}


def options_of_log(
    format: str | None, keys: Sequence[str] | None, families: Sequence[str] | None
) -> DecodeOptions | None:
    """Return how the messages of a change log were read; None if their format is not given.

    Raises:
        ValueError: There is no such format, or an option does not fit it; or families are given
            without it.
    """
    if format is not None:
        return DecodeOptions(format, keys=keys, families=families)
    if families is not None:
        raise ValueError("`families` are for the schema of a message, which needs `format`")
    return None


def _not_given(rows: object) -> ValueError:
    return ValueError(
        f"rows: {rows!r} is no pyarrow.Schema, no StructType, and no schema or path of one"
    )


def _text(schema: str | bytes | PathLike[str]) -> str | bytes:
    if isinstance(schema, bytes) or (isinstance(schema, str) and schema.lstrip().startswith("{")):
        return schema
    return Path(schema).read_bytes()


def _of_json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    generator = generator_part("row_type", "JSON Schemas of rows need")
    columns: dict[str, Any] = generator(schema)
    return columns


def _typed_by(columns: dict[str, Any], schema: str) -> dict[str, Any]:
    fields: Iterable[dict[str, Any]] = columns["fields"]
    for column in fields:
        column["metadata"][TYPED_BY] = schema
    return columns
