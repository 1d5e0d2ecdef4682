"""Tables that a rebuild gives other columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from tests.runtime.engines.auto_cases import FLAT, flat
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge.test_auto import rows_in
from tests.runtime.engines.rebuild_cases import (
    AUTO,
    FIRST,
    FORMAT,
    LATER,
    LATER_TYPED,
    RESCUED,
    SECOND,
    TYPE,
    TYPED,
    without_user_key,
)

import changewire.spark as cws
from changewire.engines.errors import OutputError
from changewire.engines.spark.merge.formats import format_of, properties_of
from changewire.tables.row_state import COLUMN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USERS = FLAT
FORMATS = pytest.mark.parametrize(
    "table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)]
)


def sent(spark: SparkSession, lake: Lake, batch: Sequence[Any], **options: Any) -> dict[str, Any]:
    """Apply messages of Aerospike, and return what became of their changes."""
    start = 10 * lake.files
    lake.send_records(records(*(json.dumps(one).encode() for one in batch), start=start))
    return lake.apply_messages(spark, format=FORMAT, **options)[-1]


def places(lake: Lake) -> dict[str, Any]:
    """Return where log and tables are, as `rebuild` takes it."""
    return {name: one for name, one in lake.places.items() if name != "checkpoint"}


def identifier(lake: Lake, name: str = "users") -> str:
    """Return a table, as SQL names it."""
    target = lake.places["target"].format(table=name)
    return format_of(lake.table_format).identifier(target)


def commits(spark: SparkSession, lake: Lake) -> int:
    """Return how many versions or snapshots the table has."""
    if lake.table_format == "delta":
        return DeltaTable(str(lake.tables / "users")).version() + 1
    table = identifier(lake)
    spark.catalog.refreshTable(table)
    return spark.table(f"{table}.snapshots").count()


def rebuilt(spark: SparkSession, lake: Lake, **options: Any) -> None:
    """Rebuild the table in one commit, and see that it is as its log says."""
    before = commits(spark, lake)
    cws.rebuild(spark, **places(lake), **options)
    assert commits(spark, lake) == before + 1
    assert lake.faults(spark) == []


def made_earlier(spark: SparkSession, lake: Lake, name: str = "users") -> None:
    """Take the field from the state of rows that tables of an earlier version lack."""
    table = identifier(lake, name)
    if lake.table_format == "iceberg":
        spark.sql(f"ALTER TABLE {table} DROP COLUMN {COLUMN}.rescued")
        return
    rows = spark.table(table)
    rows = rows.withColumn(COLUMN, F.col(COLUMN).dropFields("rescued")).localCheckpoint()
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    writer.save(str(lake.tables / name))


def by_key(spark: SparkSession, lake: Lake) -> list[dict[str, Any]]:
    """Return the rows of JSON text of the table by their key."""
    return sorted(lake.rows(spark, "users"), key=lambda row: str(row["key"]))


@FORMATS
def test_text_becomes_columns_and_columns_text(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """Rows are as if the table had always had them so, and runs with this `row_schema` go on."""
    lake = lake_in(table_format, spark, tmp_path)
    sent(spark, lake, FIRST + SECOND)
    as_text = by_key(spark, lake)
    rebuilt(spark, lake, row_schema={"users": "auto", "*": "json"})
    assert rows_in(spark, lake, USERS) == AUTO
    with pytest.raises(OutputError, match=r"rows are columns, and .* asks for JSON text; `reb"):
        sent(spark, lake, LATER)
    (counts,) = lake.apply_messages(spark, format=FORMAT, row_schema="auto")
    assert counts["rescued_values"] == 1
    assert rows_in(spark, lake, USERS)[1][1] == {"price": "9.99"}
    rebuilt(spark, lake, row_schema="json")
    assert properties_of(spark, identifier(lake))["changewire.columns"] == ""
    sent(spark, lake, [flat(0, 1, a=1)])
    (_, *found) = by_key(spark, lake)
    assert [found[0], found[2]] == [as_text[0], as_text[2]]
    assert json.loads(found[1]["row"])["price"] == "9.99"


@pytest.mark.long
@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_rescued_values_are_in_columns_of_a_type(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """Values that did not fit are in the columns of a type that has them; later runs go on."""
    lake = lake_in(table_format, spark, tmp_path)
    sent(spark, lake, FIRST, row_schema="auto")
    sent(spark, lake, SECOND, row_schema="auto")
    assert rows_in(spark, lake, USERS) == RESCUED
    rebuilt(spark, lake, row_schema=TYPE)
    assert without_user_key(rows_in(spark, lake, USERS)) == TYPED
    sent(spark, lake, LATER, row_schema=TYPE)
    assert without_user_key(rows_in(spark, lake, USERS)) == LATER_TYPED
    assert lake.faults(spark) == []


@pytest.mark.long
def test_a_run_with_another_row_schema(spark: SparkSession, tmp_path: Path) -> None:
    """It is refused by a sentence that names `rebuild`."""
    lake = Lake(tmp_path)
    sent(spark, lake, FIRST)
    for row_schema in ("auto", TYPE):
        with pytest.raises(OutputError, match=r"rows are JSON text, and .* asks for columns; `reb"):
            sent(spark, lake, SECOND, row_schema=row_schema)
    cws.rebuild(spark, **places(lake), row_schema="auto")
    with pytest.raises(OutputError, match=r"rows are columns, and .* asks for JSON text; `reb"):
        sent(spark, lake, LATER)
    with pytest.raises(OutputError, match=r"column 'price' is bigint, .*; `rebuild` gives the"):
        sent(spark, lake, LATER, row_schema=TYPE)


def test_what_does_not_fit_stops_a_rebuild(spark: SparkSession, tmp_path: Path) -> None:
    """The table is as it was: no row is left out, unless its value is kept as rescued."""
    lake = Lake(tmp_path)
    sent(spark, lake, [*FIRST, flat(3, 1, a="text")])
    before = lake.rows(spark, "users")
    misfit = r"users: 1 changes .* such as wrong-type: /after/a: .*was \(misfits='rescue' keeps"
    with pytest.raises(OutputError, match=misfit):
        cws.rebuild(spark, **places(lake), row_schema=TYPE)
    of_key = pa.schema([("aerospike_digest", pa.int64())])
    with pytest.raises(OutputError, match=r"such as schema-mismatch: /key/.*as it was$"):
        cws.rebuild(spark, **places(lake), row_schema=of_key)
    with pytest.raises(ValueError, match="`numbers` is for `row_schema`"):
        cws.rebuild(spark, **places(lake), numbers="refuse")
    assert lake.rows(spark, "users") == before
    rebuilt(spark, lake, row_schema=TYPE, misfits="rescue")
    assert rows_in(spark, lake, USERS)[2][1] == {"a": "text"}
    assert "refused" not in sent(spark, lake, LATER, row_schema=TYPE, misfits="rescue")
    assert lake.faults(spark) == []


@pytest.mark.long
def test_rescued_rows_stay_if_later_misfits_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    """`misfits` is about changes to come: what a table has taken is right, and stays."""
    lake = Lake(tmp_path)
    sent(spark, lake, [*FIRST, flat(3, 1, a="text")], row_schema="auto")
    later = [flat(1, 2, a=7), flat(0, 2, a="text")]
    assert sent(spark, lake, later, row_schema="auto", misfits="refuse")["refused"] == 1
    before = rows_in(spark, lake, USERS)
    assert before[2][1] == {"a": "text"}
    assert lake.faults(spark) == []
    rebuilt(spark, lake)
    assert rows_in(spark, lake, USERS) == before


def test_a_rebuild_counts_the_types_of_refused_values(spark: SparkSession, tmp_path: Path) -> None:
    """So a change fits later; that a replay applies it then is tested without Spark."""
    lake, how = Lake(tmp_path), {"row_schema": "auto", "misfits": "refuse"}
    lake.send_records(records(*(json.dumps(one).encode() for one in FIRST)))
    with one_by_one("delta"):
        assert sent(spark, lake, [flat(1, 2, a=5.5)], **how)["refused"] == 1
    rebuilt(spark, lake, **how)
    assert lake.table(spark, "users").schema["a"].dataType.simpleString() == "double"
    assert [one["a"] for one, _ in rows_in(spark, lake, USERS)] == [5.0, 6.0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("table_format", "made", "row_schema"),
    [
        ("delta", "json", "auto"),
        ("iceberg", "auto", None),
    ],
)
def test_a_table_of_an_earlier_version(
    spark: SparkSession, tmp_path: Path, table_format: str, made: str, row_schema: str | None
) -> None:
    """It is refused by a sentence that names `rebuild`, which makes it right."""
    lake = lake_in(table_format, spark, tmp_path)
    sent(spark, lake, FIRST, row_schema=made)
    made_earlier(spark, lake)
    with pytest.raises(OutputError, match=r"earlier version made it, and .*rebuild mends it"):
        sent(spark, lake, [flat(2, 2, a=8)], row_schema=made)
    cws.rebuild(spark, **places(lake), row_schema=row_schema)
    sent(spark, lake, LATER, row_schema=row_schema or made)
    assert lake.faults(spark) == []


@pytest.mark.parametrize(
    ("table_format", "made", "row_schema"),
    [
        pytest.param("delta", "json", None, marks=pytest.mark.long),
        ("delta", "auto", "json"),
        pytest.param("iceberg", "json", "auto", marks=pytest.mark.long),
    ],
)
def test_columns_of_others_stay(
    spark: SparkSession, tmp_path: Path, table_format: str, made: str, row_schema: str | None
) -> None:
    """Whatever columns name the rows before and after, a row keeps what others have there.

    So it does in a table of an earlier version, which is refused until a rebuild mends it.
    """
    lake = lake_in(table_format, spark, tmp_path)
    types = {"id": "LONG", "day": "DATE", "name": "STRING"}
    rows = [{"id": number, "day": 1704067200000, "name": "a"} for number in range(3)]
    said = [message("INSERT", 1, row, types=types, key=("id", "day")) for row in rows]
    how = {"format": "dataworks-json", "time_zone": "UTC"}
    lake.send_records(records(*said))
    lake.apply_messages(spark, row_schema=made, **how)
    table = identifier(lake, "t")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (note STRING)")
    one = "id = 1" if made == "auto" else "key LIKE '%:1}'"
    spark.sql(f"UPDATE {table} SET note = 'mine' WHERE {one}")  # noqa: S608 - all is ours
    made_earlier(spark, lake, "t")
    lake.send_records(
        records(message("INSERT", 2, rows[1], types=types, key=("id", "day")), start=9)
    )
    with pytest.raises(OutputError, match=r"earlier version made it, and .*rebuild mends it"):
        lake.apply_messages(spark, row_schema=made, **how)
    cws.rebuild(spark, **places(lake), row_schema=row_schema)
    (noted,) = (one for one in lake.rows(spark, "t") if one["note"] == "mine")
    assert noted.get("id", 1) == 1
    assert lake.faults(spark) == []
    lake.send_records(
        records(message("INSERT", 3, rows[1], types=types, key=("id", "day")), start=10)
    )
    lake.apply_messages(spark, row_schema=row_schema or made, **how)
    (noted,) = (one for one in lake.rows(spark, "t") if one["note"] is not None)
    assert (noted["note"], noted[COLUMN]["major"]) == ("mine", 3)


PRICE = pa.schema([("price", pa.int64()), ("b", pa.string())])


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_layout_and_properties_stay(spark: SparkSession, tmp_path: Path, table_format: str) -> None:
    """A rebuild keeps partitions, properties and constraints, or says that it cannot."""
    lake = lake_in(table_format, spark, tmp_path)
    sent(spark, lake, FIRST, row_schema="auto")
    table, is_delta = identifier(lake), table_format == "delta"
    parts = "b" if is_delta else "bucket(4, b), truncate(2, aerospike_digest), a"
    own = {n: t for n, t in properties_of(spark, table).items() if n.startswith("changewire.")}
    named = ", ".join(f"'{name}' = '{text}'" for name, text in own.items())
    other = "delta.appendOnly" if is_delta else "write.parquet.compression-codec"
    value = "false" if is_delta else "gzip"
    rows = spark.table(table).localCheckpoint()
    statement = (
        f"REPLACE TABLE {table} USING {table_format} PARTITIONED BY ({parts}) "  # noqa: S608 - ours
        f"COMMENT 'it\\'s ours' TBLPROPERTIES ({named}, '{other}' = '{value}') "
        "AS SELECT * FROM {rows}"
    )
    spark.sql(statement, rows=rows)
    if is_delta:
        spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT short CHECK (length(b) < 9)")
    before = parts_of(spark, table)
    rebuilt(spark, lake, row_schema="auto")
    assert parts_of(spark, table) == before
    properties = properties_of(spark, table)
    assert properties[other] == value
    assert {name: properties[name] for name in own} == own
    assert "it's ours" in str(spark.sql(f"DESCRIBE EXTENDED {table}").collect())
    with pytest.raises(OutputError, match="row_schema has no column 'b', on which depends: its la"):
        cws.rebuild(spark, **places(lake), row_schema="json")
    if is_delta:
        feature = "'delta.feature.allowColumnDefaults' = 'supported'"
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({feature})")
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN b SET DEFAULT 'none'")
        with pytest.raises(OutputError, match=r"column 'b' is NOT NULL, .* would end that"):
            cws.rebuild(spark, **places(lake), row_schema=PRICE)


def parts_of(spark: SparkSession, table: str) -> list[Any]:
    """Return what the description of a table says of its partitions."""
    rows = spark.sql(f"DESCRIBE TABLE {table}").collect()
    start = next(i for i, row in enumerate(rows) if row["col_name"].startswith("# Partition"))
    return rows[start:]
