"""Every version of the rows of a table, in Spark: those of Arrow, in each form of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from msgspec.structs import replace
from pyspark.errors import PythonException
from pyspark.sql.types import DecimalType, LongType, StringType, StructType
from tests.runtime.engines.version_rows import log_of, refused, versions_in
from tests.runtime.tables.histories import (
    change,
    deliveries_of,
    drawn_of,
    halves,
    in_tables,
    of_history,
    placed,
    truncate,
)
from tests.runtime.tables.model import versions_of

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HISTORIES = 60
TYPED = (
    StructType().add("id", LongType()).add("price", DecimalType(10, 2)).add("name", StringType())
)
ARROW = pa.schema(
    [("id", pa.int64()), ("price", pa.decimal128(10, 2)), ("name", pa.large_string())]
)
ANY_JSON = {"contentMediaType": "application/json"}
PRICES: list[Any] = [
    change(price="9.90", name="a"),
    change(sequence=12, price="9.95", name="a"),
    change("delete", sequence=20),
    change(sequence=11, price="9.90", name="a", note="declared nowhere"),
    change(sequence=30, price=None, name="b"),
]


def log_in(folder: Path, *tables: pa.Table) -> str:
    """Write a log of Parquet; return its place."""
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return str(folder)


def history(spark: SparkSession, log: str, **options: Any) -> DataFrame:
    """Return the versions of the table ``t``, from a log of Parquet."""
    return cws.history(spark, log, table="d.t", table_format="parquet", **options)


def test_versions_are_those_of_arrow_and_of_the_model(spark: SparkSession, tmp_path: Path) -> None:
    """All kinds of images, moves, halves, doubles and a truncate, in an order that is drawn."""
    changes = deliveries_of(HISTORIES)
    for which, images in enumerate(drawn_of(HISTORIES, halves())):
        own = [of_history(which, one) for one in images]
        changes += in_tables(own, {}, HISTORIES + which)
    changes += placed(truncate(20), partition=3 * HISTORIES)
    log = log_in(tmp_path, log_of(changes))
    found = history(spark, log, apply_truncates=True).toArrow()
    rows = versions_in(found.to_pylist())
    assert len(rows) > HISTORIES // 2
    assert rows == versions_of(changes, befores_wait=True)
    arrow = cwa.history(tmp_path, table="d.t", apply_truncates=True)
    assert plain(found.select(arrow.schema.names).cast(arrow.schema)) == plain(arrow)


def test_refused_and_replayed_and_waiting_changes(spark: SparkSession, tmp_path: Path) -> None:
    """Each change counts once, as Arrow has it, and `trace` says the same in both."""
    first, second, third = placed(change(a=1), change(sequence=2, a=2), change(sequence=3, a=3))
    (again,) = placed(change(sequence=3, a=4), start=2)
    before = change("update", 1, (5, 0), before={"id": 1}, is_lone=True)
    moved = [before, change("update", 7, 5, a=1)]
    waits = change("update", 7, (6, 0), before={"id": 7}, is_lone=True)
    recorded = [first, second, third, first, *placed(*moved, waits, start=10)]
    log = log_in(tmp_path, log_of(recorded, [again]), refused([second, third]))
    found = history(spark, log).toArrow()
    arrow = cwa.history(tmp_path, table="d.t")
    assert plain(found.cast(arrow.schema)) == plain(arrow)
    assert [row["row"] for row in arrow.to_pylist()] == [
        '{"id":1,"a":1}',
        '{"id":1,"a":4}',
        '{"id":7,"a":1}',
    ]
    reasons = {
        1: [None, "refused", None, "older-than-tombstone"],  # the replay came last
        7: [None, "before-image-waits"],
    }
    for key, expected in reasons.items():
        told_of = cws.trace(spark, log, {"id": key}, table="d.t", table_format="parquet")
        assert told_of == cwa.trace(tmp_path, {"id": key}, table="d.t")
        assert [step.refused and step.refused.reason for step in told_of.steps] == expected
    assert not cws.trace(spark, log, {"id": 9}, table="d.t", table_format="parquet").steps


def test_a_log_of_a_stream_and_hostile_names(spark: SparkSession, tmp_path: Path) -> None:
    """A log of Delta is read by its path, and truncates of `trace` are those of the table."""
    name = "a'b`c.d"
    one = change(key="k", table=name, a=1)
    hostile = replace(one, after={"id": "k", name: "v"})
    rows = log_of(placed(hostile, truncate(9, name), truncate(9)))
    write_deltalake(f"{tmp_path}/log", rows)
    (row,) = cws.history(spark, f"{tmp_path}/log", table=f"d.{name}").collect()
    assert row["row"] == '{"id":"k","a\'b`c.d":"v"}'
    recorded = cws.trace(
        spark, f"{tmp_path}/log", {"id": "k"}, table=f"d.{name}", apply_truncates=True
    )
    assert [step.kind for step in recorded.steps] == ["full", "truncate"]
    assert recorded == cwa.trace(tmp_path, {"id": "k"}, apply_truncates=True)


DRAWN = {
    "with the key": pa.schema(
        [("id", pa.string()), ("a", pa.decimal128(38, 6)), ("b", pa.decimal128(38, 6))]
    ),
    "without it": pa.schema([("a", pa.float64()), pa.field("c", pa.string(), metadata=ANY_JSON)]),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_versions_of_a_type_are_those_of_arrow(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    """The same rows and places, of drawn changes and a truncate."""
    changes = [
        *(one for one in deliveries_of(HISTORIES) if kind == "with the key" or fits(one)),
        *placed(truncate(20), partition=HISTORIES),
    ]
    log = log_in(tmp_path, log_of(changes))
    rows: Any = DRAWN[kind]
    found = history(spark, log, row_schema=rows, apply_truncates=True).toArrow()
    arrow = cwa.history(tmp_path, table="d.t", row_schema=rows, apply_truncates=True)
    assert len(arrow) > HISTORIES // 2
    assert found.schema.names == arrow.schema.names
    assert plain(found.cast(arrow.schema)) == plain(arrow)


def fits(placed: PositionedChange) -> bool:
    """Whether the column ``a`` of a change is no text, which fits no double."""
    return not isinstance((placed.change.after or {}).get("a"), str)


def plain(table: pa.Table) -> list[str]:
    """Return the rows of a table in an order of their own."""
    return sorted(map(repr, table.to_pylist(maps_as_pydicts="strict")))


@pytest.mark.parametrize("kind", [TYPED, ARROW], ids=["Spark", "Arrow"])
def test_columns_of_a_type(
    spark: SparkSession, tmp_path: Path, kind: StructType | pa.Schema
) -> None:
    """What the type lacks begins no version, and decimals are exact."""
    log = log_in(tmp_path, log_of(placed(*PRICES)))
    found = history(spark, log, row_schema=kind).orderBy("_changewire.sequence")
    assert found.columns == [
        *("id", "price", "name", "valid_from", "valid_to", "is_current", "op", "_changewire"),
    ]
    rows = [
        (row["id"], row["price"] and str(row["price"]), row["name"], row["is_current"])
        for row in found.collect()
    ]
    assert rows == [
        (1, "9.90", "a", False),
        (1, "9.95", "a", False),
        (1, None, "b", True),
    ]


def test_a_change_that_does_not_fit_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """By its place and its column, and without its value."""
    log = log_in(tmp_path, log_of(placed(*PRICES, change(key=2, price="secret"))))
    found = history(spark, log, row_schema=TYPED)
    with pytest.raises(PythonException, match="the change at topic/0/5: /after/price: ") as raised:
        found.collect()
    assert "secret" not in str(raised.value)
    with pytest.raises(cws.OutputError) as in_arrow:
        cwa.history(tmp_path, table="d.t", row_schema=TYPED)
    assert str(in_arrow.value) in str(raised.value)


def test_the_schema_of_a_message(spark: SparkSession, tmp_path: Path) -> None:
    """It needs the name of its format, which no change log says."""
    log = log_in(tmp_path, log_of(placed(*PRICES)))
    schema = '{"dataColumn": [{"name": "id", "type": "LONG"}, {"name": "price", "type": "DOUBLE"}]}'
    found = history(spark, log, row_schema=schema, format="dataworks-json")
    rows = found.orderBy("_changewire.sequence").select("id", "price", "is_current").collect()
    assert [tuple(row) for row in rows] == [(1, 9.9, False), (1, 9.95, False), (1, None, True)]
    with pytest.raises(ValueError, match="needs `format`"):
        history(spark, log, row_schema=schema)


def test_variant(spark: SparkSession, tmp_path: Path) -> None:
    """Rows are VARIANT, and integers that it would round stay text."""
    whole = 10**39 + 1
    log = log_in(tmp_path, log_of(placed(change(a=whole, b="1.50"))))
    found = history(spark, log, row_schema="variant")
    row = found.selectExpr(
        "variant_get(row, '$.a', 'string')",
        "variant_get(row, '$.b', 'string')",
        "variant_get(key, '$.id', 'int')",
    ).first()
    assert row is not None
    assert [*row] == [str(whole), "1.50", 1]


def test_names_of_auto_cdc(spark: SparkSession, tmp_path: Path) -> None:
    """The ends are sequences; what ended without one is not current."""
    log = log_in(tmp_path, log_of(placed(change(sequence=None, a=1), change(sequence=None, a=2))))
    found = history(spark, log, names="auto_cdc").orderBy("row")
    assert found.columns == ["key", "row", "__START_AT", "__END_AT", "_changewire"]
    assert [row["__END_AT"] is None for row in found.collect()] == [False, True]


def test_columns_that_versions_have_too(spark: SparkSession, tmp_path: Path) -> None:
    """The error says which, before anything is computed; other names avoid it."""
    log = log_in(tmp_path, log_of(placed(change(Op="x"))))
    kind = StructType().add("id", LongType()).add("Op", StringType())
    with pytest.raises(cws.OutputError, match="the names Op"):
        history(spark, log, row_schema=kind)
    found = history(spark, log, row_schema=kind, names="auto_cdc").first()
    assert found is not None
    assert found["Op"] == "x"


def test_what_is_no_log(spark: SparkSession, tmp_path: Path) -> None:
    """The error names the column."""
    rows = log_of(placed(change(a=1)))
    wrong = pa.array([1])
    texts = {
        "column kind is missing": rows.drop_columns(["kind"]),
        "column after is bigint": rows.drop_columns(["after"]).append_column("after", wrong),
    }
    for number, (text, table) in enumerate(texts.items()):
        (tmp_path / str(number)).mkdir()
        with pytest.raises(cws.OutputError, match=text):
            history(spark, log_in(tmp_path / str(number), table))
    (tmp_path / "log").mkdir()
    log = log_in(tmp_path / "log", rows)
    with pytest.raises(ValueError, match=r"the file 'text' is missing"):
        history(spark, log, row_schema="text")
    keyless = log_of(placed(change(key=None)))
    (tmp_path / "keyless").mkdir()
    with pytest.raises(cws.OutputError, match="no change of the table has a key"):
        history(spark, log_in(tmp_path / "keyless", keyless), row_schema=TYPED)
    other = cws.history(spark, log, table="d.other", table_format="parquet", row_schema=TYPED)
    assert other.isEmpty()
