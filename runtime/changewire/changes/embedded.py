"""Schemas that stand in messages: which formats have them, and what they say of rows."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from changewire.changes.connect import Difference
from changewire.changes.values import EmbeddedSchema
from changewire.codec import codec
from changewire.codec.exact import exact_number
from changewire.codec.wire import PARSER_ERRORS

_PARSE: Final = msgspec.json.Decoder(float_hook=exact_number).decode


class Dialect(NamedTuple):
    """What a vendor's schemas are, and say; all but `of` take one parsed, and raise ValueError.

    Attributes:
        of: Returns the schema of a message, or None.
        columns: Returns the types of a row's columns by JSON Pointer.
        differences: Returns how the rows of two schemas differ.
        row_type: Returns the column type of a row, for key columns and column families.
    """

    of: Callable[[Any], EmbeddedSchema | None]
    columns: Callable[[Any], dict[str, str]]
    differences: Callable[[Any, Any], list[Difference]]
    row_type: Callable[[Any, Sequence[str] | None, Sequence[str] | None], dict[str, Any]]


@cache
def dialect(format: str) -> Dialect:
    """Return what is known of the schemas in the messages of a format.

    Raises:
        ValueError: There is no such format, or its messages hold no schema.
    """
    codec(format)
    if format not in _DIALECTS:
        there = ", ".join(sorted(_DIALECTS))
        raise ValueError(f"messages of {format} hold no schema; those of {there} do")
    return _DIALECTS[format]()


def parsed(schema: str | bytes) -> Any:
    """Return the parsed JSON text of a schema; its numbers are exact.

    Raises:
        ValueError: It is no JSON text.
    """
    try:
        return _PARSE(schema)
    except PARSER_ERRORS as error:
        raise ValueError(f"a schema is JSON text: {error}") from None


def row_type(
    schema: Mapping[str, Any] | str | bytes,
    *,
    format: str,
    keys: Sequence[str] | None = None,
    families: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the column type of the rows that a schema from a message declares.

    It is the JSON form of Spark's StructType, in which Delta's log holds schemas as well (Delta
    Transaction Log Protocol, "Schema Serialization Format"). All columns may be NULL; the comment
    of each is its declared type.

    Args:
        schema: The schema of one message, as JSON text or parsed.
        format: Public name of the message's format.
        keys: Columns that name the row, as the reader of the messages says.
        families: Column families of an HBase table, likewise.

    Raises:
        ValueError: It is no schema of the format, or declares no column.
    """
    known = dialect(format)
    found = known.row_type(
        parsed(schema) if isinstance(schema, (str, bytes)) else schema, keys, families
    )
    if not found["fields"]:
        raise ValueError("the schema declares no column of a row")
    return found


def _dataworks() -> Dialect:
    from changewire.changes import dataworks_schema as module

    return Dialect(
        module.dataworks_schema,
        module.dataworks_columns,
        module.dataworks_differences,
        module.dataworks_row_type,
    )


def _lindorm() -> Dialect:
    from changewire.changes import lindorm_schema as module

    return Dialect(
        module.lindorm_schema,
        module.lindorm_columns,
        module.lindorm_differences,
        module.lindorm_row_type,
    )


_DIALECTS: Final[Mapping[str, Callable[[], Dialect]]] = {
    "dataworks-json": _dataworks,
    "lindorm-json": _lindorm,
}
