"""What fails for one message or one key ends as a dead letter, and nothing else suffers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from pyspark.sql.types import DoubleType, StructField, StructType
from tests.runtime.changes import lindorm
from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.apply.test_typed_tables import in_table, landed, message
from tests.runtime.engines.apply.ways import DRIVER, SPARK, decided
from tests.runtime.tables.histories import change, placed

import changewire as cw
import changewire.spark as cws
from changewire.engines.spark.apply import plan
from changewire.engines.spark.apply.shape import JsonShape
from changewire.tables import merge, routing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOTH_WAYS = pytest.mark.parametrize("way", [DRIVER, SPARK])
TYPES = {"id": "LONG", "val": "DOUBLE"}


def letters(spark: SparkSession, lake: Lake) -> list[tuple[Any, ...]]:
    """Return offset, code and message of each dead letter."""
    found = spark.read.format("delta").load(lake.outputs()["dead_letters"])
    rows = found.orderBy("offset").select("offset", "code", "message").collect()
    return [tuple(row) for row in rows]


def rows(spark: SparkSession, lake: Lake, table: str = "t") -> list[dict[str, Any]]:
    """Return the rows of a table, without what they were made by."""
    found = spark.read.format("delta").load(f"{lake.folder}/{table}").drop("_changewire")
    return [row.asDict() for row in found.orderBy("id").collect()]


@BOTH_WAYS
def test_what_does_not_fit_its_column_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """Numeric text is a number. Keys must fit as well, those of rows and those of deletes.

    One message whose key has other columns does not decide for a new table, even as the first.
    """
    lake = Lake(tmp_path)
    texts = ["1.100000", "-0.10", "0.1234567890123456789", "1E+400", "7"]
    numbers = [message("INSERT", i + 1, TYPES, id=i, val=text) for i, text in enumerate(texts)]
    keys = [message("INSERT", i, TYPES, id=i, val=i) for i in (1, 2)]
    odd = message("INSERT", 1, TYPES, id=1, val=1).replace(b'["id"]', b'["val"]')
    most = [odd, *(message("INSERT", i, TYPES, id=i, val=i) for i in (2, 3))]
    first = [*numbers, *in_table("keys", *keys), *in_table("most", *most)]
    text = {**TYPES, "id": "STRING"}
    second = [
        message("INSERT", 3, text, id="1", val=9),
        message("DELETE", 4, text, id="1"),
        message("DELETE", 5, TYPES, id=2),
    ]
    with decided(way):
        batches = [first, in_table("keys", *second)]
        landed(spark, lake, *batches, format="dataworks-json", rows="embedded")
    assert [row["val"] for row in rows(spark, lake)] == [1.1, -0.1, 0.12345678901234568, 7.0]
    assert rows(spark, lake, "keys") == [{"id": 1, "val": 1.0}]
    assert [row["id"] for row in rows(spark, lake, "most")] == [2, 3]
    column = "schema-mismatch: /after: column 'id' is bigint, the message has string"
    assert letters(spark, lake) == [
        (3, "wrong-type", "wrong-type: /after/val: expected double, found string"),
        (7, "key-mismatch", "key-mismatch: /key: the table's key has the columns id"),
        (100, "schema-mismatch", column),
        (101, "schema-mismatch", "schema-mismatch: /key/id: expected bigint, found string"),
    ]


def test_keys_of_one_row_are_one_key(spark: SparkSession, tmp_path: Path) -> None:
    """A column of the key that the type lacks is text, so that 5 and "5" name the same row."""
    lake = Lake(tmp_path)
    batch = [lindorm_message("c", 1, id=5, val=1.0), lindorm_message("u", 2, id="5", val=2.0)]
    kind = StructType([StructField("val", DoubleType())])
    landed(spark, lake, batch, format="lindorm-json", keys=["id"], rows=kind)
    assert rows(spark, lake, "users") == [{"id": "5", "val": 2.0}]


def lindorm_message(op: str, ms: int, schema: Any = lindorm.ABSENT, **row: Any) -> bytes:
    """Return a Lindorm message of a row."""
    wire = json.loads(cw.encode(lindorm.message(op, schema, after=row)))
    wire["payload"]["source"]["ts_ms"] = ms
    return json.dumps(wire).encode()


MAP = {"type": "map", "keys": {"type": "string"}, "values": {"type": "string"}}
NESTED = {"type": "struct", "fields": [{"field": n, "type": "string"} for n in ("a", "A")]}
UNUSABLE: dict[str, dict[str, Any]] = {
    "column 'ID' differs from 'id' in case only": {"id": "int64", "ID": "int64"},
    "the table's own column _changewire": {"id": "int64", "_changewire": "string"},
    "its field 'A' differs from 'a' in case only": {"id": "int64", "n": NESTED},
    "which cannot be compared": {"id": MAP},
    "of the key differs from 'ID' in case only": {"ID": "int64"},
}
"""Types of columns that no table can have with the key `id`, by what is said of them."""


NAMED = {"type": "struct", "fields": [{"field": "a b", "type": "string"}]}
LIST = {"type": "array", "items": NAMED}


def lindorm_row(types: dict[str, Any], table: str) -> bytes:
    """Return a message of a row with a value of each type; lists are empty."""
    values = {"int64": 1, "string": "x"}
    row = {
        name: values[kind] if isinstance(kind, str) else [] if kind is LIST else {"a": "x"}
        for name, kind in types.items()
    }
    found = json.loads(lindorm_message("c", 1, lindorm.declared(**types), **{"id": 1, **row}))
    found["payload"]["source"]["table"] = table
    return json.dumps(found).encode()


def test_columns_that_no_table_can_have_are_dead_letters(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The changes of other tables are applied, also with names that Parquet has not in lists."""
    lake = Lake(tmp_path)
    batch = [lindorm_row(types, f"t{i}") for i, types in enumerate(UNUSABLE.values())]
    batch.append(lindorm_row({"id": "int64", "list": LIST}, "others"))
    landed(spark, lake, batch, format="lindorm-json", keys=["id"], rows="embedded")
    found = letters(spark, lake)
    assert [offset for offset, _, _ in found] == [*range(len(UNUSABLE))]
    assert {code for _, code, _ in found} <= {"schema-mismatch", "key-mismatch"}
    for said, (_, _, text) in zip(UNUSABLE, found, strict=True):
        assert said in text
    assert rows(spark, lake, "others") == [{"id": 1, "list": []}]


class Faulty(JsonShape):
    """Raises for some rows, as a defect of ours would."""

    def unpack(self, content: str) -> dict[str, Any]:
        """Raise while it is decided on a patch; others are unpacked."""
        if "bad patch" in content:
            raise ZeroDivisionError(content)
        return super().unpack(content)

    def pack(self, key: str, values: Any) -> str:
        """Raise while a row is written."""
        if b"bad row" in bytes(values["a"]):
            raise KeyError(values)
        return super().pack(key, values)


HISTORY = placed(
    change(key=1, sequence=1, a="good"),
    change(key=2, sequence=2, a="bad row"),
    change(key=3, sequence=3, a="good"),
    change(key=3, sequence=4, image="patch", a="bad patch"),
    change(key=4, sequence=5, a="good"),
    change("update", 5, 6, old=4, before={"id": 4}, a="bad row"),
)


@BOTH_WAYS
def test_what_is_raised_for_one_key_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """A change that moves a row is not applied in half; a text says the type of the exception."""
    lake = Lake(tmp_path)
    lake.send(HISTORY)
    lines: list[str] = []
    with patch.object(plan, "JsonShape", Faulty), decided(way):
        lake.apply(spark, metrics=lines.append)
    content = lake.content(spark)["t"]
    assert {row["id"]: row["a"] for row in content.values()} == {1: "good", 4: "good"}
    found = letters(spark, lake)
    assert {code for _, code, _ in found} == {"apply-failed"}
    assert not any("bad" in text or "good" in text for _, _, text in found)
    (line,) = map(json.loads, lines)
    assert line["by_error_code"] == {"apply-failed": len(found)}
    assert line["elements"] == line["changes"] + line["dead_letters"] == len(HISTORY)


def failing_at(module: Any, name: str, bad: str) -> Any:
    """Let a function raise where its second argument names something."""
    real = getattr(module, name)

    def faulty(*arguments: Any) -> Any:
        if bad in str(arguments[1]):
            raise ZeroDivisionError("a value")
        return real(*arguments)

    return patch.object(module, name, faulty)


def test_what_is_raised_for_one_source_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Other tables get their changes; after the defect is mended a replay applies the rest."""
    lake = Lake(tmp_path)
    good = message("INSERT", 1, TYPES, id=1, val="0.50")
    other = message("INSERT", 2, TYPES, id=2)
    batch = [good, *in_table("u", other), *in_table("v", other)]
    options: dict[str, Any] = {"format": "dataworks-json", "rows": "embedded"}
    with failing_at(routing, "route", "table='u'"), failing_at(plan, "plan", "/v'"):
        landed(spark, lake, batch, **options)
    assert lake.tables() == ["t"]
    said = "apply-failed: /source: {} raised ZeroDivisionError"
    assert letters(spark, lake) == [
        (1, "apply-failed", said.format("routing")),
        (2, "apply-failed", said.format("planning the table")),
    ]
    outputs: dict[str, Any] = lake.outputs()
    replayed = cws.replay(
        spark,
        target=lake.template,
        checkpoint=str(lake.root / "checkpoint"),
        where="code = 'apply-failed'",
        **outputs,
        **options,
    )
    assert (replayed.letters, replayed.marked) == (2, 2)
    assert rows(spark, lake, "u") == rows(spark, lake, "v") == [{"id": 2, "val": None}]


def test_a_change_that_failed_after_it_had_landed_is_replayed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """It is in the change log once, and its dead letter is marked once the table has it."""
    lake = Lake(tmp_path)
    first = [message("INSERT", 10, TYPES, id=i, val=i) for i in (1, 2)]
    second = [
        message("UPDATE_AFTER", number, TYPES, id=i, val=7) for i, number in ((1, 9), (2, 11))
    ]
    options: dict[str, Any] = {"format": "dataworks-json", "rows": "json"}
    outputs: dict[str, Any] = lake.outputs()
    places: dict[str, Any] = {
        "target": lake.template,
        "checkpoint": str(lake.root / "checkpoint"),
    }
    # The first one needs a look at what is there, and is decided on once it is in the log.
    with failing_at(merge, "reduced", "State("):
        landed(spark, lake, first, second, **options)
        assert [code for _, code, _ in letters(spark, lake)] == ["apply-failed"]
        replayed = cws.replay(spark, **places, **outputs, **options)
        assert (replayed.letters, replayed.marked) == (1, 0)
    replayed = cws.replay(spark, **places, **outputs, **options)
    assert (replayed.letters, replayed.marked, replayed.tables) == (1, 1, {"stale": 1})
    logged = spark.read.format("delta").load(outputs["changes"])
    assert logged.count() == len([*first, *second])
    assert cws.replay(spark, **places, **outputs, **options).letters == 0
