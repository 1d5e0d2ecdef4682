"""The code of docs/guides/spark.md runs, from top to bottom."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.docs.pages import ROOT, blocks, in_sections
from tests.docs.running import run_block, run_page
from tests.runtime.changes import dataworks
from tests.runtime.engines.stream.streams import TYPE, Stream
from tests.samples import MIXED_COUNTS, mixed_messages

import changewire as cw
from changewire.changes.connect.reads import ROUNDED_NUMBER
from changewire.changes.leniencies import OF_ROWS
from changewire.engines.layout import CHANGE
from changewire.engines.spark.variant import NUMBER_AS_TEXT, ROW_AS_TEXT
from changewire.tables.routing import APPLY_FAILED, REFUSALS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/guides/spark.md"
DEAD_LETTERS = "docs/guides/dead-letters.md"
SECTIONS = (
    "Merge a topic into tables",
    "Land a log without tables",
    "Decode a DataFrame",
    "Schemas on a topic",
)


def test_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The queries log every element, their tables follow the log, and typed rows have values."""
    Stream(tmp_path).send([value and of_one_table(value) for value in mixed_messages()])
    user = {"msg": "write", "key": ["shop", "users", "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1]}
    bins = [{"name": "age", "type": "int", "value": 41}]
    text = json.dumps({**user, "gen": 1, "exp": 0, "lut": 0, "bins": bins})
    types = {"id": "LONG", "price": "DOUBLE"}
    order = cw.encode(dataworks.message("INSERT", types, after={"id": 1, "price": "9.90"}))
    known: dict[str, Any] = {
        "spark": spark,
        "columns": TYPE,
        "messages": str(tmp_path / "messages"),
        "lake": str(tmp_path),
        "user_messages": spark.createDataFrame([(text,)], "value string"),
        "topic": spark.createDataFrame([(order, 7)], "value binary, offset long"),
    }
    names = run_page(PAGE, tmp_path, known, SECTIONS)
    shown = capsys.readouterr().out
    assert "9 changes" in shown
    for log in ("log", "landed", "again"):
        kinds = Counter(read(tmp_path / log)["kind"].to_pylist())
        assert kinds[CHANGE] == MIXED_COUNTS["changes"]
    table = read(tmp_path / "tables" / "test" / "no_set")
    assert table.column_names[:2] == ["aerospike_digest", "aerospike_user_key"]
    flagged = read(names["table"])["_changewire"].to_pylist()
    assert len([state for state in flagged if not state["deleted"]]) == len(table)
    assert re.search(r"^\|upsert\| *NULL\| *41\|$", shown, re.MULTILINE)  # of `users`
    assert re.search(r"^\|insert\| *1\| *9\.9\|$", shown, re.MULTILINE)  # of `orders`
    assert [(use.count, use.first.offset) for use in names["found"].schemas] == [(1, 7)]
    (replay,) = (b for b in in_sections(DEAD_LETTERS, "Replay") if b.language == "python")
    run_block(replay, names)
    assert names["replayed"][:3] == (1, 0, 0)  # still a dead letter


def read(place: Path | str) -> pa.Table:
    """Return the rows of a table of Delta."""
    return DeltaTable(str(place)).to_pyarrow_table()


def of_one_table(message: bytes) -> bytes:
    """Return a message of one namespace without a set: the page makes its table many times."""
    for place in (b'["ns", "set"', b'["test", "demo"', b'["ns", null'):
        message = message.replace(place, b'["test", null')
    return message


def test_every_leniency_of_rows_has_a_meaning() -> None:
    """The meanings are those of each leniency that the engine itself adds."""
    assert OF_ROWS.keys() == {NUMBER_AS_TEXT, ROW_AS_TEXT, ROUNDED_NUMBER}


def test_codes_of_refused_changes_are_listed() -> None:
    """The page of dead letters explains each reason why a table refuses a change."""
    text = ROOT.joinpath(DEAD_LETTERS).read_text(encoding="utf-8")
    section = text.partition("\n## Refused changes\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
    assert {*REFUSALS, APPLY_FAILED} < {*listed}


def test_the_blocks_are_those_of_the_page() -> None:
    """Each block that is to be run is below a heading that a test names."""
    run = [b.code for b in in_sections(PAGE, *SECTIONS, "Replace a from_json job")]
    assert [code for code in blocks(PAGE) if code not in run] == []
