"""Rows as columns of a type: the kernel makes the very columns that Python makes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import cache

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
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from tests.native.differential import FORMATS, batch_of, compared, needs_kernel
from tests.native.mutants import damaged
from tests.native.test_differential import examples
from tests.runtime.engines.any_messages import captured, mutated
from tests.runtime.engines.rows import dataworks_insert

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.spark.types import struct_columns
from changewire.engines.spark.variant import VariantDecoder
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.readings import MESSAGE_SCHEMA, TYPED_BY

pytestmark = needs_kernel

KEYS: Mapping[str, list[str]] = {"lindorm-json": ["id"]}
FITTING: Mapping[type, DataType] = {
    bool: BooleanType(),
    int: LongType(),
    float: DoubleType(),
    str: StringType(),
    bytes: BinaryType(),
    datetime: TimestampType(),
    date: DateType(),
    Decimal: DecimalType(38, 12),
}
"""A type of a column that holds values of a type of Python."""
TYPES: tuple[DataType, ...] = (
    *FITTING.values(),
    *(ByteType(), ShortType(), IntegerType(), FloatType(), ArrayType(StringType())),
    *(DecimalType(38, 0), DecimalType(5, 2), DecimalType(38, 38), TimestampNTZType()),
)
JSON_TEXT = {"contentMediaType": "application/json"}
METADATA: tuple[dict[str, str], ...] = (
    *({}, {}, {TYPED_BY: MESSAGE_SCHEMA}, {TYPED_BY: "no such schema"}),
    *(JSON_TEXT, {"contentMediaType": "text/html"}),
)
_MOST = 2_000
"""Bytes of a message that is damaged at most."""


def options(format: str) -> DecodeOptions:
    """Return the options of a format."""
    return DecodeOptions(format, key_columns=KEYS.get(format))


@cache
def columns(format: str) -> Mapping[str, Counter[type]]:
    """Return how often columns of rows in the examples have values of a type."""
    found: dict[str, Counter[type]] = {}
    for value, key in examples(format):
        for change, _ in options(format).elements(value, key):
            for image in (change.before, change.after) if isinstance(change, cw.Change) else ():
                for name, one in (image or {}).items():
                    found.setdefault(name, Counter())[type(one)] += one is not None
    return found


def fitting(format: str) -> StructType:
    """Return a type that most rows of the examples fit; it lacks every tenth column."""
    fields = []
    for number, (name, kinds) in enumerate(columns(format).items()):
        kind = FITTING.get(kinds.most_common(1)[0][0])
        if number % 10 != 9:
            metadata = {} if kind else JSON_TEXT
            fields.append(StructField(name, kind or StringType(), metadata=metadata))
    return StructType(fields)


def drawn(format: str, seed: int) -> StructType:
    """Return a type whose columns have any type and metadata; some columns are not in it."""
    draw = random.Random(seed)  # noqa: S311 - the same in each run
    names = [name for name in columns(format) if draw.random() < 0.7]
    return StructType(
        [StructField(n, draw.choice(TYPES), metadata=draw.choice(METADATA)) for n in names]
    )


@pytest.mark.parametrize("format", FORMATS)
def test_examples(format: str) -> None:
    """Rows that fit are the same, and the kernel makes most of them."""
    values, keys = zip(*examples(format), strict=True)
    found = compared(
        batch_of(values, keys), TypedDecoder(options(format), struct_columns(fitting(format)))
    )
    assert found.share >= 0.9


@pytest.mark.parametrize("format", FORMATS)
def test_any_type(format: str) -> None:
    """Rows are the same whatever the type, those of damaged messages too."""
    values = [value for value, _ in examples(format)][:700] + captured(format)
    short = [value for value in values if value and len(value) < _MOST]
    every = [*values, *damaged(format, short, 1000, seed=1), *mutated(format, 500)]
    for seed in range(3):
        compared(
            batch_of(every), TypedDecoder(options(format), struct_columns(drawn(format, seed)))
        )
        compared(
            batch_of(damaged(format, short, 500, seed)),
            TypedDecoder(options(format), struct_columns(fitting(format))),
        )


@pytest.mark.parametrize("format", FORMATS)
def test_variant(format: str) -> None:
    """The text that becomes VARIANT is the same."""
    found = compared(
        batch_of([*captured(format), *mutated(format, 500)]), VariantDecoder(options(format))
    )
    assert found.declined < found.messages


@pytest.mark.parametrize("kind", [DateType(), TimestampType(), TimestampNTZType(), StringType()])
def test_dates_of_dataworks(kind: DataType) -> None:
    """Midnight is a date, and the kernel makes columns of it; another time of day is none."""
    days = [0, -86_400_000, 1_731_628_800_000, -62_135_596_800_000]
    sent = [dataworks_insert({"a": "DATE"}, a=value) for value in (*days, 1, -1, 43_200_000)]
    row = struct_columns(StructType([StructField("a", kind)]))
    found = compared(batch_of(sent), TypedDecoder(DecodeOptions("dataworks-json"), row))
    assert found.declined == (3 if kind == DateType() else 0)


@pytest.mark.parametrize("format", FORMATS)
def test_names_of_other_cases(format: str) -> None:
    """The kernel leaves rows to Python whose columns differ from those of the type in case only."""
    values, keys = zip(*examples(format), strict=True)
    kind = fitting(format)
    fields = [StructField(f.name.swapcase(), f.dataType, metadata=f.metadata) for f in kind.fields]
    for columns_of_type in (fields, [*kind.fields[:2], *fields[2:]], [*kind.fields, *fields[:3]]):
        row = struct_columns(StructType(columns_of_type))
        compared(batch_of(values, keys), TypedDecoder(options(format), row))


def test_names_of_other_cases_beyond_ascii() -> None:
    """It knows the cases of all letters."""
    names = ("größe", "GRÖSSE", "GRÖßE", "\u212a", "K", "k", "İ", "ς", "Σ")
    key = '"key": ["n", null, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", null], "gen": 1, "exp": 0, "lut": 1'
    bins = [f'{{"name": "{name}", "type": "int", "value": 1}}' for name in names]
    messages = [f'{{"msg": "write", {key}, "bins": [{one}]}}'.encode() for one in bins]
    for name in names:
        row = struct_columns(StructType([StructField(name, LongType())]))
        compared(batch_of(messages), TypedDecoder(options("aerospike-json"), row))
