"""Rows as columns that a JSON Schema describes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.runtime.engines.rows import (
    AT,
    DATE_TIMES,
    JAVA_TIMES,
    aerospike,
    frame,
    plain,
    rows_after,
)

import changewire.arrow as cwa
import changewire.spark as cws

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


def test_a_json_schema_types_aerospike_bins(spark: SparkSession, tmp_path: Path) -> None:
    """Text is a time or bytes where the schema says so; objects, arrays and maps have columns."""
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
    decoded = cws.decode(frame(spark, message), format="aerospike-json", row_schema=path)
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


def test_what_contradicts_a_json_schema_is_a_dead_letter(spark: SparkSession) -> None:
    """A value of another type than the schema says is refused with its place."""
    wrong = [("at", "str", "yesterday"), ("photo", "str", "*"), ("id", "str", "1")]
    messages = [aerospike(bin_) for bin_ in wrong]
    decoded = cws.decode(frame(spark, *messages), format="aerospike-json", row_schema=ROW_SCHEMA)
    letters = decoded.dead_letters.select("code", "pointer").collect()
    assert {tuple(row) for row in letters} == {("wrong-type", f"/after/{n}") for n, _, _ in wrong}


def test_times_are_those_of_json_schema(spark: SparkSession) -> None:
    """A text is a time in Spark if JSON Schema calls it a date-time, or if Java writes it so."""
    times = DATE_TIMES | JAVA_TIMES
    messages = [aerospike(("any", "str", text), ("at", "str", text)) for text in times]
    decoded = cws.decode(frame(spark, *messages), format="aerospike-json", row_schema=ROW_SCHEMA)
    found = {json.loads(row["any"]): plain(row)["at"] for row in rows_after(decoded)}
    assert found == {text: time for text, time in times.items() if time is not None}
    letters = decoded.dead_letters.select("code", "pointer").collect()
    assert {tuple(row) for row in letters} == {("wrong-type", "/after/at")}
    assert len(letters) == list(times.values()).count(None)


def test_a_schema_of_a_user_needs_only_types(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What makes no type is passed over, and named once under the name of the file."""
    path = tmp_path / "user.json"
    properties = {
        "id": {"type": "integer", "multipleOf": 2},
        "day": {"type": "string", "format": "date"},
    }
    schema = {"properties": properties, "required": ["id"], "additionalProperties": False}
    path.write_text(json.dumps(schema), encoding="utf-8")
    days = {"2024-02-29": date(2024, 2, 29), "2023-02-29": None, "20240229": None, "2024": None}
    messages = [aerospike(("id", "int", 1), ("day", "str", day)) for day in days]
    for _ in range(2):
        rows = cwa.decode(messages, format="aerospike-json", row_schema=str(path)).rows.read_all()
        found = [after and after["day"] for after in rows["after"].to_pylist()]
        assert found == list(days.values())
    (warning,) = (one.getMessage() for one in caplog.records)
    assert warning == (
        f"{path}: columns do not check what makes no type: additionalProperties ({path}#), "
        f"multipleOf ({path}#/properties/id)"
    )


def test_files_are_named(tmp_path: Path) -> None:
    """A missing file is called missing, and problems are under the name of the user's file."""
    path = str(tmp_path / "user.json")
    with pytest.raises(ValueError, match=f"the file {path!r} is missing"):
        cwa.decode([], format="aerospike-json", row_schema=path)
    Path(path).write_text('{"properties": {"a": {"type": "int"}, "b": 1}}', encoding="utf-8")
    with pytest.raises(ValueError, match="no type 'int'") as caught:
        cwa.decode([], format="aerospike-json", row_schema=path)
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        f"{path}#/properties/a/type",
        f"{path}#/properties/b",
    ]
    Path(path).write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=f"{path}: a schema is JSON text"):
        cwa.decode([], format="aerospike-json", row_schema=path)


def test_a_missing_generator_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the generator is not installed, the error says what to install."""
    monkeypatch.setitem(sys.modules, "changewire_codegen.row_type", None)
    with pytest.raises(ImportError, match=r'pip install "\./changewire\[codegen\]"'):
        cws.row_type(ROW_SCHEMA)


@pytest.mark.parametrize(
    ("schema", "options", "error"),
    [
        ({"dataColumn": []}, {}, "needs `format`"),
        (b"[]", {}, "a schema of rows is a JSON object"),
        ("{", {}, "a schema is JSON text"),
        ({"dataColumn": []}, {"format": "dataworks-json"}, "declares no column"),
        ({"properties": {}}, {}, "row_schema#/properties: an object with at least one property"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, options: Any, error: str) -> None:
    """What describes no row is a ValueError."""
    with pytest.raises(ValueError, match=error):
        cws.row_type(schema, **options)
