"""Columns of rows, by what a user gives, or by the schemas that are in messages."""

from __future__ import annotations

import logging
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.changes.schemas import MOST_SCHEMAS
from changewire.changes.vendors import VendorKeywords, with_defaults, without_defaults
from changewire.engines.declared import columns_of_text
from changewire.engines.decode import Decoder
from changewire.engines.layout import DECLARED
from changewire.engines.native import Kernel, kernel_of
from changewire.engines.typed.evolve import evolved
from changewire.engines.typed.readings import MESSAGE_SCHEMA, TYPED_BY
from changewire.engines.typed.types import StructJson, columns_of, row_columns
from changewire.generator import generator_part

RowSchema = Mapping[str, Any] | str | bytes | PathLike[str]
"""A schema, parsed or as JSON text, or the path of its file."""


@runtime_checkable
class ArrowSchema(Protocol):
    """Columns of any library with Arrow's PyCapsule interface: `pyarrow.Schema`."""

    def __arrow_c_schema__(self) -> Any:
        """Return the columns as an Arrow schema."""
        ...


RowsAs: TypeAlias = str | bytes | PathLike[str] | Mapping[str, Any] | Any
"""``json``, a `pyarrow.Schema` or struct type, a StructType of PySpark, or a schema of the row."""

_OF_SPARK: Final = "jsonValue"
"""Method by which PySpark's types give their JSON form; it need not be loaded to call it."""


def schema_columns(schema: RowSchema, decode_options: DecodeOptions | None) -> dict[str, Any]:
    """Return the columns of rows that a schema describes, in the JSON form of a StructType.

    What a JSON Schema says that makes no type is logged once as a warning.
    """
    name, text = ("row_schema", schema) if isinstance(schema, Mapping) else _named_text(schema)
    try:
        found = text if isinstance(text, Mapping) else embedded.parsed(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not isinstance(found, Mapping):
        raise ValueError(f"{name}: a schema of rows is a JSON object")  # noqa: TRY004 - a value
    if found.keys() & {"properties", "$ref"} or found.get("type") == "object":
        unused: dict[str, str] = {}
        columns: dict[str, Any] = generator_part("row_type", "JSON Schemas of rows need")(
            found, name, unused
        )
        if unused:
            _say_unused(name, ", ".join(f"{one} ({name}#{at})" for one, at in unused.items()))
        return columns
    if decode_options is not None:
        return _declared(found, decode_options.format, decode_options)
    raise ValueError(
        f"{name}: no JSON Schema with properties; a schema from a message needs `format`"
    )


def given_columns(row_schema: RowsAs, decode_options: DecodeOptions | None) -> pa.Schema:
    """Return the columns of rows that a type, of Arrow or of PySpark, or a schema says."""
    found = _given(row_schema, decode_options)
    if not found.names:
        raise ValueError("row_schema: expected one column or more, found none")
    return found


def _given(row_schema: RowsAs, decode_options: DecodeOptions | None) -> pa.Schema:
    if isinstance(row_schema, str) and row_schema == "variant":
        raise ValueError("row_schema='variant' is for Spark: Arrow has no type that it would be")
    if isinstance(row_schema, str) and row_schema == "auto":
        raise ValueError("row_schema='auto' is for tables, whose columns follow their messages")
    if isinstance(row_schema, ArrowSchema):
        return row_columns(pa.schema(row_schema))
    if hasattr(row_schema, _OF_SPARK) and isinstance(
        struct := getattr(row_schema, _OF_SPARK)(), Mapping
    ):
        return columns_of(struct)
    expected = "a pyarrow.Schema, a StructType, a schema or its path"
    wrong = f"row_schema: expected {expected}, found {row_schema!r}"
    if not isinstance(row_schema, (str, bytes, PathLike, Mapping)):
        raise ValueError(wrong)  # noqa: TRY004 - a wrong value
    try:
        return columns_of(schema_columns(row_schema, decode_options))
    except FileNotFoundError:
        missing = f"row_schema: the file {row_schema!r} is missing; expected {expected}"
        raise ValueError(missing) from None
    except OSError:
        raise ValueError(wrong) from None


def options_of_log(
    format: str | None, key_columns: Sequence[str] | None, vendor: VendorKeywords
) -> DecodeOptions | None:
    """Return how the messages of a change log were read; None if their format is not given."""
    if format is not None:
        return DecodeOptions(format, key_columns=key_columns, **vendor)
    if given := without_defaults(with_defaults(vendor)):
        names = ", ".join(given)
        raise ValueError(f"{names}: for the schema of a message, which needs `format`")
    return None


def _named_text(schema: str | bytes | PathLike[str]) -> tuple[str, str | bytes]:
    """Return the name and the text of a schema, which is JSON text or in a file."""
    if isinstance(schema, bytes) or (isinstance(schema, str) and schema.lstrip().startswith("{")):
        return "row_schema", schema
    return fspath(schema), Path(schema).read_bytes().removeprefix(BOM_UTF8)


@cache
def _say_unused(name: str, keywords: str) -> None:
    logging.getLogger("changewire.rows").warning(
        "%s: columns do not check what makes no type: %s", name, keywords
    )


class _SchemaDecoder(Decoder):
    """Decodes rows, of which `DECLARED` has what schemas in messages declare, and nothing else."""

    def _kernel(self) -> Kernel | None:
        return kernel_of(self.decode_options)


def embedded_columns(batches: Iterable[pa.RecordBatch], decode_options: DecodeOptions) -> pa.Schema:
    """Return one set of columns for all messages, by the schemas in them.

    The first schema that has a column gives it its type; a later one may widen it. Another type is
    left to the values: those that do not fit are dead letters. At most `MOST_SCHEMAS` are read.
    """
    embedded.check_format(decode_options.format)
    decode, found = _SchemaDecoder(decode_options), dict[str, StructJson]()
    for batch in batches:
        for rows in decode(batch):
            for text in rows.column(DECLARED).unique().drop_null().to_pylist():
                if len(found) < MOST_SCHEMAS:
                    found[text] = columns_of_text(text)
    columns = evolved(None, found.items()).columns
    if not columns["fields"]:
        raise ValueError("no schema in the messages declares a column of a row")
    return columns_of(_of_messages(columns))


def _declared(schema: Any, format: str, decode_options: DecodeOptions) -> dict[str, Any]:
    return _of_messages(embedded.row_type(schema, format, decode_options))


def _of_messages(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of columns that says that a schema in messages gave them their types."""
    fields = [
        {**column, "metadata": {**column["metadata"], TYPED_BY: MESSAGE_SCHEMA}}
        for column in columns["fields"]
    ]
    return {**columns, "fields": fields}
