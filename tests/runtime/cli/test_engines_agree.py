"""Both engines on the same input: the same rows, the same counts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from examples.make_messages import ROOT
from tests.samples import FORMAT, examples, mixed_messages

import changewire.arrow as cwa
from changewire import job
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.engines.log import LOG_COLUMNS
from changewire.engines.options import LOG, Engine
from changewire.framing import FramingError

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

KINDS = (CHANGE, CONTROL, DEAD_LETTER)
ENGINES: tuple[Engine, ...] = ("python", "spark")
MAY_DIFFER = {
    *("engine", "seconds", "start_seconds", "read_seconds", "messages_per_second", "output"),
    "next_command",
    "native",  # of the engine without Spark alone
}


@pytest.fixture(scope="module")
def outputs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The output folders of both engines for the same files: lines, and what tools print."""
    assert spark is not None
    folder = tmp_path_factory.mktemp("engines")
    source = folder / "in put"
    source.mkdir()
    lines = [message for message in mixed_messages() if message is not None]
    lenient = {**examples("write")[0], "exp": -1, "lut": 0, "newer": [1]}
    (source / "a.jsonl").write_bytes(b"\n".join([*lines, json.dumps(lenient).encode()]))
    records: list[dict[str, Any]] = [
        {
            "topic": "t",
            "partition": i % 2,
            "offset": i,
            "ts": 1700000000123,
            "key": f"k{i}",
            "headers": ["h", "v"],
            "payload": None if message is None else message.decode("utf-8", "replace"),
        }
        for i, message in enumerate(mixed_messages())
    ]
    (source / "b.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    names = {name: name for name in ("topic", "partition", "offset", "key")}
    names |= {"payload": "value", "ts": "timestamp"}
    shown = [{names[n]: one[n] for n in names if one[n] is not None} for one in records]
    printed = [json.dumps({**one, "topic": "r"}, indent=2) for one in shown]
    (source / "c.json").write_text("\n".join(printed), encoding="utf-8")
    found: dict[str, Path] = {}
    for engine in ENGINES:
        found[engine] = folder / engine
        job.run([str(source)], str(found[engine]), format=FORMAT, engine=engine, show_values=True)
    return found


def rows(spark: SparkSession, output: Path) -> list[Row]:
    """Return the rows of a log, by position."""
    log = spark.read.format("delta").load(str(output / LOG))
    return log.orderBy("path", "number", "element").collect()


def test_rows_are_the_same(spark: SparkSession, outputs: dict[str, Path]) -> None:
    """The logs have the same columns, and the same rows to the last value."""
    by_python, by_spark = (rows(spark, outputs[engine]) for engine in ENGINES)
    assert len(by_python) == len(by_spark) > 0
    assert by_python[0].__fields__ == by_spark[0].__fields__ == [*LOG_COLUMNS]
    logs = (spark.read.format("delta").load(str(outputs[engine] / LOG)) for engine in ENGINES)
    kinds = (log.schema.simpleString() for log in logs)
    assert len({*kinds}) == 1
    for left, right in zip(by_python, by_spark, strict=True):
        assert left == right


def test_what_tools_print_are_the_same_records(
    spark: SparkSession, outputs: dict[str, Path]
) -> None:
    """Values that rpk printed become the changes that they become from kcat."""
    by_file: dict[str, list[Any]] = {"b.jsonl": [], "c.json": []}
    for row in rows(spark, outputs["spark"]):
        if (name := Path(row["path"]).name) in by_file:
            kept = ("kind", "op", "key", "after", "record_key", "partition", "offset", "timestamp")
            by_file[name].append([row[column] for column in kept])
    assert by_file["b.jsonl"] == by_file["c.json"] != []


def test_reports_are_the_same(outputs: dict[str, Path]) -> None:
    """All counts and the first dead letters are equal; only engine, time and folder differ."""
    reports: list[dict[str, Any]] = [
        json.loads((outputs[engine] / "report.json").read_text(encoding="utf-8"))
        for engine in ENGINES
    ]
    left, right = ({k: v for k, v in r.items() if k not in MAY_DIFFER} for r in reports)
    assert left == right
    assert [report["engine"].split()[0] for report in reports] == list(ENGINES)


READERS: dict[str, Callable[[str], Any]] = {
    "pandas": lambda files: pd.read_parquet(Path(files).parent, dtype_backend="pyarrow"),
    "Polars": pl.read_parquet,
    "DuckDB": lambda files: duckdb.read_parquet(files).to_arrow_table(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_logs_are_read_without_spark(outputs: dict[str, Path], reader: str, kind: str) -> None:
    """The tools read in the logs of both engines what decoding into Arrow gives."""
    source = outputs["python"].parent / "in put"
    decoded = cwa.decode(source, format=FORMAT).rows.read_all().drop_columns(["elements"])
    expected = by_place(decoded, kind)
    for engine in ENGINES:
        table = pa.table(READERS[reader](f"{outputs[engine] / LOG}/*.parquet"))
        assert table.schema.field("timestamp").type.unit == "us"
        found = by_place(table, kind)
        assert [{name: row[name] for name in decoded.column_names} for row in found] == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_one_engine_adds_to_the_log_of_the_other(
    spark: SparkSession, outputs: dict[str, Path], tmp_path: Path, engine: Engine
) -> None:
    """It leaves out what the log has, and adds the rest."""
    (other,) = {*ENGINES} - {engine}
    output = tmp_path / "out"
    shutil.copytree(outputs[other], output)
    before = rows(spark, output)
    source = outputs[other].parent / "in put"
    more = tmp_path / "more.jsonl"
    more.write_bytes(b"{\n")
    outcome = job.run([str(source), str(more)], str(output), format=FORMAT, engine=engine)
    assert outcome.already_in_log == len(before)
    spark.catalog.clearCache()
    assert len(rows(spark, output)) == len(before) + 1


def by_place(table: Any, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a kind by position; times with a zone are equal in any."""
    rows: list[dict[str, Any]] = [row for row in table.to_pylist() if row["kind"] == kind]
    return sorted(rows, key=lambda row: (row["path"], row["number"], row["element"]))


def test_every_format_gives_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Both engines make the same rows of a topic that carries every format."""
    for engine in ENGINES:
        job.run([str(ROOT / "mixed")], str(tmp_path / engine), format="auto", engine=engine)
    by_python, by_spark = (rows(spark, tmp_path / engine) for engine in ENGINES)
    assert by_python == by_spark
    assert {row["kind"] for row in by_python} == {*KINDS}


def test_damage_is_the_same_error(spark: SparkSession, tmp_path: Path) -> None:
    """A file that is cut off fails both engines with the same error, and leaves no output."""
    assert spark is not None
    path = tmp_path / "in.gz"
    path.write_bytes(b"\x1f\x8b\x08 damaged")
    errors: list[FramingError] = []
    for engine in ENGINES:
        with pytest.raises(FramingError) as caught:
            job.run([str(path)], str(tmp_path / engine), format=FORMAT, engine=engine)
        errors.append(caught.value)
        assert not (tmp_path / engine / LOG).exists()
    assert str(errors[0]) == str(errors[1])
    assert (errors[0].path, errors[0].number) == (errors[1].path, errors[1].number)


def letters(rows: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return where dead letters are, and their values."""
    return sorted((row["number"], row["attempt"], bytes(row["value"])) for row in rows)


def test_a_repaired_file_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """A place of which the log has dead letters alone is a later attempt, if its bytes differ."""
    import changewire.spark as cws

    path, good = tmp_path / "in.jsonl", json.dumps(examples("write")[0]).encode()
    steps = [
        ([good, b"{", b"[", b"oops", b"("], (0, 5)),
        ([b"[]", good, b"]", b"oops", b")", good], (2, 4)),
        ([b"[]", b"{", good, b"oops", b"(", good], (5, 1)),
    ]
    found: dict[str, list[Any]] = {}
    for engine in ENGINES:
        output, shown = tmp_path / engine, found.setdefault(engine, [])
        for lines, (known, new) in steps:
            path.write_bytes(b"\n".join(lines))
            outcome = job.run([str(path)], str(output), format=FORMAT, engine=engine)
            assert (outcome.already_in_log, outcome.counts.elements) == (known, known + new)
            shown.append(letters(cwa.dead_letters(output).to_pylist()))
        assert letters(cws.dead_letters(spark, str(output / LOG)).collect()) == shown[-1]
        log = [(row["number"], row["kind"], row["attempt"]) for row in rows(spark, output)]
        shown.append(sorted(log))
    assert found["python"] == found["spark"]
    three, four = (3, 0, b"oops"), (4, 1, b")")
    assert found["python"] == [
        [(1, 0, b"{"), (2, 0, b"["), three, (4, 0, b"(")],
        [(2, 1, b"]"), three, four],
        [three, four],
        [
            *((0, "change", 0), (1, "change", 1), (1, "dead_letter", 0)),
            *((2, "change", 2), (2, "dead_letter", 0), (2, "dead_letter", 1)),
            *((3, "dead_letter", 0), (4, "dead_letter", 0), (4, "dead_letter", 1)),
            (5, "change", 0),
        ],
    ]


def test_standard_input_is_of_one_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message of one run closes no dead letter of another one, for either reader of a log."""
    import changewire.spark as cws

    good = json.dumps(examples("write")[0]).encode()
    for number, data in enumerate([b"{", good, b"oops", b"{"]):
        (tmp_path / str(number)).write_bytes(data)
        with (tmp_path / str(number)).open() as lines:
            monkeypatch.setattr("sys.stdin", lines)
            job.run(["-"], str(tmp_path / "out"), format=FORMAT)
    log = str(tmp_path / "out" / LOG)
    by_arrow = cwa.dead_letters(tmp_path / "out").to_pylist()
    by_spark = cws.dead_letters(spark, log).collect()
    for letters in (by_arrow, by_spark):
        assert sorted(bytes(one["value"]) for one in letters) == [b"oops", b"{", b"{"]
        assert {one["number"] for one in letters} == {0}
    paths = {row["path"] for row in rows(spark, tmp_path / "out")}
    assert len(paths) == 4
    assert all(path.startswith("-#") for path in paths)
