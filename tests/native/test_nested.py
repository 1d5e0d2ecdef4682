"""Arrays, maps and structs in rows of a type: the kernel makes the columns that Python makes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from tests.native.differential import batch_of, compared, needs_kernel
from tests.native.mutants import damaged
from tests.native.test_msgpack import write
from tests.runtime.codec.formats import JSON_FORMATS

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.native import kernel_of
from changewire.engines.spark.types import struct_columns
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.readings import MESSAGE_SCHEMA, TYPED_BY

pytestmark = needs_kernel

TEXTS = ("", "a", "é\n", '"\\', "1.5", "NaN", "QUI=", "2024-01-02T03:04:05Z", "2024-01-02")
SCALARS: Sequence[tuple[DataType, Sequence[Any]]] = (
    (LongType(), (0, -1, 2**63 - 1, -(2**63))),
    (ByteType(), (0, -128, 127, 128)),
    (DoubleType(), (0.5, -2.0, 3, 2**53 + 1, "NaN")),
    (FloatType(), (0.5, 0.1, 16777217)),
    (DecimalType(5, 2), (1, 1.25, "3.10", 123456)),
    (BooleanType(), (True, False)),
    (StringType(), TEXTS),
    (BinaryType(), ("QUI=", "AB==", "")),
    (DateType(), ("2024-01-02",)),
    (TimestampType(), ("2024-01-02T03:04:05Z",)),
    (TimestampNTZType(), ("2024-01-02T03:04:05Z",)),
)
"""Types, and values of JSON, of which most fit them."""

KEYS = (LongType(), ByteType(), StringType(), BooleanType(), BinaryType())
NAMES = ("a", "b", "c", "d e", "é")
METADATA: Sequence[dict[str, str]] = (
    *({}, {}, {TYPED_BY: MESSAGE_SCHEMA}, {TYPED_BY: "no such schema"}),
    {"contentMediaType": "application/json"},
)
_ROWS = 400


def type_of(draw: random.Random, levels: int) -> DataType:
    """Return a type that may hold others, which hold others again."""
    what = draw.randrange(6) if levels else 5
    inner = partial(type_of, draw, levels - 1)
    if what < 2:
        return ArrayType(inner())
    if what == 2:
        return MapType(StringType(), inner())
    if what == 3:
        return MapType(draw.choice(KEYS), inner())
    if what == 4:
        return struct_of(draw, levels)
    return draw.choice(SCALARS)[0]


def struct_of(draw: random.Random, levels: int) -> StructType:
    """Return a struct of some fields."""
    names = draw.sample(NAMES, draw.randrange(1, len(NAMES)))
    return StructType(
        [
            StructField(name, type_of(draw, levels - 1), metadata=draw.choice(METADATA))
            for name in names
        ]
    )


def value_of(draw: random.Random, kind: DataType) -> Any:
    """Return a value of JSON for a type; some are null, or of another type."""
    odd = draw.randrange(300)
    if odd < 10:
        return None
    if odd == 10:
        return value_of(draw, type_of(draw, 2))
    if isinstance(kind, MapType):
        return map_of(draw, kind)
    if isinstance(kind, ArrayType):
        return [value_of(draw, kind.elementType) for _ in range(draw.randrange(4))]
    if isinstance(kind, StructType):
        fields = draw.sample(kind.fields, draw.randrange(len(kind.fields) + 1))
        return {field.name: value_of(draw, field.dataType) for field in fields}
    values = dict(SCALARS)[kind]
    return draw.choice(values[: draw.choice((2, len(values)))])


def map_of(draw: random.Random, kind: MapType) -> Any:
    """Return an object, or the pairs of a map whose keys are no text."""
    size = draw.randrange(4)
    if isinstance(kind.keyType, StringType):
        names = draw.sample(draw.choice((NAMES, NAMES, TEXTS)), size)
        return {name: value_of(draw, kind.valueType) for name in names}
    return [[value_of(draw, one) for one in (kind.keyType, kind.valueType)] for _ in range(size)]


def of_aerospike(row: Mapping[str, Any]) -> bytes:
    """Return a write whose bins are the columns of a row."""
    kinds = {list: "list", dict: "map", str: "str", bool: "bool", int: "int", float: "float"}
    bins = [
        {"name": name, "type": kinds[type(value)], "value": value}
        for name, value in row.items()
        if value is not None
    ]
    message = json.loads(JSON_FORMATS["aerospike-json"].good)
    return json.dumps({**message, "bins": bins}, ensure_ascii=False).encode()


def of_msgpack(row: Mapping[str, Any]) -> bytes:
    """Return the same in MessagePack; bytes are put in the place of some texts."""
    kinds = {list: 20, dict: 19, str: 3, bool: 17, int: 1, float: 2}
    bins = [
        [name, kinds[type(value)], 0, _with_bytes(value)]
        for name, value in row.items()
        if value is not None
    ]
    return write(*bins)


def _with_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [b"AB" if one == "QUI=" else _with_bytes(one) for one in value]
    return value


def of_lindorm(row: Mapping[str, Any]) -> bytes:
    """Return an insert of a row, whose columns no schema declares."""
    message = json.loads(JSON_FORMATS["lindorm-json"].good)
    payload = {**message["payload"], "before": None, "after": {**row, "id": 1}}
    return json.dumps({**message, "payload": payload}, ensure_ascii=False).encode()


MAKERS: Mapping[str, Callable[[Mapping[str, Any]], bytes]] = {
    "aerospike-json": of_aerospike,
    "aerospike-msgpack": of_msgpack,
    "lindorm-json": of_lindorm,
}


@pytest.mark.parametrize("format", MAKERS)
def test_drawn(format: str) -> None:
    """Drawn values in columns of drawn types, those of damaged messages too."""
    made = messages = 0
    for seed in range(6):
        draw = random.Random(seed)  # noqa: S311 - the same in each run
        kind = struct_of(draw, 4)
        rows = [{f.name: value_of(draw, f.dataType) for f in kind.fields} for _ in range(_ROWS)]
        values = [*map(MAKERS[format], rows)]
        options = DecodeOptions(format, key_columns=["id"] if format == "lindorm-json" else None)
        decode = TypedDecoder(options, struct_columns(kind))
        found = compared(batch_of(values), decode)
        made += found.messages - found.declined
        messages += found.messages
        compared(
            batch_of(damaged(format, values, _ROWS, seed)),
            TypedDecoder(options, struct_columns(kind)),
        )
    assert made / messages > 0.3


def one(column: DataType, *values: Any) -> int:
    """Compare the rows of values in a column of Lindorm; return how many the kernel declined."""
    kind = StructType([StructField("v", column)])
    options = DecodeOptions("lindorm-json", key_columns=["id"])
    messages = [of_lindorm({"v": value}) for value in values]
    return compared(batch_of(messages), TypedDecoder(options, struct_columns(kind))).declined


NUMBERS = ArrayType(LongType())
NAMED = StructType([StructField("a", LongType()), StructField("b", NUMBERS)])


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (NUMBERS, ([], [1, None, 3], None, [None])),
        (ArrayType(NUMBERS), ([[], [1], None], [[1, 2], [3]], [])),
        (MapType(StringType(), LongType()), ({}, {"a": 1, "b c": None}, {"é": 2}, None)),
        (NAMED, ({}, {"a": 1}, {"b": [1, None], "a": None}, None)),
        (ArrayType(NAMED), ([{}, {"b": []}, None], [], [{"a": 2}])),
    ],
    ids=repr,
)
def test_what_is_read(column: DataType, values: Sequence[Any]) -> None:
    """Empty values, NULL in values and values in values."""
    assert one(column, *values) == 0
    assert one(column, *reversed(values)) == 0


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (NUMBERS, [1, "a"]),
        (NUMBERS, {}),
        (MapType(StringType(), LongType()), []),
        (MapType(LongType(), LongType()), [[1, 2], [1, 3]]),
        (MapType(LongType(), StringType()), [[1, "a"], [-2, None]]),
        (MapType(BooleanType(), NUMBERS), [[True, []], [False, [1]]]),
        (MapType(LongType(), LongType()), [[None, 2]]),
        (MapType(LongType(), LongType()), [[1, 2, 3]]),
        (NAMED, {"c": 1}),
        (MapType(StringType(), LongType()), {'"': 1}),
        (NAMED, {"b": [1, 1.5]}),
    ],
    ids=repr,
)
def test_what_is_left_to_python(column: DataType, value: Any) -> None:
    """What does not fit, or has keys that are not text; rows before and after it are whole."""
    assert one(column, value) == 1
    fits = [1] if column is NUMBERS else None
    assert one(column, fits, value, fits) == 1


def test_fields_of_json_text() -> None:
    """A field of a struct may hold any value as JSON text, and others of it may be bytes."""
    text = StructField("text", StringType(), metadata={"contentMediaType": "application/json"})
    fields = [text, StructField("bytes", BinaryType()), StructField("single", FloatType())]
    column = ArrayType(StructType(fields))
    assert one(column, [{"text": [1, {"a": None}], "bytes": "QUI=", "single": 0.5}]) == 0
    assert one(ArrayType(BinaryType()), ["QUI="]) == 0
    assert one(ArrayType(BinaryType()), ["AB=="]) == 1


def test_bytes_of_msgpack() -> None:
    """An array that holds bytes, which are Base64 text in JSON; escapes are read, too."""
    options = DecodeOptions("aerospike-msgpack")
    kind = StructType([StructField("v", ArrayType(StringType()))])
    cases = [["a'b~(", '"\\'], ["a", b"AB"], [[b"AB"]], ["é"]]
    messages = [write(["v", 20, 0, value]) for value in cases]
    assert compared(batch_of(messages), TypedDecoder(options, struct_columns(kind))).declined == 0
    assert kernel_of(options) is not None
