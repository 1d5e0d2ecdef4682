"""A model, a change and a Spark row hold the same values for every golden message."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from msgspec import Raw, Struct
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.pandas.types import from_arrow_schema
from tests.runtime.codec.formats import FORMATS, golden, name_of, role_of, wire_of
from tests.runtime.engines.facts import facts
from tests.runtime.engines.same import EPOCH, in_change, in_text, parsed, properties
from tests.support.ids import shown

import changewire as cw
import changewire.spark as cws
from changewire_messages import FORMATS as PACKAGES
from changewire_messages.columns import exact_texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MESSAGES = [(name, path) for name, path in golden("valid") if role_of(path) in {"message", "batch"}]
NO_CHANGE = {
    "message-write-duplicate-names": "two bins of one name would be two values of one column",
    "batch-empty": "a batch of nothing is an event that no model stands for",
}
"""Golden messages that no change is compared with, and why."""

CHANGES = [(name, path) for name, path in MESSAGES if path.stem not in NO_CHANGE]
messages = pytest.mark.parametrize(("name", "path"), CHANGES, ids=name_of)
formats = pytest.mark.parametrize("name", FORMATS)

Row = dict[str, Any]
Rows = dict[tuple[str, str], list[Row]]


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Rows:
    """The rows that Spark makes of each message, those of a batch in their order."""
    found: Rows = defaultdict(list)
    for name in FORMATS:
        values = [(path.stem, wire_of(path)) for other, path in MESSAGES if other == name]
        frame = spark.createDataFrame(values, "topic string, value binary").coalesce(1)
        decoded = cws.decode(frame, format=name).rows
        times = decoded.withColumn("event_time", F.unix_micros("event_time"))
        for row in times.orderBy("topic", "element").collect():
            found[name, row["topic"]].append(row.asDict(recursive=True))
    return found


@messages
def test_a_row_holds_what_its_change_holds(name: str, path: Path, rows: Rows) -> None:
    """Texts and numbers of a row are those of the change; its JSON text is exact."""
    models = FORMATS[name].codec.decode_all(wire_of(path))
    for row, model in zip(rows[name, path.stem], models, strict=True):
        (change,) = cw.changes(model)
        for column in ("key", "before_key", "before", "after", "attributes"):
            assert in_text(parsed(row[column]), getattr(change, column)), column
        for column in ("op", "ddl", "schema_fingerprint"):
            assert row[column] == getattr(change, column)
        for column in ("source", "sequence"):
            struct = getattr(change, column)
            assert row[column] == (struct and properties(struct))
        assert row["event_time"] == (change.event_time and _microseconds(change.event_time))
        used = [*cw.leniencies(model), *change.attributes.get("leniencies", ())]
        assert row["leniencies"] == used
        assert row["kind"] in {"change", "control"}


def _microseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


@messages
def test_a_change_holds_what_its_model_holds(name: str, path: Path) -> None:
    """Each column of a change is a value of the message; none is lost, and none is added."""
    for model in FORMATS[name].codec.decode_all(wire_of(path)):
        (change,) = cw.changes(model)
        told = facts(name, model)
        source = change.source
        assert (source.database, source.schema, source.table) == told["source"]
        for image in ("before", "after"):
            assert in_change(getattr(change, image), told[image]), image
        time = change.event_time and _microseconds(change.event_time)
        assert time == (told["time"] and told["time"] * 1000)
        sequence = change.sequence and (change.sequence.major, change.sequence.minor)
        assert sequence == told["sequence"]
        for attribute, value in told["attributes"].items():
            assert in_change(change.attributes[attribute], value), attribute


@messages
def test_a_key_holds_what_its_row_holds(name: str, path: Path) -> None:
    """The columns of a key are those of the row that it names; a digest is that of the record."""
    for model in FORMATS[name].codec.decode_all(wire_of(path)):
        (change,) = cw.changes(model)
        if name.startswith("aerospike"):
            record = getattr(model, "payload", model)
            assert change.key == {"aerospike_digest": record.key.digest}
            continue
        row, before = change.after or change.before or {}, change.before or {}
        for key, named in ((change.key, row), (change.before_key, before)):
            assert all(in_change(value, named[column]) for column, value in (key or {}).items())


@formats
def test_a_table_of_messages_holds_what_their_models_hold(name: str, spark: SparkSession) -> None:
    """Typed tables of whole messages go from Arrow to Spark, with the type that Spark is told."""
    package = PACKAGES[name]
    form = FORMATS[name]
    paths = [path for path in form.golden("valid") if role_of(path) == "message"]
    models = [form.codec.decode(wire_of(path)) for path in paths]
    array = import_module(f"{package}.arrow").message_array(models)
    told = import_module(f"{package}.spark").MESSAGE
    table = pa.Table.from_struct_array(pa.chunked_array([array]))
    assert from_arrow_schema(table.schema).simpleString() == told.simpleString()
    found = spark.createDataFrame(table, told).coalesce(1).collect()
    for row, model in zip(found, models, strict=True):
        _check_struct(row.asDict(recursive=True), model, _SAYS[form.encoding.rule])


Says = Callable[[str, Any], bool]
"""Tells whether JSON text in a column says a value."""

_SAYS: Mapping[str, Says] = {
    "json": lambda text, value: in_text(parsed(text), value),
    # What JSON lacks has a form there, which test_msgpack_columns.py compares with the values.
    "msgpack": lambda text, value: exact_texts([value]).to_pylist() == [text],
}


def _check_struct(row: Row, model: Struct, says: Says) -> None:
    """Check that columns hold the properties of a model; those of its other variants are NULL."""
    values = properties(model)
    assert values.keys() <= row.keys()
    for name, found in row.items():
        _check_value(found, values.get(name), says)


def _check_value(found: Any, value: Any, says: Says) -> None:
    if isinstance(found, dict):
        _check_struct(found, value, says)
    elif isinstance(found, list):
        assert len(found) == len(value)
        for one, other in zip(found, value, strict=True):
            _check_value(one, other, says)
    elif isinstance(value, Raw):
        assert (found or "null").encode() == bytes(value)
    elif isinstance(found, bytearray):
        assert bytes(found) == value
    elif isinstance(found, str) and found != value:
        assert says(found, value)
    else:
        assert found == value
        assert type(found) is (str if isinstance(value, str) else type(value))


@pytest.mark.parametrize(
    ("found", "value"),
    [
        *((1, True), (1, "1"), (1, Decimal(1)), (Decimal("1.0"), 1), ("1.5", 1.5), (None, "")),
        *((Decimal("1.5"), Decimal("1.50")), ("AA==", b"\x01"), ("x", b""), ([1], [1, None])),
        *(({}, {"a": None}), ({"1": 1}, {1: 1}), ("1.50", Decimal("1.5")), ("NaN", math.inf)),
        ("2021-01-01T00:00:00Z", datetime(2021, 1, 1, 0, 0, 0, 1, timezone.utc)),
    ],
    ids=shown,
)
def test_the_comparison_tells_types_and_digits_apart(found: object, value: object) -> None:
    """What is only like a value, such as 1 for true, is not held to be the same."""
    assert not in_text(found, value)


@pytest.mark.parametrize(
    ("found", "value"),
    [
        *((1, True), (1, "1"), (1.0, 1), ("1", 1), (b"\x01", "AA=="), (Decimal("1.5"), "1.50")),
        *((None, ""), ({}, {"a": None}), ([1], [1, 2]), ({"a": b"1"}, {"a": "1"})),
        *((EPOCH, 1), (EPOCH.date(), 1), (EPOCH, "1970-01-01T00:00:01Z"), (EPOCH, "no time")),
    ],
    ids=shown,
)
def test_a_change_must_mean_what_its_message_says(found: object, value: object) -> None:
    """A value of a change that is another one than in the message is noticed."""
    assert not in_change(found, value)
