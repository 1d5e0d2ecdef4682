"""Messages that say their format: the kernel reads each by the format that Python takes for it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.native.differential import FORMATS, batch_of, compare, compared, kernel, needs_kernel
from tests.native.mutants import damaged
from tests.native.test_differential import examples
from tests.runtime.codec.formats import JSON_FORMATS
from tests.runtime.engines.any_messages import captured

from changewire.changes.decode_options import DecodeOptions
from changewire.engines import native
from changewire.engines.spark.types import struct_columns
from changewire.engines.typed.decode import TypedDecoder
from changewire_messages import FORMATS as ALL

pytestmark = needs_kernel

OPTIONS: Sequence[Mapping[str, Any]] = (
    *(
        {},
        {"row_image": "patch"},
        {"key_columns": ["id"]},
        {"column_families": ["f", "cf"], "row_image": "patch"},
    ),
)
CASES = [DecodeOptions("auto", **options) for options in OPTIONS]
AUTO = CASES[0]
GOOD = {name: form.good for name, form in JSON_FORMATS.items()}
GOOD_VALUES = [*GOOD.values()]
_LONG = 2_000


def mixed(seed: int) -> list[tuple[bytes | None, bytes | None]]:
    """Return examples of all formats with their keys: runs of one format, and one after another."""
    draw = random.Random(seed)  # noqa: S311 - the same in each run
    found = [record for name in FORMATS for record in examples(name)]
    shuffled = draw.sample(found, 2_000)
    return [*found, *shuffled]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_examples(options: DecodeOptions) -> None:
    """Rows of the examples of all formats are the same, and the kernel makes most of them."""
    values, keys = zip(*mixed(1), strict=True)
    assert compare(batch_of(values, keys), options).share >= 0.95


def test_corpora_and_damaged_messages() -> None:
    """So are rows of the corpora, and of damaged messages of each format."""
    for name in FORMATS:
        values = [value for value in captured(name) if value] + GOOD_VALUES
        short = [value for value in values if len(value) < _LONG]
        compare(batch_of(captured(name)), AUTO)
        compare(batch_of(damaged(name, short, 2_000, seed=3)), AUTO)


def test_rows_of_a_type() -> None:
    """Columns of a type are filled whatever the format."""
    kind = StructType([StructField("id", LongType()), StructField("name", StringType())])
    values, keys = zip(*mixed(2), strict=True)
    assert (
        compared(batch_of(values, keys), TypedDecoder(AUTO, struct_columns(kind))).declined
        < len(values) / 2
    )


@pytest.mark.parametrize("format", GOOD)
@pytest.mark.parametrize(
    "member",
    [
        *(b'"new":1', b'"msg":"write"', b'"msg":1', b'"version":"0.0.1"', b'"payload":{}'),
        *(b'"schema":{}', b'"schema":null', b'"key":[]', b'"bins":[]', b'"gen":1'),
        b'"payload":{"op":"c","ts_ms":6,"after":{},"source":{"namespace":"n","table":"t","ts_ms":5}}',
        b'"payload":{"op":"INSERT","after":{"dataColumn":{}},"timestamp":{"eventTime":5}}',
    ],
    ids=str,
)
def test_properties_of_other_formats(format: str, member: bytes) -> None:
    """A message that has properties of another format too may be that one's: Python decides."""
    good = GOOD[format]
    messages = [good[:-1] + b"," + member + b"}", b"{" + member + b"," + good[1:]]
    more = [good[:-1] + b',"version":"1",' + member + b"}"]
    batch = batch_of([*messages, *more, good])
    found = kernel(AUTO)
    found.decode(batch)
    assert found.counts.declined_by.get("panic") is None
    compare(batch, AUTO)
    for other in GOOD.values():
        compare(batch_of([other, *messages, other]), AUTO)


def test_what_is_known_of_declined_messages() -> None:
    """What may be of two formats, and what is nearly of a format, have their places."""
    found = kernel(AUTO)
    doubtful = GOOD["lindorm-json"][:-1] + b',"version":"1"}'
    found.decode(batch_of([*GOOD_VALUES, doubtful]))
    assert found.counts.declined_by == {"format": 1}
    broken = GOOD["aerospike-json"].replace(b'"gen":1', b'"gen":-1')
    found = kernel(AUTO)
    found.decode(batch_of([GOOD["lindorm-json"], broken]))
    assert found.counts.declined_by == {"Write.gen": 1}


def test_every_format_has_a_table() -> None:
    """Without the table of one format there is no kernel for all of them."""
    assert native.tables_of("auto").keys() == ALL.keys()
    assert native.tables_of("no-format") == {}
