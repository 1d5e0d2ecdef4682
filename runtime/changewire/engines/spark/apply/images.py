"""Rows of changes as columns of a type, made while they are decoded.

What a task knows of a row it need not parse a second time from JSON text. It says so only of what
needs no second look: a change with one effect, that writes or deletes a whole row, whose key is
written as `changewire.tables.keys.key_text` writes it. `TypedShape.fit` takes all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.native import Made
from changewire.tables.mutations import DELETE

IMAGE: Final = "typed_image"
"""Column of decoded rows beside `EFFECTS`: the row that the change writes or deletes; NULL if it is
not known, or if there is more to know of the effects."""

_names: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ESCAPED: Final = r'["\\]'


def typed_images(made: Made, typed: Made, kind: pa.StructType) -> pa.Array:
    """Return the column `IMAGE` of messages that a kernel decoded twice.

    Args:
        made: Their rows of JSON text, with effects.
        typed: Their rows in columns of the type.
        kind: The type.
    """
    nothing = pa.nulls(len(made.leniencies), kind)
    if made.places or typed.places:  # else each message has one row in both
        return nothing
    key, effect, _, before_key = made.effects
    images = pc.coalesce(typed.change["after"], typed.change["before"])
    if (text := _key_text(key, images)) is None:
        return nothing
    is_whole = pc.is_in(effect, pa.array(["full", DELETE]))
    has_image = pc.and_(pc.is_valid(images), pc.is_null(before_key))
    is_known = pc.and_(pc.and_(is_whole, has_image), pc.equal(key, text))
    return pc.if_else(pc.fill_null(is_known, False), images, pa.scalar(None, kind))  # noqa: FBT003


def image_type(rows: StructType) -> StructType | None:
    """Return the type of `IMAGE` in some rows; None if they do not have it."""
    return cast("StructType", rows[IMAGE].dataType) if IMAGE in rows.names else None


def is_image_of(given: StructType, row: StructType, keys: Sequence[str]) -> bool:
    """Whether images have columns of a table alone, of the same types, and those of its key.

    Args:
        given: Type of the images.
        row: Type of the table's rows.
        keys: Columns of its key.
    """
    return {*keys} <= {*given.names} and _kinds(given).items() <= _kinds(row).items()


def row_of_image(given: StructType, row: StructType) -> Column:
    """Return `IMAGE` as a row of a table; columns that it lacks are NULL.

    Args:
        given: Type of the images.
        row: Type of the table's rows.
    """
    image = F.col(IMAGE)
    fields = [(f, image[f.name] if f.name in given.names else F.lit(None)) for f in row.fields]
    return F.struct(*(column.cast(field.dataType).alias(field.name) for field, column in fields))


def _kinds(row: StructType) -> dict[str, str]:
    """Return the types of the columns of a row, as text."""
    return {field.name: field.dataType.simpleString() for field in row.fields}


def _key_text(keys: pa.Array, images: pa.StructArray) -> pa.Array | None:
    """Return the keys of rows as text; NULL where its columns do not say it at once."""
    first = next((one for one in keys if one.is_valid), None)
    names: Sequence[str] = sorted(_names(first.as_py())) if first is not None else ()
    if not names or not {*names} <= {*images.type.names}:
        return None
    columns = dict(zip(images.type.names, images.flatten(), strict=True))
    parts = [pa.scalar("{")]
    for i, name in enumerate(names):
        if (value := _value_text(columns[name])) is None:
            return None
        parts += [pa.scalar(f"{',' if i else ''}{msgspec.json.encode(name).decode()}:"), value]
    return pc.binary_join_element_wise(*parts, pa.scalar("}"), pa.scalar(""))


def _value_text(column: pa.Array) -> pa.Array | None:
    """Return values as JSON text; NULL where it has escapes, None if it is of another type."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.string())
    if not pa.types.is_string(column.type):
        return None
    has_escapes = pc.match_substring_regex(column, _ESCAPED)
    plain = pc.if_else(has_escapes, pa.scalar(None, pa.string()), column)
    quote = pa.scalar('"')
    return pc.binary_join_element_wise(quote, plain, quote, pa.scalar(""))
