"""Tables of delta-rs are those of Spark, value by value, and each engine goes on with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import (
    ArrayType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)
from tests.runtime.engines.any_messages import KEYS, captured, mutated
from tests.runtime.engines.apply.lake import Lake as SparkLake
from tests.runtime.engines.delta.lake import Lake
from tests.runtime.engines.delta.test_typed import typed_content
from tests.runtime.engines.same_tables import assert_same
from tests.runtime.tables.histories import change, placed, truncate
from tests.runtime.tables.model import tables_of

import changewire as cw
import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.python.batches import to_batch
from changewire.engines.spark.arrow_types import row_columns
from changewire.framing import expand, read
from changewire.tables.keys import key_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("interpreted")

EXAMPLES = Path(__file__).parents[4] / "examples"


FOLDERS = [EXAMPLES / name.replace("-", "_") for name in cw.formats()]


def records(*folders: Path) -> pa.Table:
    """Return all records of the files of folders of examples."""
    found = [record for path in expand([*map(str, folders)]) for record in read(path, shape="auto")]
    return pa.Table.from_batches([to_batch(found)])


@pytest.mark.parametrize(
    "folders", [[EXAMPLES / "mixed"], pytest.param(FOLDERS, marks=pytest.mark.long)]
)
def test_examples_end_in_the_same_tables(
    spark: SparkSession, tmp_path: Path, folders: list[Path]
) -> None:
    """Of each format the examples make the same tables, and the same dead letters."""
    codes = check_same(spark, tmp_path, records(*folders), {"format": "auto"})
    systems = {folder.name.partition(".")[0] for folder in (tmp_path / "rust").iterdir()}
    assert systems == {name.partition("-")[0] for name in cw.formats()}
    assert codes


AEROSPIKE = StructType(
    [
        StructField("name", StringType(), metadata={"comment": "Of the user."}),
        StructField("age", LongType()),
        StructField("score", DecimalType(9, 3)),
        StructField("tags", ArrayType(StringType())),
        StructField("any", StringType(), metadata={"contentMediaType": "application/json"}),
    ]
)
TYPED: dict[str, Any] = {
    "aerospike-json": AEROSPIKE,
    "dataworks-json": "embedded",
    "lindorm-json": "embedded",
}


@pytest.mark.parametrize("format", TYPED)
def test_typed_columns_are_the_same(spark: SparkSession, tmp_path: Path, format: str) -> None:
    """Columns, comments, keys, rows, tombstones and dead letters are those of Spark."""
    values = [*captured(format), *mutated(format, 150, seed=5)]
    columns = {
        "value": pa.array(values, pa.binary()),
        "topic": pa.array(["topic"] * len(values)),
        "partition": pa.array([0] * len(values), pa.int32()),
        "offset": pa.array(range(len(values)), pa.int64()),
    }
    common = {"format": format, "rows": TYPED[format], "keys": KEYS.get(format)}
    check_same(spark, tmp_path, pa.table(columns), common)


def check_same(
    spark: SparkSession, tmp_path: Path, table: pa.Table, options: dict[str, Any]
) -> Counter[str]:
    """Apply records with both engines; return how many dead letters there are, by code."""
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "records.parquet")
    kinds = "value binary, key binary, topic string, partition int, offset long, path string, "
    messages = spark.readStream.schema(f"{kinds}number long").parquet(str(tmp_path / "in"))
    outputs = ("changes", "controls", "dead_letters", "checkpoint")
    places: dict[str, Any] = {output: f"{tmp_path}/log/{output}" for output in outputs}
    common: dict[str, Any] = {"null_set": "none", **options}
    query = cws.apply_changes(
        messages,
        target=f"{tmp_path}/spark/{{system}}.{{database}}/{{table}}",
        trigger={"availableNow": True},
        **places,
        **common,
    )
    cws.await_end(query)
    outcome = cwd.apply_changes(
        table.select([one for one in table.column_names if one not in {"headers", "timestamp"}]),
        target=f"{tmp_path}/rust/{{system}}.{{database}}/{{table}}",
        output=f"{tmp_path}/out",
        checkpoint=f"{tmp_path}/checkpoint",
        **common,
    )
    assert_same(tmp_path / "spark", tmp_path / "rust")
    assert outcome.tables is not None
    assert outcome.tables["applied"] > 0
    place = ["offset", "element", "code", "pointer", "message"]
    kept = spark.read.format("delta").load(f"{tmp_path}/log/dead_letters")
    letters = kept.select(*place).collect()
    found = pq.read_table(tmp_path / "out" / "dead_letters", columns=place).to_pylist()
    assert sorted(map(str, found)) == sorted(str(row.asDict()) for row in letters)
    return outcome.counts.by_error_code


def test_each_engine_goes_on_where_the_other_ended(spark: SparkSession, tmp_path: Path) -> None:
    """Rows, tombstones, truncates and deletes that name no table count for both."""
    in_spark = SparkLake(tmp_path, applies_truncates=True)
    lake = Lake(tmp_path, applies_truncates=True)
    runs = [
        placed(change(key=1, a=1), change(key=2, sequence=9, a=1), change("delete", 3, 5)),
        placed(
            change(key=3, sequence=4, a=1),
            change("update", 2, 8, image="patch", b=1),
            change("update", 1, 7, image="patch", b=1),
            change("delete", 4, 6),
            change("delete", 7, 6, table=None),
            start=10,
        ),
        placed(
            change(key=4, sequence=5, a=1),
            truncate(3),
            change(key=7, sequence=5, table="new", a=1),
            change("delete", 8, 6, table=None),
            start=20,
        ),
        placed(
            change(key=5, sequence=2, a=1),
            change(key=6, sequence=4, a=1),
            change(key=8, sequence=5, table="newer", a=1),
            change(key=8, sequence=7, table="T", a=1),
            truncate(4, table="new"),
            start=30,
        ),
        placed(
            change(key=9, sequence=2, table="new", a=1),
            change(key=9, sequence=5, table="newer", a=1),
            start=40,
        ),
    ]
    for number, run in enumerate(runs):
        if number % 2:
            lake.apply(run)
        else:
            in_spark.send(run)
            in_spark.apply(spark)
    sent = [one for run in runs for one in run if one.change.source.table != "T"]
    assert lake.content() == tables_of(sent, truncates=True)
    assert lake.tables() == ["new", "newer", "t"]
    (letter,) = lake.output("dead_letters")
    assert letter["code"] == "name-collision"


def test_each_engine_goes_on_with_typed_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Rows, tombstones, truncates, new columns and kept deletes count for both."""
    kinds = {"id": LongType(), "a": StringType(), "b": DecimalType(38, 6), "c": DoubleType()}
    runs = [
        placed(change(key=1, a=1), change(key=2, sequence=9, a=1), change("delete", 3, 5)),
        placed(
            change(key=3, sequence=4, a=1),
            change("update", 2, 8, image="patch", b=1),
            change("update", 1, 7, image="patch", b="1.5"),
            change("delete", 7, 6, table=None),
            start=10,
        ),
        placed(change(key=4, sequence=5, c=1), truncate(3), change(key=7, sequence=5), start=20),
        placed(change(key=5, sequence=2, a=1), change(key=6, sequence=4, c=2), start=30),
    ]
    lake = Lake(tmp_path, applies_truncates=True)
    in_spark = SparkLake(tmp_path, applies_truncates=True)
    for number, run in enumerate(runs):
        names = [*kinds][: 2 + number]
        row = StructType([StructField(name, kinds[name]) for name in names])
        if number % 2:
            lake.given = row_columns(row)
            lake.apply(run)
        else:
            in_spark.given = row
            in_spark.send(run)
            in_spark.apply(spark)
    sent = [one for run in runs for one in run]
    assert lake.content() == typed_content(sent, truncates=True)


def test_tables_of_spark_that_delta_rs_does_not_take(spark: SparkSession, tmp_path: Path) -> None:
    """Columns of a type, and column mapping of either protocol, end a run with a sentence."""
    lake = Lake(tmp_path)
    protocols = {"mapped": (2, 5), "mapped_by_features": (3, 7)}
    lake.apply(placed(*(change(key=1, table=name, a=1) for name in protocols)))
    for name, (reader, writer) in protocols.items():
        spark.sql(
            f"ALTER TABLE delta.`{lake.folder}/{name}` SET TBLPROPERTIES ("
            f"'delta.minReaderVersion' = '{reader}', 'delta.minWriterVersion' = '{writer}', "
            "'delta.columnMapping.mode' = 'name')"
        )
    typed = spark.range(1).selectExpr("id", "named_struct('a', 1) AS _changewire")
    typed.write.format("delta").save(f"{lake.folder}/typed")
    for name in (*protocols, "typed"):
        there = spark.read.format("delta").load(f"{lake.folder}/{name}").collect()
        with pytest.raises(cwd.OutputError, match=name):
            lake.apply(placed(change(key=1, sequence=2, table=name, a=2)))
        assert spark.read.format("delta").load(f"{lake.folder}/{name}").collect() == there


def test_deletion_vectors_of_spark_hold(spark: SparkSession, tmp_path: Path) -> None:
    """A row that Spark marked as deleted is none, and stays none when its file is rewritten."""
    lake = Lake(tmp_path)
    lake.apply(placed(*(change(key=key, a=1) for key in range(6))))
    table = f"delta.`{lake.folder}/t`"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    gone = ", ".join(f"'{key_text({'id': key})}'" for key in (2, 3))
    spark.sql(f"DELETE FROM {table} WHERE key IN ({gone})")  # noqa: S608 - keys of ours
    assert [*lake.folder.glob("t/deletion_vector_*.bin")]
    later = placed(
        change("update", 3, 5, image="patch", b=3),
        change("update", 4, 5, image="patch", b=4),
        change("delete", 5, 5),
        start=10,
    )
    assert lake.apply(later) == {"applied": 3}
    rows = [msgspec.json.decode(row["row"]) for row in spark.table(table).collect()]
    assert sorted(rows, key=lambda row: int(row["id"])) == [
        {"id": 0, "a": 1},
        {"id": 1, "a": 1},
        {"id": 3, "b": 3},
        {"id": 4, "a": 1, "b": 4},
    ]
