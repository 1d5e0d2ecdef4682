"""Tables with constraints: a change that they do not allow is refused, and the rest is applied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.runtime.engines.merge.lake import Lake, lake_in, one_by_one
from tests.runtime.engines.merge.messages import message, records

from changewire.engines.errors import OutputError
from changewire.engines.spark.merge.adopt import adopt_table
from changewire.engines.spark.merge.rebuild import rebuild
from changewire.engines.spark.merge.verify import verify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMAT = "dataworks-json"
TYPES = {"id": "LONG", "v": "STRING", "amount": "LONG"}
GOOD = {"amount": 6, "name": "new", "code": "ab", "part": "p"}
BAD: list[dict[str, Any]] = [
    {"amount": -5},
    {"amount": None},
    {"name": "longer"},
    {"code": "abcd"},
    {"part": ""},
    {"part": "文" * 28},
    {"doubled": 13},
]
"""What each makes of a good row is refused."""

REFUSED = [
    (1, "it's `odd`"),
    (3, "it's `odd`"),
    (4, "it's `odd`"),
    (5, "it's `odd`"),
    (6, "VARCHAR(5) of name"),
    (7, "CHAR(3) of code"),
    (8, "text partition part: '' is stored as NULL"),
    (9, "text partition part: the name of its folder has at most 255 bytes"),
    (10, "generated column doubled"),
]
"""Offsets of refused changes, and what each violates."""

PATCHES: list[dict[str, Any]] = [
    {"name": "a"},
    {"amount": -5},
    {"code": "c"},
    {"amount": 0},
    {"amount": 9},
]


def test_a_table_with_constraints_takes_what_they_allow(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Of each key it has the newest change that it allows, and its own columns stay."""
    lake = Lake(tmp_path)
    place, row = f"{lake.tables}/t", constrained(spark, f"{lake.tables}/t")
    for name, why in (("part", "'' becomes NULL"), ("code", "CHAR"), ("serial", "identity")):
        with pytest.raises(OutputError, match=why):
            adopt_table(spark, place, key_columns=["id", name])
    adopt_table(spark, place, key_columns=["id"])
    lake.send_records(
        records(
            message("INSERT", 1, {"id": 1, **GOOD}),
            message("INSERT", 2, {"id": 1, **GOOD, "amount": -1}),
            message("INSERT", 1, {"id": 2, **GOOD}),
            message("UPDATE_AFTER", 2, {"id": 3, **GOOD, "amount": 0}),
            *(message("INSERT", 1, {"id": 10 + n, **GOOD, **one}) for n, one in enumerate(BAD)),
            message("UPDATE_BEFOR", 2, None, before={"id": 2, **GOOD}),
        )
    )
    lake.apply_messages(spark, format=FORMAT, row_schema=row)
    assert [(one["offset"], named(one)) for one in lake.refusals(spark)] == REFUSED
    columns = ("id", "amount", "name", "code", "note", "doubled")
    rows = [(1, 6, "new", "ab ", "kept", 12), (2, 6, "new", "ab ", "none", 12)]
    assert content(lake, spark, columns) == rows
    places = {"target": lake.places["target"]}
    assert not verify(spark, lake.places["log"], **places).count()
    spark.sql(f"DELETE FROM delta.`{place}` WHERE id = 2")  # noqa: S608 - a path of the test
    rebuild(spark, lake.places["log"], tables=["t"], **places)
    assert content(lake, spark, columns) == rows
    # A patch is refused by what its row would be, as in a batch of its own.
    sent = (message("UPDATE_AFTER", 5 + n, {"id": 1, **one}) for n, one in enumerate(PATCHES))
    lake.send_records(records(*sent, start=20))
    lake.apply_messages(spark, format=FORMAT, row_schema=row, row_image="patch")
    assert [one["offset"] for one in lake.refusals(spark)][-2:] == [21, 23]
    assert content(lake, spark, columns)[0] == (1, 9, "a", "c  ", "kept", 18)
    lake.send_records(records(message("DELETE", 20, {"id": 1}), start=30))
    with pytest.raises(OutputError, match="'serial' is an identity column"):
        lake.apply_messages(
            spark,
            format=FORMAT,
            row_schema=StructType([*row.fields, StructField("serial", LongType())]),
        )


def test_a_constraint_of_a_running_table_ends_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Changes that it does not allow are refused, also of rows that are JSON text."""
    lake = Lake(tmp_path)

    def send(table: str, sequence: int, row: dict[str, Any]) -> bytes:
        return message("INSERT", sequence, row, table=table, database="shop", types=TYPES)

    one, two, bad = (
        {"id": 1, "v": "one", "amount": 10},
        {"id": 2, "v": "two", "amount": 20},
        {"id": 5, "v": "bad", "amount": -5},
    )

    amounts = {"t": "amount", "json": "get_json_object(row, '$.amount')"}

    def constrain(line: str) -> None:
        while amounts and line.startswith("tables"):
            table, amount = amounts.popitem()
            place = f"delta.`{lake.tables}/{table}`"
            spark.sql(f"ALTER TABLE {place} ADD CONSTRAINT positive CHECK ({amount} > 0)")

    types = {"json": "json", "*": "embedded"}
    lake.send_records(records(send("t", 10, one), send("json", 10, one)))
    sent = [send("t", 12, bad), send("json", 11, two), send("json", 12, bad)]
    sent.append(send("u", 14, {"id": 9, "v": "x", "amount": 9}))
    lake.send_records(records(*sent, start=2))
    with one_by_one("delta"):
        lake.apply_messages(spark, format=FORMAT, row_schema=types, notice=constrain)
    assert [(one["offset"], named(one)) for one in lake.refusals(spark)] == [
        (2, "positive"),
        (4, "positive"),
    ]
    assert content(lake, spark, ("id", "v", "amount")) == [(1, "one", 10)]
    assert [len(lake.rows(spark, name)) for name in ("json", "u")] == [2, 1]
    lake.send_records(records(send("t", 14, {**bad, "amount": 1}), start=6))
    with pytest.raises(OutputError, match=r"NULL in all columns .* the constraint positive"):
        lake.apply_messages(spark, format=FORMAT, row_schema=types, deletes="flag")


@pytest.mark.parametrize("table_format", ["delta", pytest.param("iceberg", marks=pytest.mark.long)])
def test_columns_that_nothing_names_and_not_null(
    spark: SparkSession, tmp_path: Path, table_format: str
) -> None:
    """An update leaves the first as they are, and NULL is refused if a column does not take it."""
    lake = lake_in(table_format, spark, tmp_path)
    place = str(lake.places["target"]).replace("{table}", "t")
    table = f"delta.`{place}`" if table_format == "delta" else place
    if table_format == "iceberg":
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {place.rpartition('.')[0]}")
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT NOT NULL, v STRING NOT NULL, own STRING, needed STRING "
        f"NOT NULL) USING {table_format}"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'old', 'kept', 'n'), (2, 'old', 'kept', 'n')")  # noqa: S608
    adopt_table(spark, place, key_columns=["id"], table_format=table_format)
    types = {"id": "LONG", "v": "STRING"}
    sent = [
        message("UPDATE_AFTER", 1, {"id": 1, "v": "new"}, types=types),
        message("UPDATE_AFTER", 2, {"id": 2, "v": None}, types=types),
        message("INSERT", 3, {"id": 3, "v": "no needed"}, types=types),
    ]
    lake.send_records(records(*sent))
    # A message that names a column makes it one of theirs.
    types = {"id": "LONG", "own": "STRING", "v": "STRING", "more": "LONG"}
    lake.send_records(
        records(
            message("UPDATE_AFTER", 4, {"id": 1, "v": "v", "own": "own", "more": 1}, types=types),
            message("DELETE", 5, {"id": 2}, types=types),
            start=3,
        )
    )
    columns, found = ("id", "v", "own", "needed"), list[Any]()

    def read(line: str) -> None:
        if line.startswith("tables"):
            found.append(content(lake, spark, columns))

    with one_by_one(table_format):
        lake.apply_messages(spark, format=FORMAT, row_schema="embedded", notice=read)
    assert [named(one) for one in lake.refusals(spark)] == ["NOT NULL of v", "NOT NULL of needed"]
    assert found[0] == [(1, "new", "kept", "n"), (2, "old", "kept", "n")]
    assert content(lake, spark, (*columns, "more")) == [(1, "v", "own", "n", 1)]
    schema = lake.table(spark, "t").schema
    assert [schema[name].nullable for name in columns] == [False, False, True, False]
    assert lake.faults(spark) == []
    places: dict[str, Any] = {"target": lake.places["target"], "table_format": table_format}
    rebuild(spark, lake.places["log"], **places)
    assert content(lake, spark, (*columns, "more")) == [(1, "v", "own", "n", 1)]


def test_iceberg_keeps_text_in_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """There '' and NULL are two values, so a partition can be part of the key."""
    lake = lake_in("iceberg", spark, tmp_path)
    place = str(lake.places["target"]).replace("{table}", "t")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {place.rpartition('.')[0]}")
    spark.sql(
        f"CREATE TABLE {place} (id BIGINT, part STRING, v STRING) USING iceberg "
        "PARTITIONED BY (part)"
    )
    names = ("", "__HIVE_DEFAULT_PARTITION__")
    values = ", ".join(f"(1, '{name}', 'old')" for name in names)
    spark.sql(f"INSERT INTO {place} VALUES {values}")  # noqa: S608 - as above
    adopt_table(spark, place, key_columns=["id", "part"], table_format="iceberg")
    row = spark.table(place).drop("_changewire").schema
    key = ["id", "part"]
    sent = [
        message("DELETE", 1, {"id": 1, "part": names[0]}, key=key),
        message("UPDATE_AFTER", 1, {"id": 1, "part": names[1], "v": "new"}, key=key),
    ]
    lake.send_records(records(*sent))
    lake.apply_messages(spark, format=FORMAT, row_schema=row)
    assert content(lake, spark, ("id", "part", "v")) == [(1, names[1], "new")]


def constrained(spark: SparkSession, place: str) -> StructType:
    """Make a table of Delta with each kind of constraint, and a row; return what messages have."""
    hidden: Any = spark
    jvm, session = hidden._jvm, hidden._jsparkSession  # noqa: SLF001 - SQL has no such columns
    tables = getattr(jvm, "io.delta.tables.DeltaTable")

    def column(name: str, kind: str) -> Any:
        return tables.columnBuilder(session, name).dataType(kind)

    made = tables.create(session).location(place)
    made = made.addColumn(column("id", "BIGINT").nullable(False).build())  # noqa: FBT003 - of Java
    for name, kind in (("amount", "BIGINT"), ("name", "VARCHAR(5)"), ("code", "CHAR(3)")):
        made = made.addColumn(name, kind)
    made = made.addColumn("note", "STRING").addColumn("part", "STRING")
    made = made.partitionedBy(jvm.PythonUtils.toSeq(["part"]))
    made = made.addColumn(column("doubled", "BIGINT").generatedAlwaysAs("amount * 2").build())
    made.addColumn(column("serial", "BIGINT").generatedAlwaysAsIdentity().build()).execute()
    table = f"delta.`{place}`"
    spark.sql(
        f"ALTER TABLE {table} SET TBLPROPERTIES('delta.feature.allowColumnDefaults' = 'supported')"
    )
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN note SET DEFAULT 'none'")
    spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT `it's ``odd``` CHECK (amount > 0)")
    spark.sql(f"INSERT INTO {table} (id, amount, note) VALUES (1, 5, 'kept')")  # noqa: S608
    return StructType(
        [
            *(StructField(name, LongType()) for name in ("id", "amount", "doubled")),
            *(StructField(name, StringType()) for name in ("name", "code", "part")),
        ]
    )


def named(refusal: Any) -> str:
    """Return the constraint that a refusal names."""
    assert refusal["code"] == "constraint"
    text = str(refusal["message"]).removeprefix("constraint: /after: the table has the constraint ")
    return text.removesuffix(", which this change does not satisfy")


def content(lake: Lake, spark: SparkSession, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return rows of the table ``t``."""
    return sorted(map(tuple, lake.table(spark, "t").select(*columns).collect()))
