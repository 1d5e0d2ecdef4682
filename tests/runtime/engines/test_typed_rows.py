"""Rows as typed columns: by a StructType, by a JSON Schema, by the schema in the messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)
from tests.runtime.changes import dataworks, lindorm

import changewire as cw
import changewire.spark as cws
from changewire.changes.reading import Reading
from changewire.engines.spark.typed import TypedDecoder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

CONNECT = "org.apache.kafka.connect.data."
HEAD = (
    '{"msg": "write", "key": ["n", "t", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", null], "gen": 1, "exp": 0'
)
AT = datetime(2021, 5, 8, 1, 2, 3, 456000, timezone.utc)
AT_MS = 1620435723456

ROW_SCHEMA: dict[str, Any] = {
    "title": "User",
    "description": "A user.",
    "type": "object",
    "properties": {
        "id": {"description": "Number.", "type": "integer"},
        "ratio": {"description": "Ratio.", "type": "number"},
        "at": {"description": "Time.", "type": "string", "format": "date-time"},
        "photo": {"description": "Photo.", "type": "string", "contentEncoding": "base64"},
        "tags": {"description": "Tags.", "type": "array", "items": {"type": "string"}},
        "sizes": {
            "description": "Sizes.",
            "type": "object",
            "additionalProperties": {"type": "integer"},
        },
        "home": {"description": "Address.", "$ref": "#/$defs/Address"},
        "any": {"description": "Anything."},
    },
    "required": ["id"],
    "$defs": {
        "Address": {
            "title": "Address",
            "description": "An address.",
            "type": "object",
            "properties": {"city": {"description": "City.", "type": "string"}},
        }
    },
    "examples": [{"id": 1}],
}


def frame(spark: SparkSession, *messages: bytes) -> DataFrame:
    """Return messages as a DataFrame."""
    return spark.createDataFrame([(message,) for message in messages], "value binary")


def rows_after(decoded: cws.Decoded) -> list[Row]:
    """Return the rows after all changes."""
    return [row["after"] for row in decoded.changes.select("after").collect()]


def plain(row: Row) -> dict[str, Any]:
    """Return a row with times in UTC, as Spark collects them in the zone of this machine."""
    return {
        name: value.astimezone(timezone.utc) if isinstance(value, datetime) else value
        for name, value in row.asDict(recursive=True).items()
    }


def aerospike(*bins: tuple[str, str, Any]) -> bytes:
    """Return a write of some bins: name, type and value."""
    listed = [{"name": n, "type": t, "value": v} for n, t, v in bins]
    return f'{HEAD}, "lut": 1, "bins": {json.dumps(listed)}}}'.encode()


def dataworks_insert(types: Any, **row: Any) -> bytes:
    """Return an insert of a row with declared types."""
    return cw.encode(dataworks.message("INSERT", types, after=row))


def lindorm_insert(schema: Any, **row: Any) -> bytes:
    """Return an insert of a row under a schema."""
    return cw.encode(lindorm.message("c", schema, after=row))


def test_a_json_schema_types_aerospike_bins(
    spark: SparkSession, tmp_path: Path, generator: None
) -> None:
    """Text is a time or bytes where the schema says so; objects, arrays and maps have columns."""
    del generator
    message = aerospike(
        ("id", "int", 2**63 - 1),
        ("ratio", "float", 0.1),
        ("at", "str", "2021-05-08T03:02:03.456+02:00"),
        ("photo", "blob", "QUJD"),
        ("tags", "list", ["a", "b"]),
        ("sizes", "map", {"s": 1}),
        ("home", "map", {"city": "Bern"}),
        ("any", "list", [1, {"a": None}]),
        ("other", "int", 5),
    )
    path = tmp_path / "user.json"
    path.write_text(json.dumps(ROW_SCHEMA), encoding="utf-8")
    schemas: Sequence[Any] = (ROW_SCHEMA, path, str(path), json.dumps(ROW_SCHEMA))
    types = [cws.row_type(schema).simpleString() for schema in schemas]
    assert len(set(types)) == 1
    decoded = cws.decode(frame(spark, message), format="aerospike-json", rows=path)
    (row,) = rows_after(decoded)
    assert plain(row) == {
        "id": 2**63 - 1,
        "ratio": 0.1,
        "at": AT,
        "photo": b"ABC",
        "tags": ["a", "b"],
        "sizes": {"s": 1},
        "home": {"city": "Bern"},
        "any": '[1,{"a":null}]',
    }
    (attributes,) = (json.loads(r["attributes"]) for r in decoded.changes.collect())
    assert attributes["undeclared"] == {"after": {"other": 5}}


def test_what_contradicts_a_json_schema_is_a_dead_letter(
    spark: SparkSession, generator: None
) -> None:
    """A value of another type than the schema says is refused with its place."""
    del generator
    wrong = [("at", "str", "yesterday"), ("photo", "str", "*"), ("id", "str", "1")]
    messages = [aerospike(bin_) for bin_ in wrong]
    decoded = cws.decode(frame(spark, *messages), format="aerospike-json", rows=ROW_SCHEMA)
    letters = decoded.dead_letters.select("code", "pointer").collect()
    assert {tuple(row) for row in letters} == {("wrong-type", f"/after/{n}") for n, _, _ in wrong}


def test_a_missing_generator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the generator is not installed, the error says what to install."""

    def none(**_wanted: str) -> list[Any]:
        return []

    module = import_module("changewire.engines.spark.row_type")
    monkeypatch.setattr(module, "entry_points", none)
    with pytest.raises(ImportError, match=r'pip install "changewire\[codegen\]"'):
        cws.row_type(ROW_SCHEMA)


DATAWORKS_TYPES = {
    "id": "LONG",
    "price": "DOUBLE",
    "at": "DATE",
    "photo": "BYTES",
    "name": "STRING",
    "ok": "BOOLEAN",
    "place": "GEOMETRY",
}


def dataworks_schema(types: Any = None) -> Any:
    """Return the schema of a message, parsed."""
    return json.loads(dataworks_insert(types or DATAWORKS_TYPES))["schema"]


def test_the_schema_of_dataworks_messages_types_rows(spark: SparkSession) -> None:
    """Each declared type has its column, and all values are the very ones."""
    message = dataworks_insert(
        DATAWORKS_TYPES,
        id=-(2**63),
        price="9.90",
        at=AT_MS,
        photo="QUJD",
        name="é",
        ok=True,
        place={"x": 1},
    )
    decoded = cws.decode(frame(spark, message), format="dataworks-json", rows=dataworks_schema())
    (row,) = rows_after(decoded)
    assert plain(row) == {
        "id": -(2**63),
        "price": 9.9,
        "at": AT,
        "photo": b"ABC",
        "name": "é",
        "ok": True,
        "place": '{"x":1}',
    }
    assert decoded.counts.leniencies == {"numeric-text": 1, "unknown-column-type": 1}


def test_rounding_to_a_declared_double_is_counted(spark: SparkSession) -> None:
    """What a DOUBLE cannot hold is rounded and counted; a number beyond all doubles is refused."""
    values = ["0.12345678901234567890", 2**53 + 1, "1e-400", 0.5, "1.10", "1e400"]
    messages = [dataworks_insert({"price": "DOUBLE"}, price=value) for value in values]
    schema = json.dumps(dataworks_schema({"price": "DOUBLE"}))
    decoded = cws.decode(frame(spark, *messages), format="dataworks-json", rows=schema)
    rows = decoded.rows.select("after.price", "leniencies", "pointer").collect()
    found = {(row["price"], "rounded-number" in row["leniencies"], row["pointer"]) for row in rows}
    assert found == {
        (0.12345678901234568, True, None),
        (2.0**53, True, None),
        (0.0, True, None),
        (0.5, False, None),
        (1.1, False, None),
        (None, False, "/after/price"),
    }


def test_a_decimal_of_the_user_holds_or_refuses(spark: SparkSession) -> None:
    """DECIMAL(p, s) holds the very number; one that does not fit is a dead letter."""
    values = ["9.90", 1.25, "1.239"]
    messages = [dataworks_insert({"price": "DOUBLE"}, price=value) for value in values]
    kind = StructType([StructField("price", DecimalType(10, 2))])
    decoded = cws.decode(frame(spark, *messages), format="dataworks-json", rows=kind)
    rows = decoded.rows.select("kind", "pointer", "after.price").collect()
    assert sorted(map(str, rows)) == [
        "Row(kind='change', pointer=None, price=Decimal('1.25'))",
        "Row(kind='change', pointer=None, price=Decimal('9.90'))",
        "Row(kind='dead_letter', pointer='/after/price', price=None)",
    ]


def test_a_double_of_the_user_rounds_nothing(spark: SparkSession) -> None:
    """In a type that the user wrote, a number that a double does not hold is a dead letter."""
    values = ["0.12345678901234567890", 2**53 + 1, "9.90"]
    messages = [dataworks_insert({"price": "DOUBLE"}, price=value) for value in values]
    kind = StructType([StructField("price", DoubleType())])
    decoded = cws.decode(frame(spark, *messages), format="dataworks-json", rows=kind)
    assert [row["price"] for row in rows_after(decoded)] == [9.9]
    assert decoded.counts.dead_letters == 2


LINDORM_SCHEMA = lindorm.declared(
    id="int64",
    small="int8",
    price={"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": "2"}},
    wide={"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": "40"}},
    day={"type": "int32", "name": f"{CONNECT}Date"},
    at={"type": "int64", "name": f"{CONNECT}Timestamp"},
    clock={"type": "int32", "name": f"{CONNECT}Time"},
    photo="bytes",
    ratio="double",
    not_finite="double",
    home={"type": "struct", "fields": [{"field": "city", "type": "string", "optional": True}]},
    prices={"type": "array", "items": {"type": "double"}},
    by_name={"type": "map", "keys": {"type": "string"}, "values": {"type": "int32"}},
    by_number={"type": "map", "keys": {"type": "int32"}, "values": {"type": "string"}},
)


def test_the_schema_of_lindorm_messages_types_rows(spark: SparkSession) -> None:
    """Each type of Kafka Connect has its column, logical and nested ones too."""
    message = lindorm_insert(
        LINDORM_SCHEMA,
        id=2**63 - 1,
        small=-128,
        price="BNI=",
        wide="AQ==",
        day=18755,
        at=AT_MS,
        clock=36_000_500,
        photo="QUJD",
        ratio=0.1,
        not_finite="NaN",
        home={"city": None},
        prices=[0.5, 1],
        by_name={"a": 1},
        by_number=[[1, "a"], [2, "b"]],
    )
    decoded = cws.decode(frame(spark, message), format="lindorm-json", rows=LINDORM_SCHEMA)
    (row,) = rows_after(decoded)
    found = plain(row)
    assert str(found.pop("not_finite")) == "nan"
    assert found == {
        "id": 2**63 - 1,
        "small": -128,
        "price": Decimal("12.34"),
        "wide": "1E-40",
        "day": date(2021, 5, 8),
        "at": AT,
        "clock": "10:00:00.500000",
        "photo": b"ABC",
        "ratio": 0.1,
        "home": {"city": None},
        "prices": [0.5, 1.0],
        "by_name": {"a": 1},
        "by_number": {1: "a", 2: "b"},
    }
    assert str(found["price"]) == "12.34"


def test_rounding_in_lindorm_rows_is_counted(spark: SparkSession) -> None:
    """A double with more digits than it holds is rounded under the same name."""
    schema = lindorm.declared(ratio="double")
    source = '"source": {"namespace": "n", "table": "t", "ts_ms": 1}'
    payload = f'{{"op": "c", "ts_ms": 1, "after": {{"ratio": 0.12345678901234567890}}, {source}}}'
    message = f'{{"schema": {json.dumps(schema)}, "payload": {payload}}}'.encode()
    decoded = cws.decode(frame(spark, message), format="lindorm-json", rows=schema)
    assert [row["ratio"] for row in rows_after(decoded)] == [0.12345678901234568]
    assert decoded.counts.leniencies == {"rounded-number": 1}


def test_columns_of_hbase_rows_are_binary(spark: SparkSession) -> None:
    """The cells of an HBase table are bytes, under the names that their families give them."""
    schema = lindorm.declared(ROW="string", f_a="string")
    message = lindorm_insert(schema, ROW="cm93", f_a="QUJD")
    decoded = cws.decode(frame(spark, message), format="lindorm-json", rows=schema, families=["f"])
    (row,) = rows_after(decoded)
    assert plain(row) == {"ROW": b"row", "f:a": b"ABC"}


def test_a_struct_type_types_lindorm_rows(spark: SparkSession) -> None:
    """The user's own type works for any format; a value of another type is a dead letter."""
    schema = lindorm.declared(at={"type": "int64", "name": f"{CONNECT}Timestamp"}, name="string")
    good = lindorm_insert(schema, at=AT_MS, name="a")
    late = lindorm_insert(schema, at=2**62, name="b")
    kind = StructType([StructField("at", TimestampType()), StructField("name", StringType())])
    decoded = cws.decode(frame(spark, good, late), format="lindorm-json", rows=kind)
    assert [plain(row) for row in rows_after(decoded)] == [{"at": AT, "name": "a"}]
    assert [row["pointer"] for row in decoded.dead_letters.collect()] == ["/after/at"]


def test_depth_ends_no_job() -> None:
    """A value that is nested deeper than its column can be read is a dead letter."""
    levels = 100
    field = StructField("k", StringType(), metadata={"contentMediaType": "application/json"})
    for _ in range(levels):
        field = StructField("k", StructType([field]))
    opened, closed = '{"k":' * levels, "}" * levels
    deep = [opened + "[" * depth + "]" * depth + closed for depth in range(600, 900, 10)]
    bins = [f'[{{"name": "k", "type": "map", "value": {value}}}]' for value in deep]
    messages = [f'{HEAD}, "lut": 1, "bins": {b}}}'.encode() for b in bins]
    batch = pa.RecordBatch.from_pydict({"value": pa.array(messages, pa.binary())})
    decode = TypedDecoder(Reading("aerospike-json"), StructType([field]))
    codes = decode(batch).column("code").to_pylist()
    assert codes == sorted(codes, key=lambda code: code is not None)
    assert (codes[0], codes[-1]) == (None, "too-deep")


def test_an_absent_value_ends_no_job(spark: SparkSession) -> None:
    """A column that may not be NULL by its type may be absent from a message all the same."""
    kind = StructType([StructField("id", LongType(), nullable=False)])
    message = dataworks_insert({"id": "LONG"})
    decoded = cws.decode(frame(spark, message), format="dataworks-json", rows=kind)
    assert [row["id"] for row in rows_after(decoded)] == [None]


@pytest.mark.parametrize(
    ("schema", "options", "error"),
    [
        ({"dataColumn": []}, {}, "needs `format`"),
        (b"[]", {}, "a schema of rows is a JSON object"),
        ("{", {}, "a schema is JSON text"),
        ({"dataColumn": []}, {"format": "dataworks-json"}, "declares no column"),
        ({"properties": {}}, {}, "missing|non-empty|too short"),
    ],
)
def test_what_is_no_schema_is_refused(
    schema: Any, options: Any, error: str, generator: None
) -> None:
    """What describes no row is a ValueError."""
    del generator
    with pytest.raises(ValueError, match=error):
        cws.row_type(schema, **options)
