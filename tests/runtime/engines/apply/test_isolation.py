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
from tests.runtime.engines.apply.test_typed_tables import landed, message
from tests.runtime.engines.apply.ways import DRIVER, SPARK, decided
from tests.runtime.tables.histories import change, placed

import changewire as cw
import changewire.spark as cws
from changewire.engines.spark.apply import plan
from changewire.engines.spark.apply.shape import JsonShape
from changewire.tables import routing

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
def test_numeric_text_is_a_number_of_its_column(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """A double takes the text of a decimal; one beyond all doubles is a dead letter."""
    lake = Lake(tmp_path)
    texts = ["1.100000", "-0.10", "0.1234567890123456789", "1E+400", "7"]
    batch = [message("INSERT", i + 1, TYPES, id=i, val=text) for i, text in enumerate(texts)]
    with decided(way):
        landed(spark, lake, batch, format="dataworks-json", rows="embedded")
    assert [row["val"] for row in rows(spark, lake)] == [1.1, -0.1, 0.12345678901234568, 7.0]
    said = "wrong-type: /after/val: expected double, found string"
    assert letters(spark, lake) == [(3, "wrong-type", said)]


@BOTH_WAYS
def test_a_key_that_does_not_fit_its_column_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """This holds for rows and for deletes, whatever their schema declares."""
    lake = Lake(tmp_path)
    text = {**TYPES, "id": "STRING"}
    first = [message("INSERT", 1, TYPES, id=1, val=1), message("INSERT", 2, TYPES, id=2, val=2)]
    second = [
        message("INSERT", 3, text, id="1", val=9),
        message("DELETE", 4, text, id="1"),
        message("DELETE", 5, TYPES, id=2),
    ]
    with decided(way):
        landed(spark, lake, first, second, format="dataworks-json", rows="embedded")
    assert rows(spark, lake) == [{"id": 1, "val": 1.0}]
    column = "schema-mismatch: /after: column 'id' is bigint, the message has string"
    key = "schema-mismatch: /key/id: expected bigint, found string"
    assert letters(spark, lake) == [(100, "schema-mismatch", column), (101, "schema-mismatch", key)]


def test_a_new_table_has_the_key_of_most_changes(spark: SparkSession, tmp_path: Path) -> None:
    """One message whose key has other columns does not decide for the others, even as the first."""
    lake = Lake(tmp_path)
    odd = json.loads(message("INSERT", 1, TYPES, id=1, val=1))
    odd["schema"]["primaryKey"] = ["val"]
    good = [message("INSERT", i, TYPES, id=i, val=i) for i in (2, 3)]
    batch = [json.dumps(odd).encode(), *good]
    landed(spark, lake, batch, format="dataworks-json", rows="embedded")
    assert [row["id"] for row in rows(spark, lake)] == [2, 3]
    said = "key-mismatch: /key: the table's key has the columns id"
    assert letters(spark, lake) == [(0, "key-mismatch", said)]


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
UNUSABLE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "column 'ID' differs from 'id' in case only": (["id"], {"id": "int64", "ID": "int64"}),
    "the table's own column _changewire": (["id"], {"id": "int64", "_changewire": "string"}),
    "its field 'A' differs from 'a' in case only": (["id"], {"id": "int64", "n": NESTED}),
    "which cannot be compared": (["id"], {"id": MAP}),
    "of the key differs from 'id' in case only": (["ID"], {"id": "int64"}),
}
"""Keys, and types of columns, that no table can have, by what is said of them."""


@pytest.mark.parametrize("said", UNUSABLE)
def test_columns_that_no_table_can_have_are_dead_letters(
    spark: SparkSession, tmp_path: Path, said: str
) -> None:
    """The changes of other tables are applied."""
    keys, types = UNUSABLE[said]
    values = {"int64": 1, "string": "x"}
    row = {
        name: values.get(kind, {"a": "x", "A": "y"}) if isinstance(kind, str) else {"a": "x"}
        for name, kind in types.items()
    }
    row = {**row, **{name: 1 for name in keys if name not in row}}
    bad = lindorm_message("c", 1, lindorm.declared(**types), **row)
    other = json.loads(
        lindorm_message("c", 1, lindorm.declared(**{keys[0]: "int64"}), **{keys[0]: 7})
    )
    other["payload"]["source"]["table"] = "others"
    lake = Lake(tmp_path)
    batch = [bad, json.dumps(other).encode()]
    landed(spark, lake, batch, format="lindorm-json", keys=keys, rows="embedded")
    ((offset, code, text),) = letters(spark, lake)
    assert (offset, code) in {(0, "schema-mismatch"), (0, "key-mismatch")}
    assert said in text
    found = spark.read.format("delta").load(f"{lake.folder}/others").collect()
    assert [row[keys[0]] for row in found] == [7]


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


@pytest.mark.parametrize("step", ["routing", "planning the table"])
def test_what_is_raised_for_one_source_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, step: str
) -> None:
    """Other tables get their changes; after the defect is mended a replay applies the rest."""
    lake = Lake(tmp_path)
    batch = [message("INSERT", 1, TYPES, id=1, val="0.50"), message("INSERT", 2, TYPES, id=2)]
    other = batch[1].replace(b'"tableName": "t"', b'"tableName": "u"')
    module, name, bad = {
        "routing": (routing, "route", "table='u'"),
        "planning the table": (plan, "plan", "/u'"),
    }[step]
    real = getattr(module, name)

    def faulty(*arguments: Any) -> Any:
        if bad in str(arguments[1]):
            raise ZeroDivisionError("a value")
        return real(*arguments)

    options: dict[str, Any] = {"format": "dataworks-json", "rows": "embedded"}
    with patch.object(module, name, faulty):
        landed(spark, lake, [batch[0], other], **options)
    assert lake.tables() == ["t"]
    said = f"apply-failed: /source: {step} raised ZeroDivisionError"
    assert letters(spark, lake) == [(1, "apply-failed", said)]
    outputs: dict[str, Any] = lake.outputs()
    replayed = cws.replay(
        spark,
        target=lake.template,
        checkpoint=str(lake.root / "checkpoint"),
        where="code = 'apply-failed'",
        **outputs,
        **options,
    )
    assert (replayed.letters, replayed.marked) == (1, 1)
    assert rows(spark, lake, "u") == [{"id": 2, "val": None}]
