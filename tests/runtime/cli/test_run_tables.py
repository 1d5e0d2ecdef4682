"""``changewire run --target`` on files: changes to Delta tables, without Spark."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.changes import dataworks
from tests.runtime.cli.conftest import Ended
from tests.samples import FORMAT, MIXED_COUNTS, examples

import changewire as cw
from changewire.engines.kept import SUFFIX
from changewire.engines.layout import OUTPUTS
from changewire.tables.counted import COUNTED_OFTEN

Cli = Callable[..., Ended]


@pytest.fixture
def run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def once(*arguments: str | Path, data: bytes = b"") -> Ended:
        places = ("--output", "out", "--checkpoint", "checkpoint", "--target", "lake/{table}")
        return cli("run", "-f", FORMAT, *places, *arguments, data=data)

    return once


def lake() -> dict[str, list[Any]]:
    """Return the rows of each table."""
    folders = [path for path in Path("lake").iterdir() if not path.name.endswith(SUFFIX)]
    tables = {path.name: DeltaTable(str(path)).to_pyarrow_table() for path in folders}
    return {name: table["row"].to_pylist() for name, table in sorted(tables.items())}


def test_files_are_merged_into_tables(
    run: Callable[..., Ended], mixed: Path, tmp_path: Path
) -> None:
    """Tables, outputs and a report are there, and doing it again changes no row."""
    options = (mixed, "--null-set", "none", "--engine", "python", "--sink", "delta")
    first = run(*options, "--json")
    assert first.exit_code == 1
    report = json.loads(first.stdout)
    assert report == json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report["dead_letters"] == MIXED_COUNTS["dead_letters"]
    assert report["tables"]["applied"] > 0
    assert report["engine"].startswith("python")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *OUTPUTS,
        "report.json",
        "report.html",
    }
    rows = lake()
    assert any(rows.values())
    again = run(*options)
    assert again.exit_code == 1
    assert "in tables: " in again.stderr
    assert "duplicate " in again.stderr
    assert lake() == rows


def test_every_version_of_a_row_is_kept(run: Callable[..., Ended]) -> None:
    """Those of the messages of all runs, in files or in a pipe."""
    write = examples("write")[0]
    history = ("--history", "lake/{table}__history", "--history-names", "auto_cdc")
    for times, later in enumerate((2, 1, 2)):
        message = {**write, "lut": write["lut"] + later, "gen": 10 + later}
        bins = [{"name": "n", "type": "int", "value": later}]
        data = json.dumps({**message, "bins": bins}).encode()
        ended = run("-", "--null-set", "none", *history, data=data)
        assert ended.exit_code == 0
        assert ("versions of rows: begun 1" in ended.stderr) == (times < 2)
    (table,) = Path("lake").glob("*__history")
    found = DeltaTable(str(table)).to_pyarrow_table()
    starts = [start["minor"] for start in found["__START_AT"].to_pylist()]
    ends = [end and end["minor"] for end in found["__END_AT"].to_pylist()]
    assert sorted(zip(starts, ends, strict=True)) == [(11, 12), (12, None)]


def test_more_results_than_changes_are_explained(run: Callable[..., Ended]) -> None:
    """A delete without a set counts in each table, which is said if it shows; else nothing is."""
    write = examples("write")[0]
    digest = write["key"][2]
    writes = [{**write, "key": ["shop", name, digest, "u"]} for name in ("a", "b")]
    delete = {"msg": "delete", "key": ["shop", None, digest, None], "lut": write["lut"] + 1}
    lines = [json.dumps(message).encode() for message in (*writes, delete)]
    first = run("-", "--null-set", "none", data=lines[0])
    assert COUNTED_OFTEN not in " ".join(first.stderr.split())
    ended = run("-", "--null-set", "none", data=b"\n".join(lines))
    shown = " ".join(ended.stderr.split())
    assert "3 changes 0 control events 0 dead letters in tables: applied " in shown
    assert COUNTED_OFTEN in shown


def test_all_reasons_of_dead_letters_are_named(run: Callable[..., Ended], mixed: Path) -> None:
    """The counts behind the reasons add up to the dead letters."""
    ended = run(mixed, "--null-set", "none", "--engine", "python")
    reasons = re.findall(r"dead letters \((.*?)\)", " ".join(ended.stderr.split()))
    counts = [int(reason.split()[1]) for reason in reasons[0].split(", ")]
    assert len(counts) > 3
    assert sum(counts) == MIXED_COUNTS["dead_letters"]


def test_standard_input_is_merged(run: Callable[..., Ended], good: Path) -> None:
    """Messages of a pipe are merged too, by any engine that is not Spark."""
    ended = run("-", "--null-set", "none", data=good.read_bytes())
    assert ended.exit_code == 0
    assert any(lake().values())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--engine", "spark"], "--engine spark merges changes of Kafka topics"),
        (["--sink", "iceberg"], "--target needs --sink delta"),
        (["--sink", "parquet"], "--target needs --sink delta"),
        (["--rows", "embedded"], f"messages of {FORMAT} hold no schema"),
        (
            ["--rows", "nested"],
            "'nested' is no pyarrow.Schema, no StructType",
        ),
        (["--schema-evolution", "any"], "no schema_evolution 'any'; there are: add_columns"),
        (["--history", "lake/all"], "must have the fields of the target"),
        (["--continuous"], "they need --kafka"),
        (["--metrics", "-"], "they need --kafka"),
        (["--max-dead-letters", "1"], "they need --kafka"),
        (["--dead-letters-topic", "t"], "they need --kafka"),
        (["--target", "lake.{table}"], "has no slash"),
        (["--target", "lake/{tabel}"], "is no field of a target"),
    ],
)
def test_what_needs_a_stream_or_spark_is_refused(
    run: Callable[..., Ended], good: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """A sentence says what, and nothing is written."""
    there = {*tmp_path.iterdir()}
    ended = run(good, *arguments)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())
    assert {*tmp_path.iterdir()} == there


def shop(folder: Path) -> tuple[Path, Path]:
    """Return files of messages that declare their columns, and of such a schema."""
    types = {"id": "LONG", "name": "STRING", "price": "DOUBLE"}
    rows = [{"id": 1, "name": "a", "price": "9.90"}, {"id": 2, "name": "b", "price": "1e400"}]
    values = [cw.encode(dataworks.message("INSERT", types, after=row)) for row in rows]
    messages, schema = folder / "shop.jsonl", folder / "schema.json"
    messages.write_bytes(b"\n".join(values))
    schema.write_text(json.dumps(json.loads(values[0])["schema"]), encoding="utf-8")
    return messages, schema


@pytest.mark.parametrize("rows", ["embedded", "file"])
def test_files_are_merged_into_typed_tables(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str
) -> None:
    """Columns are those that the messages, or a schema in a file, declare."""
    monkeypatch.chdir(tmp_path)
    messages, schema = shop(tmp_path)
    places = ("--output", "out", "--checkpoint", "checkpoint", "--target", "lake/{table}")
    how = ("--rows", schema if rows == "file" else rows, "--schema-evolution", "strict")
    ended = cli("run", "-f", "dataworks-json", messages, *places, *how)
    assert ended.exit_code == 1
    assert "dead letters (wrong-type 1)" in " ".join(ended.stderr.split())
    table = DeltaTable("lake/users").to_pyarrow_table().drop_columns("_changewire")
    assert table.to_pylist() == [{"id": 1, "name": "a", "price": 9.9}]


@pytest.mark.parametrize(
    ("engine", "rows"), [("python", "file"), ("python", "embedded"), ("spark", "embedded")]
)
def test_outputs_of_files_have_typed_rows(cli: Cli, tmp_path: Path, engine: str, rows: str) -> None:
    """Without tables the columns before and after of a run have the types of schemas."""
    messages, schema = shop(tmp_path)
    how = ("--rows", schema if rows == "file" else rows, "--engine", engine)
    where = ("--output", tmp_path / "out", *how)
    ended = cli("run", "-f", "dataworks-json", messages, *where)
    assert (ended.exit_code, "dead letters (wrong-type 1)" in ended.stderr) == (1, True)
    after = ds.dataset(tmp_path / "out" / "changes").to_table().column("after").to_pylist()
    assert after == [{"id": 1, "name": "a", "price": 9.9}]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--rows", "embedded"], f"messages of {FORMAT} hold no schema"),
        (["--rows", "missing.json"], "'missing.json' is no pyarrow.Schema"),
        (["--rows", "missing.json", "--as", "messages"], "messages are kept as they are"),
        (["--rows", "variant"], "rows='variant' is for Spark"),
    ],
)
def test_rows_that_outputs_cannot_have(
    cli: Cli, good: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """A sentence says why, and nothing is written."""
    output = tmp_path / "out"
    ended = cli("run", "-f", FORMAT, good, "--output", output, "--engine", "python", *arguments)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())
    assert not output.exists()


def test_a_table_that_is_not_ours_is_one_sentence(
    run: Callable[..., Ended], good: Path, tmp_path: Path
) -> None:
    """Its place and its columns are said, and the output has nothing."""
    write_deltalake("lake/demo", pa.table({"a": [1]}))
    ended = run(good, "--null-set", "none")
    assert ended.exit_code == 2
    assert "lake/demo: a column key of type string is needed, and the table lacks it" in " ".join(
        ended.stderr.split()
    )
    assert not (tmp_path / "out").exists()
