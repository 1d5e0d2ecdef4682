"""Records behind the prefix of a schema registry, in every reader that takes the option."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.runtime.changes import dataworks, lindorm

import changewire as cw
import changewire.arrow as cwa
import changewire.delta as cwd
import changewire.spark as cws
from changewire import job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = b"\x00\x00\x00\x00\x09"
KEY = b'{"id": 7}'
LINDORM = cw.encode(lindorm.message("u", after={"id": 7, "name": "a"}))
DATAWORKS = cw.encode(dataworks.message("INSERT", after={"id": 7, "name": "a"}))


def records(value: bytes, *, is_framed: bool) -> pa.Table:
    """Return a record with and one without prefix, or two without."""
    prefix = PREFIX if is_framed else b""
    columns = {"value": [prefix + value, value], "key": [prefix + KEY, KEY]}
    return pa.table({name: pa.array(found, pa.binary()) for name, found in columns.items()})


def without_records(rows: Any) -> list[Any]:
    """Return rows without the columns of their records."""
    left_out = {"record_key", "value"}
    return [{k: v for k, v in row.items() if k not in left_out} for row in rows.to_pylist()]


@pytest.mark.parametrize("rows", ["json", pa.schema({"name": pa.string()})], ids=["json", "typed"])
def test_arrow_reads_what_follows(rows: Any) -> None:
    """Changes are those of plain records; the key of the record stays as it was."""
    options: dict[str, Any] = {"format": "lindorm-json", "row_schema": rows}
    plain = cwa.decode(records(LINDORM, is_framed=False), **options).changes.read_all()
    framed = records(LINDORM, is_framed=True)
    found = cwa.decode(framed, **options, strip_registry_prefix=True).changes.read_all()
    assert without_records(found) == without_records(plain)
    assert found["key"].to_pylist() == ['{"id":7}'] * 2
    assert found["record_key"].to_pylist() == [PREFIX + KEY, KEY]
    letters = cwa.decode(framed, **options).dead_letters.read_all()
    assert letters["code"].to_pylist() == ["registry-framing"]
    assert letters["value"].to_pylist() == [PREFIX + LINDORM]


@pytest.mark.parametrize("format", ["dataworks-json", "auto"])
def test_a_dead_letter_keeps_its_prefix(format: str) -> None:
    """What is refused behind the prefix is kept as it came, and names its format."""
    bad = cw.encode(dataworks.message("INSERT", after={"id": "x"}))
    found = cwa.decode([PREFIX + bad], format=format, strip_registry_prefix=True)
    (letter,) = found.dead_letters.read_all().to_pylist()
    assert (letter["code"], letter["format"]) == ("contradicts-schema", "dataworks-json")
    assert letter["value"] == PREFIX + bad


def test_embedded_columns_are_those_behind_the_prefix() -> None:
    """Schemas in framed messages are read, and rows have their columns."""
    found = cwa.decode(
        [PREFIX + DATAWORKS],
        format="dataworks-json",
        row_schema="embedded",
        strip_registry_prefix=True,
    )
    (row,) = found.changes.read_all().to_pylist()
    assert row["after"] == {"id": 7, "name": "a"}


def test_messages_are_read_behind_the_prefix() -> None:
    """Messages as typed columns are the same."""
    options: dict[str, Any] = {"format": "lindorm-json", "strip_registry_prefix": True}
    (framed, plain) = (
        cwa.messages([PREFIX + LINDORM, LINDORM], **options).messages.read_all().to_pylist()
    )
    assert framed["content"] == plain["content"]


def test_jobs_take_the_option(tmp_path: Path) -> None:
    """A run on files, and tables of delta-rs, have the changes of both records."""
    file = tmp_path / "topic.parquet"
    pq.write_table(records(LINDORM, is_framed=True), file)
    outcome = job.run(
        [str(file)],
        str(tmp_path / "out"),
        format="lindorm-json",
        engine="python",
        strip_registry_prefix=True,
    )
    assert (outcome.counts.changes, outcome.counts.dead_letters) == (2, 0)
    applied = cwd.apply_changes(
        str(file),
        format="lindorm-json",
        target=f"{tmp_path}/lake/{{table}}",
        log=str(tmp_path / "log"),
        row_schema="json",
        strip_registry_prefix=True,
    )
    assert applied.tables == {"inserted": 1}


def test_spark_reads_what_follows(spark: SparkSession) -> None:
    """Spark has the rows of Arrow, as changes and as messages."""
    table = records(LINDORM, is_framed=True)
    frame = spark.createDataFrame(table)
    options: dict[str, Any] = {"format": "lindorm-json", "strip_registry_prefix": True}
    changes = cwa.decode(table, **options).changes.read_all()
    found = cws.decode(frame, **options).changes.toArrow()
    assert found["key"].to_pylist() == changes["key"].to_pylist()
    assert found["after"].to_pylist() == changes["after"].to_pylist()
    contents = cws.messages(frame, **options).messages.toArrow()["content"].to_pylist()
    assert len(contents) == 2
    assert contents[0] == contents[1]
