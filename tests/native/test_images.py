"""Rows that a kernel makes in columns of a type: those that are made of JSON text later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ByteType,
    DecimalType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from tests.native.differential import FORMATS, batch_of, needs_kernel
from tests.native.mutants import damaged
from tests.native.test_differential import examples
from tests.native.test_typed import drawn, fitting, options
from tests.runtime.engines.any_messages import captured
from tests.runtime.engines.merge.messages import message

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.effects import EFFECTS
from changewire.engines.native import Made
from changewire.engines.spark.merge.mutations import (
    CONTENT,
    FAILURE,
    NAMED,
    ROUNDED,
    FitMutations,
    mutation_type,
)
from changewire.engines.spark.merge.shapes import TypedShape, arrow_schema
from changewire.engines.spark.types import row_columns
from changewire.engines.typed.images import IMAGE, ImagesDecoder, typed_images

pytestmark = needs_kernel

DATAWORKS = "dataworks-json"
MADE = (NAMED, CONTENT, FAILURE, ROUNDED)
ROW = StructType([StructField("id", LongType()), StructField("name", StringType())])
TEXTS = StructType([StructField("id", StringType()), StructField("name", StringType())])


def fitted(row: dict[str, Any], effect: dict[str, Any], kind: StructType) -> dict[str, Any]:
    """Return an effect of a decoded row, fitted to a table of a type by its text."""
    keys = sorted(msgspec.json.decode(effect["key"]))
    after = row["after"] if effect["kind"] != "delete" else None
    shape = TypedShape(kind, keys)
    fields = [one for one in arrow_schema(mutation_type(shape)) if one.name not in MADE]
    columns = pa.schema([*fields, ("after", pa.string())])
    batch = pa.RecordBatch.from_pylist([{**effect, "after": after}], columns)
    (found,) = FitMutations(shape)([batch])
    return dict(found.to_pylist()[0])


def checked(
    values: Sequence[bytes | None], keys: Sequence[bytes | None], format: str, kind: StructType
) -> int:
    """Check the images of messages; return how many there are."""
    number = 0
    for part in ImagesDecoder(options(format), row_columns(kind))(batch_of(values, keys)):
        for row in part.to_pylist():
            if (image := row[IMAGE]) is None:
                continue
            number += 1
            (effect,) = row[EFFECTS]
            found = fitted(row, effect, kind)
            assert (found[FAILURE], found["key"]) == (None, effect["key"])
            assert repr(found[NAMED]) == repr({name: image[name] for name in found[NAMED]})
            if effect["kind"] == "delete":
                assert found[CONTENT] is None
            else:
                assert repr(found[CONTENT]) == repr(image)  # NaN is like NaN
    return number


@pytest.mark.parametrize("format", FORMATS)
def test_images_are_rows_of_the_table(format: str) -> None:
    """An image is the row that its text becomes, whatever the types, and its key is the text."""
    values, keys = zip(*examples(format), strict=True)
    number = checked(values, keys, format, fitting(format))
    assert number or format.startswith("aerospike")  # whose keys are no columns of rows
    short = [value for value in values if value and len(value) < 10_000]
    every = [*captured(format), *damaged(format, short, 300, seed=2)]
    for seed in range(4):
        checked(every, [None] * len(every), format, drawn(format, seed))


def known(kind: StructType, *messages: bytes) -> list[bool]:
    """Return of which messages of DataWorks the image is made, after a check of it."""
    checked(messages, [None] * len(messages), DATAWORKS, kind)
    (part,) = ImagesDecoder(options(DATAWORKS), row_columns(kind))(batch_of(messages))
    return [one is not None for one in part.column(IMAGE).to_pylist()]


def test_what_an_image_is_made_of() -> None:
    """Changes with more than one effect, patches and keys with escapes are read again later."""
    types = {"id": "STRING", "name": "STRING"}
    chosen = {
        "plain": message("INSERT", 1, {"id": "a b", "name": "x"}, types=types),
        "not ASCII": message("INSERT", 2, {"id": "\u00e9\u20ac", "name": None}, types=types),
        "delete": message("DELETE", 3, {"id": "a b", "name": "x"}, types=types),
        "quote": message("INSERT", 4, {"id": 'a"b', "name": "x"}, types=types),
        "backslash": message("INSERT", 5, {"id": "a\\nb", "name": "x"}, types=types),
        "line": message("INSERT", 6, {"id": "a\nb", "name": "x"}, types=types),
        "broken": b'{"schema":',
    }
    found = dict(zip(chosen, known(TEXTS, *chosen.values()), strict=True))
    assert [name for name, is_known in found.items() if is_known] == [
        "plain",
        "not ASCII",
        "delete",
    ]


def test_other_keys_have_no_image() -> None:
    """Of messages whose keys are other columns than those of the first, the text is compared."""
    types = {"id": "LONG", "name": "STRING"}
    one = message("INSERT", 1, {"id": 5, "name": "x"}, types=types)
    other = one.replace(b'"primaryKey": ["id"]', b'"primaryKey": ["id", "name"]')
    assert known(ROW, one, other, one) == [True, False, True]
    assert known(ROW, other, one, other) == [True, False, True]
    assert known(StructType([StructField("id", DecimalType(20, 0))]), one) == [False]
    assert known(StructType([StructField("id", ByteType())]), one) == [True]
    assert known(StructType([StructField("name", StringType())]), one) == [False]


def test_a_key_that_is_written_otherwise_has_no_image() -> None:
    """The text of a key may be that of another value, which needs no escapes."""
    keys = [f'{{"id":"{text}"}}' for text in (r"a\nb", "a", "b")]  # the first is of two lines
    columns = [pa.array(keys), pa.array(["full"] * 3), pa.nulls(3, pa.list_(pa.string()))]
    effects = [*columns, pa.nulls(3, pa.string())]
    rows = pa.array([{"id": text} for text in (r"a\nb", "a", "a")])
    images = [pa.nulls(3, rows.type), rows]
    nothing = pa.nulls(3, pa.list_(pa.string()))
    made = Made({}, nothing, effects, images, None, pa.array([], pa.int64()), [(3, 0, 0)])
    found = typed_images(made, rows.type)
    assert found.to_pylist() == [None, {"id": "a"}, None]


def test_a_patch_has_no_image() -> None:
    """It sets some columns, and an image before it is not its row."""
    types = {"id": "LONG", "name": "STRING"}
    sent = [message("UPDATE_AFTER", 1, {"id": 5, "name": "x"}, types=types)]
    (part,) = ImagesDecoder(DecodeOptions(DATAWORKS, "patch"), row_columns(ROW))(batch_of(sent))
    assert [one["kind"] for one in part.column(EFFECTS)[0].as_py()] == ["patch"]
    assert part.column(IMAGE).null_count == 1


def test_an_update_that_moves_a_row_has_no_image() -> None:
    """It has two effects, and an image would be one of them."""
    types = {"id": "LONG", "name": "STRING"}
    moved = message("UPDATE_AFTER", 1, {"id": 5, "name": "x"}, types=types)
    before = b'"before": {"dataColumn": {"id": %d, "name": "x"}}'
    images = [moved.replace(b'"before": null', before % number) for number in (4, 5)]
    assert known(ROW, *images) == [False, True]
