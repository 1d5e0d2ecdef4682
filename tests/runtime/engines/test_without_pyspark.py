"""Typed rows need no PySpark: in Arrow, the Python engine, tables of delta-rs, and versions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.runtime.changes import dataworks

import changewire as cw

PROGRAM = """
import sys
sys.modules["pyspark"] = None  # importing it fails from here on
from tests.runtime.engines.without_pyspark import typed
print(typed(*sys.argv[1:]))
"""
TYPES = {"id": "LONG", "price": "DOUBLE", "at": "DATE"}
AT, AT_TEXT = 1620435723456, "2021-05-08 01:02:03.456000+00:00"


def test_rows_have_types_where_pyspark_is_not(tmp_path: Path) -> None:
    """Each kind of `row_schema` gives its columns; what does not fit them is a dead letter."""
    images = [
        {"id": 1, "price": "9.90", "at": AT},
        {"id": 2, "price": None, "at": None},
        {"id": 3, "price": "1.239", "at": AT},
        {"id": 4, "price": "1e400", "at": AT},
    ]
    values = [cw.encode(dataworks.message("INSERT", TYPES, after=image)) for image in images]
    (tmp_path / "messages.jsonl").write_bytes(b"\n".join(values))
    described = {"description": "A column."}
    row = {
        "title": "Order",
        "description": "An order.",
        "type": "object",
        "properties": {
            "id": {**described, "type": "integer"},
            "price": {**described, "type": "string"},
            "at": {**described, "type": "string", "format": "date-time"},
        },
        "examples": [{"id": 1}],
    }
    (tmp_path / "row.json").write_text(json.dumps(row), encoding="utf-8")
    schema = json.dumps(json.loads(values[0])["schema"])
    found = json.loads(ran(tmp_path, schema))

    exact = [
        {"id": 1, "price": "9.90", "at": AT_TEXT},
        {"id": 2, "price": None, "at": None},
    ]
    refused = ["/after/price", "/after/price"]
    assert found["arrow"] == found["python"] == found["tables"] == [exact, refused]
    assert found["versions"] == exact
    floats = [
        {"id": 1, "price": 9.9, "at": AT_TEXT},
        {"id": 2, "price": None, "at": None},
        {"id": 3, "price": 1.239, "at": AT_TEXT},
    ]
    assert found["schema"] == found["embedded"] == [floats, ["/after/price"]]
    assert found["tables of schemas"] == found["schema"]
    assert found["versions by schema"] == floats[:2]
    texts = [row["price"] for row in found["json schema"][0]]
    assert texts == ["9.90", None, "1.239", "1E+400"]


def ran(folder: Path, schema: str) -> str:
    """Return what the program prints."""
    command = [sys.executable, "-c", PROGRAM, str(folder), schema]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
