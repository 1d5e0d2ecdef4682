"""The code of docs/guides/spark.md runs, from top to bottom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.docs.pages import blocks
from tests.runtime.changes import dataworks
from tests.samples import mixed_messages

import changewire as cw
from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.changes.leniencies import OF_ROWS
from changewire.engines.spark.variant import NUMBER_AS_TEXT, ROW_AS_TEXT


def test_the_page_runs(spark: SparkSession, tmp_path: Path) -> None:
    """Each block runs after the one before it, and typed rows hold their values."""
    lines = [message for message in mixed_messages() if message]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    user = {"msg": "write", "key": ["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]}
    bins = [{"name": "age", "type": "int", "value": 41}]
    types = {"id": "LONG", "price": "DOUBLE"}
    order = cw.encode(dataworks.message("INSERT", types, after={"id": 1, "price": "9.90"}))
    text = json.dumps({**user, "gen": 1, "exp": 0, "lut": 0, "bins": bins})
    names: dict[str, Any] = {
        "inputs": str(tmp_path / "in.jsonl"),
        "output": str(tmp_path / "out"),
        "messages": spark.createDataFrame([(text,)], "value string"),
        "topic": spark.createDataFrame([(order, 7)], "value binary, offset long"),
    }
    first, files, *rest = blocks("docs/guides/spark.md")
    exec(first, names)  # noqa: S102 - our own text
    one = names["messages"]
    exec(files, names)  # noqa: S102
    assert names["messages"].count() == len(lines)
    names["messages"] = one
    for block in rest:
        exec(block, names)  # noqa: S102
    assert [row["after"]["age"] for row in names["users"].changes.collect()] == [41]
    assert [tuple(row["after"]) for row in names["orders"].changes.collect()] == [(1, 9.9)]
    assert [(use.count, use.first.offset) for use in names["found"].schemas] == [(1, 7)]


def test_every_leniency_of_rows_has_a_meaning() -> None:
    """The meanings are those of each leniency that the engine itself adds."""
    assert OF_ROWS.keys() == {NUMBER_AS_TEXT, ROW_AS_TEXT, ROUNDED_NUMBER}
