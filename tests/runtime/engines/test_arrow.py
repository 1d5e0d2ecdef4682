"""Decoding into Arrow: the same rows as the engines make, from wherever messages are."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from math import ceil
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql.types import LongType, StructField, StructType
from tests.runtime.engines.rows import dataworks_insert
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages

import changewire.arrow as cwa
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrow.batches import BATCH_BYTES
from changewire.engines.layout import CHANGES_TABLE, DEAD_LETTERS_TABLE
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun
from changewire.framing import FramingError, Position, Record

MESSAGES = mixed_messages()
VALUES = pa.table({"value": pa.array(MESSAGES, pa.binary())})


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file of the mixed messages that are one line each."""
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\n".join(m for m in MESSAGES if m is not None) + b"\n")
    return path


def test_each_element_is_in_one_of_three_and_counted() -> None:
    """Changes, controls and dead letters have the columns of the outputs, and add up."""
    changes, controls, dead_letters, counts = cwa.decode(MESSAGES, format=FORMAT).tables()
    found = {"changes": changes, "controls": controls, "dead_letters": dead_letters}
    assert {name: len(table) for name, table in found.items()} == {
        name: MIXED_COUNTS[name] for name in found
    }
    assert counts.elements == sum(map(len, found.values())) == MIXED_COUNTS["elements"]
    assert tuple(changes.column_names) == tuple(controls.column_names) == CHANGES_TABLE
    assert tuple(dead_letters.column_names) == DEAD_LETTERS_TABLE


def test_rows_are_those_of_a_run(lines: Path, tmp_path: Path) -> None:
    """A file gives value for value what `changewire run` writes into its log."""
    land([str(lines)], str(tmp_path / "log"), FileRun(DecodeOptions(FORMAT)))
    log = DeltaTable(tmp_path / "log").to_pyarrow_table()
    decoded = cwa.decode(lines, format=FORMAT).rows.read_all()
    names = [name for name in decoded.column_names if name in log.column_names]
    assert {*decoded.column_names} - {*names} == {"elements"}
    assert decoded.select(names).equals(log.select(names))


ARROW_SOURCES: dict[str, Callable[[], Any]] = {
    "pyarrow": lambda: VALUES,
    "pyarrow text": lambda: VALUES.slice(0, 7).cast(pa.schema({"value": pa.large_string()})),
    "polars": lambda: pl.DataFrame({"value": MESSAGES}),
    "pandas": lambda: pd.DataFrame({"value": MESSAGES}),
    "duckdb": lambda: duckdb.from_arrow(VALUES),
}


@pytest.mark.parametrize("name", ARROW_SOURCES)
def test_tables_of_any_library_are_read(name: str) -> None:
    """A column `value` of pyarrow, Polars, pandas or DuckDB gives the rows that bytes give."""
    table = ARROW_SOURCES[name]()
    messages = MESSAGES[:7] if name == "pyarrow text" else MESSAGES
    expected = cwa.decode(messages, format=FORMAT).changes.read_all().drop(["number"])
    found = cwa.decode(table, format=FORMAT)
    assert found.changes.read_all().drop(["number"]).equals(expected)
    assert found.counts.messages == len(messages)  # read a second time


def test_columns_of_kafka_are_kept() -> None:
    """Topic, offset, time, key and headers stand beside the rows, whatever their Arrow types."""
    time = pa.array([1617167159548], pa.timestamp("ms"))
    headers = pa.array([[{"key": "h", "value": b"v"}]])
    table = pa.table(
        {
            "value": MESSAGES[:1],
            "key": ["k"],
            "topic": pa.array(["t"], pa.large_string()),
            "partition": pa.array([3], pa.int64()),
            "offset": pa.array([7], pa.uint32()),
            "timestamp": time,
            "headers": headers,
            "other": [1],
        }
    )
    (row,) = cwa.decode(table, format=FORMAT).changes.read_all().to_pylist()
    assert (row["record_key"], row["topic"], row["partition"], row["offset"]) == (b"k", "t", 3, 7)
    assert row["timestamp"].isoformat() == "2021-03-31T05:05:59.548000+00:00"
    assert row["headers"] == [{"key": "h", "value": b"v"}]
    assert "other" not in row


def test_dead_letters_can_be_decoded_again() -> None:
    """They have the key, the value and the place of their record, under Kafka's names."""
    table = pa.table({"value": [b"{"], "key": [b"k"], "topic": ["t"], "offset": [7]})
    letters = cwa.decode(table, format=FORMAT).dead_letters.read_all()
    assert letters.column("key").to_pylist() == [b"k"]
    assert cwa.decode(letters, format=FORMAT).dead_letters.read_all() == letters


def test_times_of_clients_are_milliseconds() -> None:
    """Integers are the milliseconds that Kafka clients give; -1 is no time."""
    table = pa.table({"value": MESSAGES[:2], "timestamp": [1617167159548, -1]})
    first, second = cwa.decode(table, format=FORMAT).changes.read_all().column("timestamp")
    assert first.as_py().isoformat() == "2021-03-31T05:05:59.548000+00:00"
    assert second.as_py() is None


def test_records_and_files_may_be_mixed(lines: Path) -> None:
    """An iterable may hold records with their place, bytes, which are numbered, and files."""
    record = Record(b"k", MESSAGES[0], Position(topic="t", partition=0, offset=5))
    decoded = cwa.decode([record, MESSAGES[0], lines], format=FORMAT)
    rows = decoded.changes.read_all().select(["offset", "path", "number"]).to_pylist()
    assert rows[0] == {"offset": 5, "path": None, "number": None}
    assert rows[1] == {"offset": None, "path": None, "number": 1}
    assert rows[2] == {"offset": None, "path": str(lines), "number": 0}


def test_a_reader_takes_what_it_needs_and_no_more() -> None:
    """Endless messages are read batch by batch, as slowly as their reader goes."""
    taken = 0

    def endless() -> Iterator[bytes | None]:
        nonlocal taken
        while True:
            taken += 1
            yield MESSAGES[0]

    reader = cwa.decode(endless(), format=FORMAT).changes.reader()
    assert len(reader.read_next_batch()) == taken == ceil(BATCH_BYTES / len(MESSAGES[0] or b""))
    assert gc.isenabled()  # decoding pauses the collector, its caller does not
    reader.close()


def test_what_can_be_read_once_says_so() -> None:
    """A second reading of an iterator is an error, and not an empty table."""
    decoded = cwa.decode(iter(MESSAGES), format=FORMAT)
    changes: Any = duckdb.from_arrow(decoded.changes)
    assert len(changes.fetchall()) == MIXED_COUNTS["changes"]
    assert decoded.counts.elements == MIXED_COUNTS["elements"]  # of that one reading
    with pytest.raises(ValueError, match="only once"):
        decoded.dead_letters.read_all()
    again = cwa.decode(VALUES.to_reader(), format=FORMAT)
    again.tables()
    with pytest.raises(ValueError, match="only once"):
        again.tables()


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        (7, "expected files, messages or a table, not int"),
        ([7], "expected a file, bytes or a Record, not int"),
        (pa.table({"text": ["a"]}), "expected a binary or string column 'value'"),
        (pa.table({"value": [1]}), "the column 'value' is int64; it must be binary"),
        (pa.table({"value": [b""], "headers": [[{"name": "h"}]]}), "must be list<item: struct<key"),
    ],
)
def test_what_is_no_message_is_refused(messages: Any, error: str) -> None:
    """Each wrong source is named by its type."""
    with pytest.raises(TypeError, match=error):
        cwa.decode(messages, format=FORMAT).tables()


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    """What was read before is handed out, then comes the error: nothing is lost in silence."""
    with pytest.raises(FramingError):
        cwa.decode(tmp_path / "missing", format=FORMAT).tables()


ROW = StructType([StructField("count", LongType()), StructField("flag", LongType())])
TYPES: dict[str, Any] = {
    "pyarrow": pa.schema({"count": pa.int64(), "flag": pa.int64()}),
    "pyspark": ROW,
}


@pytest.mark.parametrize("name", TYPES)
def test_rows_may_have_types(name: str) -> None:
    """Typed rows are those of Spark: values fit exactly, or the element is a dead letter."""
    decoded = cwa.decode(MESSAGES[:4], format=FORMAT, row_schema=TYPES[name])
    assert decoded.changes.schema.field("after").type == pa.struct(TYPES["pyarrow"])
    changes, _, dead_letters, counts = decoded.tables()
    assert changes.column("after").to_pylist()[0] == {"count": None, "flag": None}
    assert dead_letters.select(["code", "pointer"]).to_pylist() == [
        {"code": "wrong-type", "pointer": "/after/flag"}
    ]
    assert counts.elements == 4


def test_text_in_metadata_of_a_column_holds_any_value() -> None:
    """Metadata of an Arrow column means what it means in Spark."""
    flag = pa.field("flag", pa.string(), metadata={"contentMediaType": "application/json"})
    decoded = cwa.decode(MESSAGES[1:2], format=FORMAT, row_schema=pa.schema([flag]))
    assert decoded.changes.read_all().column("after").to_pylist() == [{"flag": "true"}]


def test_variant_is_for_spark() -> None:
    """There is no VARIANT in Arrow, and the text says so."""
    with pytest.raises(ValueError, match="for Spark"):
        cwa.decode(MESSAGES, format=FORMAT, row_schema="variant")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (pa.uint64(), "uint64"),
        (pa.null(), "null"),
        (pa.decimal256(50, 2), r"decimal\(50,2\)"),
        (pa.list_(pa.duration("s")), r"duration\[s\]"),
        (pa.map_(pa.list_(pa.int8()), pa.int8()), r"map<array<tinyint>,tinyint>"),
    ],
)
def test_a_type_that_no_column_has_is_refused(kind: pa.DataType, name: str) -> None:
    """It is refused before a message is read."""
    with pytest.raises(ValueError, match=f"a row has no column of type {name}$"):
        cwa.decode(MESSAGES, format=FORMAT, row_schema=pa.schema([("a", kind)]))


def test_types_of_the_same_values_are_one_type() -> None:
    """A column has the type of Spark's, whichever of several Arrow types a user names."""
    given = pa.schema(
        {
            "a": pa.large_string(),
            "b": pa.timestamp("ns"),
            "c": pa.large_list(pa.dictionary(pa.int8(), pa.string())),
            "d": pa.decimal256(9, 2),
            "e": pa.struct({"f": pa.binary(16), "g": pa.map_(pa.string(), pa.large_binary())}),
            "h": pa.timestamp("ms", "Asia/Tokyo"),
        }
    )
    found = cwa.decode(MESSAGES, format=FORMAT, row_schema=given).changes.schema.field("after").type
    assert found == pa.struct(
        {
            "a": pa.string(),
            "b": pa.timestamp("us"),
            "c": pa.list_(pa.string()),
            "d": pa.decimal128(9, 2),
            "e": pa.struct({"f": pa.binary(), "g": pa.map_(pa.string(), pa.binary())}),
            "h": pa.timestamp("us", "UTC"),
        }
    )


def test_columns_of_all_schemas_in_the_messages() -> None:
    """The first type of a column stays or is widened; what does not fit it is a dead letter."""
    sent = [
        dataworks_insert({"id": "LONG", "name": "STRING"}, id=1, name="a"),
        dataworks_insert({"id": "LONG", "at": "DATE"}, id=2, at=0),
        dataworks_insert({"id": "STRING", "more": "LONG"}, id="c", more=3),
        b"{",
    ]
    decoded = cwa.decode(sent, format="dataworks-json", row_schema="embedded")
    kind = decoded.changes.schema.field("after").type
    utc = pa.timestamp("us", "UTC")
    assert kind == pa.struct({"id": pa.int64(), "name": pa.string(), "at": utc})
    changes, _, dead_letters, _ = decoded.tables()
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert changes.column("after").to_pylist() == [
        {"id": 1, "name": "a", "at": None},
        {"id": 2, "name": None, "at": epoch},
    ]
    assert dead_letters.column("pointer").to_pylist() == ["/after/id", ""]


def test_columns_that_values_alone_show_are_undeclared() -> None:
    """A row has the columns that schemas declare; others are kept, and refuse no row."""
    kinds = {"id": "LONG"}
    sent = [dataworks_insert(kinds, id=i, more=value) for i, value in enumerate([1, "x", 1.5])]
    decoded = cwa.decode(sent, format="dataworks-json", row_schema="embedded")
    changes, _, dead_letters, _ = decoded.tables()
    assert changes.schema.field("after").type == pa.struct({"id": pa.int64()})
    assert not len(dead_letters)
    kept = [json.loads(text)["undeclared"]["after"] for text in changes["attributes"].to_pylist()]
    assert kept == [{"more": 1}, {"more": "x"}, {"more": 1.5}]


@pytest.mark.parametrize(
    ("messages", "format", "why"),
    [
        ([b"{}"], "dataworks-json", "no schema in the messages declares a column"),
        ([b"{}"], FORMAT, "carry no schema"),
        (iter([b"{}"]), "dataworks-json", "reads messages twice"),
    ],
)
def test_columns_that_nothing_declares(messages: Any, format: str, why: str) -> None:
    """A sentence says what is missing."""
    with pytest.raises(ValueError, match=why):
        cwa.decode(messages, format=format, row_schema="embedded")


def test_no_spark_is_loaded() -> None:
    """Neither decoding into Arrow nor reading a change log loads PySpark."""
    code = """
import sys
import pyarrow as pa
import changewire.arrow as cwa, changewire.engines.changelog.target
import changewire.engines.changelog.trace
cwa.decode(b"{}", format="aerospike-json").tables()
cwa.decode(b"{}", format="aerospike-json", row_schema=pa.schema({"a": pa.int64()})).tables()
print(*{"pyspark", "deltalake"} & {*sys.modules})
"""
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == ""
