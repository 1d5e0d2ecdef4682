"""Every version of the rows of a table, in Spark: those of Arrow, in each form of rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException
from pyspark.sql.types import DecimalType, LongType, StringType, StructType
from tests.runtime.engines.version_rows import log_of, versions_in
from tests.runtime.tables.histories import change, deliveries_of, placed, truncate
from tests.runtime.tables.model import versions_of

import changewire.arrow as cwa
import changewire.spark as cws
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("interpreted")

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


def frames(
    spark: SparkSession, folder: Path, history: list[PositionedChange]
) -> tuple[DataFrame, DataFrame]:
    """Return a change log and its control events."""
    for name, table in zip(("changes", "controls"), log_of(history), strict=True):
        (folder / name).mkdir()
        pq.write_table(table, folder / name / "a.parquet")
    changes, controls = (spark.read.parquet(str(folder / name)) for name in ("changes", "controls"))
    return changes, controls


def test_versions_are_those_of_arrow_and_of_the_model(spark: SparkSession, tmp_path: Path) -> None:
    """All kinds of images, moves, halves, doubles and a truncate, in an order that is drawn."""
    history = deliveries_of(HISTORIES)
    history += placed(truncate(20), partition=HISTORIES)
    changes, controls = frames(spark, tmp_path, history)
    found = cws.history(changes, table="d.t", controls=controls).toArrow()
    rows = versions_in(found.to_pylist(maps_as_pydicts="strict"))
    assert len(rows) > HISTORIES // 2
    assert rows == versions_of(history)
    arrow = cwa.history(tmp_path / "changes", table="d.t", controls=tmp_path / "controls")
    assert (
        found.select(arrow.schema.names)
        .cast(arrow.schema)
        .sort_by([("key", "ascending"), ("row", "ascending")])
        .to_pylist()
        == arrow.sort_by([("key", "ascending"), ("row", "ascending")]).to_pylist()
    )


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
    history = [
        *(one for one in deliveries_of(HISTORIES) if kind == "with the key" or fits(one)),
        *placed(truncate(20), partition=HISTORIES),
    ]
    changes, controls = frames(spark, tmp_path, history)
    rows: Any = DRAWN[kind]
    found = cws.history(changes, table="d.t", controls=controls, rows=rows).toArrow()
    folders = (tmp_path / name for name in ("changes", "controls"))
    arrow = cwa.history(next(folders), table="d.t", controls=next(folders), rows=rows)
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
    changes, _ = frames(spark, tmp_path, placed(*PRICES))
    found = cws.history(changes, table="d.t", rows=kind).orderBy("_changewire.sequence")
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
    changes, _ = frames(spark, tmp_path, placed(*PRICES, change(key=2, price="secret")))
    found = cws.history(changes, table="d.t", rows=TYPED)
    with pytest.raises(PythonException, match="the change at topic/0/5: /after/price: ") as raised:
        found.collect()
    assert "secret" not in str(raised.value)
    with pytest.raises(cws.OutputError) as in_arrow:
        cwa.history(tmp_path / "changes", table="d.t", rows=TYPED)
    assert str(in_arrow.value) in str(raised.value)


def test_the_schema_of_a_message(spark: SparkSession, tmp_path: Path) -> None:
    """It needs the name of its format, which no change log says."""
    changes, _ = frames(spark, tmp_path, placed(*PRICES))
    schema = '{"dataColumn": [{"name": "id", "type": "LONG"}, {"name": "price", "type": "DOUBLE"}]}'
    found = cws.history(changes, table="d.t", rows=schema, format="dataworks-json")
    rows = found.orderBy("_changewire.sequence").select("id", "price", "is_current").collect()
    assert [tuple(row) for row in rows] == [(1, 9.9, False), (1, 9.95, False), (1, None, True)]
    with pytest.raises(ValueError, match="needs `format`"):
        cws.history(changes, table="d.t", rows=schema)


def test_variant(spark: SparkSession, tmp_path: Path) -> None:
    """Rows are VARIANT, and integers that it would round stay text."""
    whole = 10**39 + 1
    changes, _ = frames(spark, tmp_path, placed(change(a=whole, b="1.50")))
    found = cws.history(changes, table="d.t", rows="variant")
    row = found.selectExpr(
        "variant_get(row, '$.a', 'string')",
        "variant_get(row, '$.b', 'string')",
        "variant_get(key, '$.id', 'int')",
    ).first()
    assert row is not None
    assert [*row] == [str(whole), "1.50", 1]


def test_names_of_auto_cdc(spark: SparkSession, tmp_path: Path) -> None:
    """The ends are sequences; what ended without one is not current."""
    changes, _ = frames(
        spark, tmp_path, placed(change(sequence=None, a=1), change(sequence=None, a=2))
    )
    found = cws.history(changes, table="d.t", names="auto_cdc").orderBy("row")
    assert found.columns == ["key", "row", "__START_AT", "__END_AT", "_changewire"]
    assert [row["__END_AT"] is None for row in found.collect()] == [False, True]


def test_columns_that_versions_have_too(spark: SparkSession, tmp_path: Path) -> None:
    """The error says which, before anything is computed; other names avoid it."""
    changes, _ = frames(spark, tmp_path, placed(change(Op="x")))
    kind = StructType().add("id", LongType()).add("Op", StringType())
    with pytest.raises(cws.OutputError, match="the names Op"):
        cws.history(changes, table="d.t", rows=kind)
    found = cws.history(changes, table="d.t", rows=kind, names="auto_cdc").first()
    assert found is not None
    assert found["Op"] == "x"


def test_what_is_no_change_log(spark: SparkSession, tmp_path: Path) -> None:
    """The error names the column."""
    changes, _ = frames(spark, tmp_path, placed(change(a=1)))
    with pytest.raises(cws.OutputError, match="column element is not there"):
        cws.history(changes.drop("element"), table="d.t")
    with pytest.raises(cws.OutputError, match="column after is int"):
        cws.history(changes.selectExpr("* except (after)", "1 as after"), table="d.t")
    with pytest.raises(ValueError, match=r"a pyarrow\.Schema or a schema, not 'text'"):
        cws.history(changes, table="d.t", rows="text")
    with pytest.raises(cws.OutputError, match="no change of the table has a key"):
        cws.history(changes, table="d.other", rows=TYPED)
