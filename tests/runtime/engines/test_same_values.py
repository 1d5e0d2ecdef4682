"""A model, a change and a Spark row hold the same values for every golden message."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from tests.runtime.codec.formats import FORMATS, golden, name_of, role_of, wire_of
from tests.runtime.engines.facts import facts, record_key, record_of
from tests.runtime.engines.same import EPOCH, in_change, in_text, parsed, properties
from tests.support.ids import shown

import changewire as cw
import changewire.spark as cws

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

Row = dict[str, Any]
Rows = dict[tuple[str, str], list[Row]]


@pytest.fixture(scope="module")
def rows(spark: SparkSession, compiled: None) -> Rows:  # noqa: ARG001 - plans as users have them
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
        recorded = facts(name, model)
        source = change.source
        assert (source.database, source.schema, source.table) == recorded["source"]
        for image in ("before", "after"):
            assert in_change(getattr(change, image), recorded[image]), image
        time = change.event_time and _microseconds(change.event_time)
        assert time == (recorded["time"] and recorded["time"] * 1000)
        sequence = change.sequence and (change.sequence.major, change.sequence.minor)
        assert sequence == recorded["sequence"]
        for attribute, value in recorded["attributes"].items():
            assert in_change(change.attributes[attribute], value), attribute


@messages
def test_a_key_holds_what_its_row_holds(name: str, path: Path) -> None:
    """The columns of a key are those of the row that it names; a digest is that of the record."""
    for model in FORMATS[name].codec.decode_all(wire_of(path)):
        (change,) = cw.changes(model)
        if name.startswith("aerospike"):
            assert change.key == {"aerospike_digest": record_key(record_of(model)).digest}
            continue
        row, before = change.after or change.before or {}, change.before or {}
        for key, named in ((change.key, row), (change.before_key, before)):
            assert all(in_change(value, named[column]) for column, value in (key or {}).items())


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
