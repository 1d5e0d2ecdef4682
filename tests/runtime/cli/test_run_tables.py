"""``changewire run --target`` on files: changes to Delta tables, without Spark."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.runtime.changes import dataworks
from tests.runtime.cli.conftest import SPARK_SELDOM, Ended
from tests.runtime.engines.chosen import first, keyless
from tests.runtime.engines.merge.messages import message
from tests.samples import FORMAT, MIXED_COUNTS, examples

import changewire as cw
from changewire.engines.applied import COUNTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cli = Callable[..., Ended]
TEXT = ("--row-schema", "json")


@pytest.fixture
def run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def once(*arguments: str | Path, data: bytes = b"") -> Ended:
        places = ("--output", "out", "--target", "lake/{table}", *TEXT)
        return cli("run", "-f", FORMAT, *places, *arguments, data=data)

    return once


def lake(folder: str = "lake") -> dict[str, list[Any]]:
    """Return the rows of each table."""
    tables = {
        path.name: DeltaTable(str(path)).to_pyarrow_table() for path in Path(folder).iterdir()
    }
    return {name: table.sort_by("key")["row"].to_pylist() for name, table in sorted(tables.items())}


def test_files_are_merged_into_tables(
    run: Callable[..., Ended], mixed: Path, tmp_path: Path
) -> None:
    """Tables, log and report are there, and doing it again changes nothing."""
    options = (mixed, "--default-table", "none")
    first = run(*options, "--json")
    assert first.exit_code == 0
    report = json.loads(first.stdout)
    assert report == json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report["dead_letters"] == MIXED_COUNTS["dead_letters"]
    assert report["tables"]["inserted"] > 0
    assert report["engine"].startswith("python")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "log",
        "report.json",
        "report.html",
    }
    rows = lake()
    assert any(rows.values())
    log = DeltaTable("out/log").to_pyarrow_table()
    assert len(log) == report["elements"] + report["tables"].get("refused", 0)
    again = run(*options)
    assert again.exit_code == 0
    shown = " ".join(again.stderr.split())
    assert "in tables: nothing" in shown
    assert f"{report['elements']} of the elements were in the log already" in shown
    assert lake() == rows
    assert DeltaTable("out/log").to_pyarrow_table().equals(log)


def test_an_empty_input_gives_a_log_of_tables(
    run: Callable[..., Ended], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands on the log find it, without Spark; the first changes still need a key."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    Path("in.jsonl").write_bytes(b"")
    assert run("in.jsonl").exit_code == 0
    assert len(DeltaTable("out/log").to_pyarrow_table()) == 0
    places = ("out", "--target", "lake/{table}")
    for command in (("verify",), ("rebuild",), ("replay", "-f", FORMAT)):
        ended = cli(*command, *places)
        assert ended.exit_code == 0, ended.stderr
    Path("in.jsonl").write_bytes(message("INSERT", 1, {"id": 7}).replace(b'["id"]', b"null"))
    ended = cli("run", "-f", "dataworks-json", "-o", *places, "in.jsonl")
    assert "none of 1 changes has a key" in " ".join(ended.stderr.split())


def test_spark_makes_the_same_tables(
    spark: SparkSession, run: Callable[..., Ended], cli: Cli, mixed: Path, good: Path
) -> None:
    """With ``--engine spark`` rows are those of Python, and a second run only adds."""
    assert spark is not None
    messages = mixed.read_bytes()
    for place in (b'["ns", "set"', b'["test", "demo"'):
        messages = messages.replace(place, b'["ns", null')
    mixed.write_bytes(messages.replace(b'["test"', b'["ns"'))  # all of one table
    options = ("--default-table", "none", "--engine")
    by_python = json.loads(run(mixed, *options, "python", "--json").stdout)
    rows = lake()
    refused = run(mixed, *options, "spark")
    assert refused.exit_code == 2
    assert "found those of runs without it; use --engine python" in " ".join(refused.stderr.split())
    places = ("-o", "other", "--target", "pond/{table}", *TEXT)
    command = ("run", "-f", FORMAT, *places, *options, "spark")
    first = cli(*command, mixed, "--json")
    assert first.exit_code == 0, first.stderr
    report = json.loads(first.stdout)
    assert {name: report[name] for name in MIXED_COUNTS} == {
        name: by_python[name] for name in MIXED_COUNTS
    }
    assert report["engine"].startswith("spark")
    assert lake("pond") == rows
    more = good.with_name("more.jsonl")
    more.write_text(json.dumps(examples("delete")[0]), encoding="utf-8")
    again = json.loads(cli(*command, mixed, more, "--json").stdout)
    assert again["already_in_log"] == report["elements"] < again["elements"]
    assert lake("pond") == rows


@SPARK_SELDOM
def test_a_repaired_file_is_read_again(
    run: Callable[..., Ended], tmp_path: Path, engine: str
) -> None:
    """What is valid by now closes the dead letters of its place, and is in the table."""
    values = [message("INSERT", 1, {"id": number}, table="users") for number in range(2)]
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\n".join([values[0], b'{"oops"']))
    options = ("-f", "dataworks-json", "--engine", engine, "--json", path)
    first = json.loads(run(*options).stdout)
    assert (first["dead_letters"], first["tables"]["inserted"]) == (1, 1)
    path.write_bytes(b"\n".join(values))
    again = json.loads(run(*options).stdout)
    assert (again["already_in_log"], again["dead_letters"]) == (1, 0)
    assert again["tables"]["inserted"] == 1
    assert len(lake()["users"]) == 2
    log = DeltaTable("out/log").to_pyarrow_table().to_pylist()
    assert sorted((one["kind"], one["number"], one["attempt"]) for one in log) == [
        ("change", 0, 0),
        ("change", 1, 1),
        ("dead_letter", 1, 0),
    ]


@SPARK_SELDOM
def test_a_key_that_is_named_later_closes_changes_without_one(
    run: Callable[..., Ended], tmp_path: Path, engine: str
) -> None:
    """The same file, once more with `--key-column`, gets into the table; then nothing is left.

    A table of which all changes are refused has its reason in the report.
    """
    bare = [message("INSERT", number, {"id": number}, table="bare", key=()) for number in (1, 2)]
    gone = message("DELETE", 3, {"id": 1}, table="bare", key=())
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b"\n".join(
            [
                message("INSERT", 1, {"id": 1}, table="Users"),
                *(*bare, gone, b"{"),
                message("INSERT", 1, {"id": 1}, table="users"),
            ]
        )
    )
    options = ("-f", "dataworks-json", "--engine", engine, "--json", path)
    first = json.loads(run(*options).stdout)
    assert first["changes_by_table"]["d.bare"]["key_missing"] == 3
    refusal = first["changes_by_table"]["d.users"]["first_refusal"]
    assert (refusal["code"], refusal["key_columns"]) == ("name-collision", ["id"])
    mended = json.loads(run(*options, "--key-column", "d.bare=id").stdout)
    assert (mended["already_in_log"], mended["changes_by_table"]["d.bare"]["key_missing"]) == (3, 0)
    for keys in ((), ("--key-column", "d.bare=id"))[engine == "spark" :]:
        assert json.loads(run(*options, *keys).stdout)["already_in_log"] == 6
    assert lake() == {"bare": ['{"id":2}'], "Users": ['{"id":1}']}
    log = DeltaTable("out/log").to_pyarrow_table(filters=ds.field("kind") != "refused").to_pylist()
    assert sorted((one["number"], one["attempt"]) for one in log if one["key"] is None) == [
        *((1, 0), (2, 0), (3, 0), (4, 0)),
    ]
    assert sorted((one["number"], one["attempt"]) for one in log if one["key"]) == [
        *((0, 0), (1, 1), (2, 1), (3, 1), (5, 0)),
    ]


def test_a_file_that_spark_cannot_read_is_named(
    spark: SparkSession, run: Callable[..., Ended], tmp_path: Path
) -> None:
    """The sentence has the file and its reason, and no table is made."""
    assert spark is not None
    (tmp_path / "bad.jsonl.gz").write_bytes(b"\x1f\x8bnot gzip")
    ended = run("bad.jsonl.gz", "--default-table", "none", "--engine", "spark")
    assert ended.exit_code == 2
    shown = " ".join(ended.stderr.split())
    assert "bad.jsonl.gz" in shown
    assert "Traceback" not in shown
    assert not Path("lake").exists()


def test_what_was_not_applied_is_said(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused changes, truncates and statements have a line each, on the terminal and the page."""
    monkeypatch.chdir(tmp_path)
    told = [
        message("INSERT", 1, {"id": 1}),
        message("INSERT", 2, {"id": 1}, table="T"),
        message("TRUNCATE", 3, None),
        message("QUERY", 4, None),
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(told))
    places = ("--output", "out", "--target", "lake/{table}", *TEXT)
    ended = cli("run", "-f", "dataworks-json", "in.jsonl", *places)
    assert ended.exit_code == 1  # all changes of a table were refused
    shown = " ".join(ended.stderr.split())
    page = Path("out/report.html").read_text("utf-8")
    for name in ("refused", "truncates_not_applied", "statements_without_rows"):
        assert f"1 {COUNTED[name]}" in shown
        assert COUNTED[name] in page


def test_too_many_dead_letters_end_a_run(run: Callable[..., Ended], mixed: Path) -> None:
    """Nothing of the batch is written."""
    ended = run(mixed, "--default-table", "none", "--max-dead-letters", "1")
    assert ended.exit_code == 2
    assert "--max-dead-letters is 1. Nothing of the batch was written" in " ".join(
        ended.stderr.split()
    )
    assert not Path("lake").exists()


@pytest.mark.parametrize("engine", ["python", "spark"])
def test_too_many_dead_letters_end_a_run_without_tables(
    cli: Cli, mixed: Path, tmp_path: Path, engine: str
) -> None:
    """A log alone gets nothing of the batch either."""
    places = ("--engine", engine, "--output", tmp_path / "out", mixed)
    ended = cli("run", "-f", FORMAT, *places, "--max-dead-letters", "1")
    assert ended.exit_code == 2
    assert "Nothing of the batch was written" in " ".join(ended.stderr.split())
    assert not [*tmp_path.rglob("*.parquet")]
    assert cli("run", "-f", FORMAT, *places, "--max-dead-letters", "x").exit_code == 2
    assert cli("run", "-f", FORMAT, *places, "--max-dead-letters", "50%").exit_code == 0


def test_rows_are_flagged_by_option(run: Callable[..., Ended], good: Path) -> None:
    """Deleted rows stay with ``--deletes flag``; a view needs Spark."""
    assert run(good, "--default-table", "none", "--deletes", "flag").exit_code == 0
    tables = [DeltaTable(str(path)).to_pyarrow_table() for path in Path("lake").iterdir()]
    states = [state for table in tables for state in table["_changewire"].to_pylist()]
    assert any(state["deleted"] for state in states)


def test_all_reasons_of_dead_letters_are_named(run: Callable[..., Ended], mixed: Path) -> None:
    """The counts behind the reasons add up to the dead letters."""
    ended = run(mixed, "--default-table", "none")
    reasons = re.findall(r"dead letters \((.*?)\)", " ".join(ended.stderr.split()))
    counts = [int(reason.split()[1]) for reason in reasons[0].split(", ")]
    assert len(counts) > 3
    assert sum(counts) == MIXED_COUNTS["dead_letters"]


def test_standard_input_is_not_merged(run: Callable[..., Ended], good: Path) -> None:
    """Messages of a pipe have no position by which the log would know them again."""
    ended = run("-", "--default-table", "none", data=good.read_bytes())
    assert ended.exit_code == 2
    assert "give files, not standard input" in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--row-schema", "nested"],
            "--row-schema: the file 'nested' is missing",
        ),
        (["--schema-evolution", "any"], "no --schema-evolution 'any'; there are: add_columns"),
        (["--table-format", "iceberg"], "No such option: --table-format"),
        (["--view", "live"], "No such option: --view"),
        (["--target", "lake.{table}"], "has no slash"),
        (["--target", "lake/{tabel}"], "is not a field of a target"),
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


@pytest.mark.parametrize(("flags", "rows"), [([], 1), (["--one-table"], 2)])
def test_several_tables_and_one_target(
    cli: Cli, tmp_path: Path, flags: list[str], rows: int
) -> None:
    """Changes of the second table are refused, unless the option lets it feed the target."""
    sent = [message("INSERT", 1, {"id": number}, table=f"t{number}") for number in range(2)]
    (tmp_path / "two.jsonl").write_bytes(b"\n".join(sent))
    places = ("--output", tmp_path / "out", "--target", f"{tmp_path}/one", *TEXT)
    ended = cli("run", "-f", "dataworks-json", *places, *flags, "--json", tmp_path / "two.jsonl")
    counts = json.loads(ended.stdout)["tables"]
    assert (counts["inserted"], counts.get("refused", 0)) == (rows, 2 - rows)
    log = DeltaTable(f"{tmp_path}/out/log").to_pyarrow_table().to_pylist()
    codes = {row["code"] for row in log if row["kind"] == "refused"}
    assert codes == ({"second-source"} if rows == 1 else set())


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
    places = ("--output", "out", "--target", "lake/{table}")
    how = ("--row-schema", schema if rows == "file" else rows, "--misfits", "refuse")
    ended = cli("run", "-f", "dataworks-json", messages, *places, *how)
    assert ended.exit_code == 0
    shown = " ".join(ended.stderr.split())
    assert f"1 {COUNTED['refused']}" in shown
    table = DeltaTable("lake/users").to_pyarrow_table().drop_columns("_changewire")
    assert table.to_pylist() == [{"id": 1, "name": "a", "price": 9.9}]


@pytest.mark.parametrize(
    ("engine", "rows"), [("python", "file"), ("python", "embedded"), ("spark", "embedded")]
)
def test_logs_of_files_have_typed_rows(cli: Cli, tmp_path: Path, engine: str, rows: str) -> None:
    """Without tables the columns before and after of a run have the types of schemas."""
    messages, schema = shop(tmp_path)
    how = ("--row-schema", schema if rows == "file" else rows, "--engine", engine)
    where = ("--output", tmp_path / "out", *how)
    ended = cli("run", "-f", "dataworks-json", messages, *where)
    assert (ended.exit_code, "dead letters (wrong-type 1)" in ended.stderr) == (0, True)
    after = (
        ds.dataset(tmp_path / "out" / "log", format="parquet")
        .to_table(columns=["after"], filter=ds.field("kind") == "change")["after"]
        .to_pylist()
    )
    assert after == [{"id": 1, "name": "a", "price": 9.9}]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--row-schema", "embedded"], f"messages of {FORMAT} carry no schema"),
        (["--row-schema", "missing.json"], "--row-schema: the file 'missing.json' is missing"),
        (["--row-schema", "missing.json", "--as", "messages"], "messages are kept as they are"),
        (["--row-schema", "variant"], "--row-schema='variant' is for Spark"),
    ],
)
def test_rows_that_outputs_cannot_have(
    cli: Cli, good: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """A sentence says why, and nothing is written."""
    output = tmp_path / "out"
    ended = cli("run", "-f", FORMAT, good, "--output", output, *arguments)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())
    assert not output.exists()


def test_a_table_that_is_not_ours_is_one_sentence(run: Callable[..., Ended], good: Path) -> None:
    """Its place and the column are named, and it stays as it was; a run elsewhere takes the log."""
    write_deltalake("lake/demo", pa.table({"a": [1]}))
    ended = run(good, "--default-table", "none")
    assert ended.exit_code == 2
    shown = " ".join(ended.stderr.split())
    assert "lake/demo: a column _changewire of type struct<" in shown
    assert "and the table lacks it; it was not made by changewire" in shown
    assert DeltaTable("lake/demo").to_pyarrow_table().to_pydict() == {"a": [1]}
    assert run(good, "--default-table", "none", "--target", "pond/{table}").exit_code == 0
    assert any(Path("pond").iterdir())


def test_types_are_given_by_table(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table has the columns that messages declare, all others have JSON text."""
    monkeypatch.chdir(tmp_path)
    lines = [message("INSERT", 1, {"id": 1, "name": "a"}, table=name) for name in ("t", "u")]
    (tmp_path / "topic.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "rows.json").write_text('{"d.t": "embedded", "*": "json"}', encoding="utf-8")
    places = ("--output", "out", "--target", "lake/{database}/{table}")
    options = ("--row-schema", "rows.json", "topic.jsonl")
    without = cli("run", "-f", "dataworks-json", *places[:2], *options)
    assert without.exit_code == 2
    assert "--row-schema by table: only with --target" in " ".join(without.stderr.split())
    ended = cli("run", "-f", "dataworks-json", *places, *options)
    assert ended.exit_code == 0, ended.stderr
    (row,) = DeltaTable("lake/d/t").to_pyarrow_table().to_pylist()
    assert (row["id"], row["name"]) == (1, "a")
    assert DeltaTable("lake/d/u").to_pyarrow_table().column_names == ["key", "row", "_changewire"]
    assert "no table has such a name" not in ended.stderr
    (tmp_path / "rows.json").write_text("[]", encoding="utf-8")
    ended = cli("run", "-f", "dataworks-json", *places, *options)
    assert ended.exit_code == 2
    assert "a schema of rows is a JSON object" in " ".join(ended.stderr.split())


@SPARK_SELDOM
def test_types_of_no_table_are_reported(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
) -> None:
    """The names that match nothing, and those that tables have, are in a line and the report."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topic.jsonl").write_bytes(message("INSERT", 1, {"id": 1}))
    (tmp_path / "rows.json").write_text('{"d.t": "embedded", "t": "json"}', encoding="utf-8")
    places = ("--output", "out", "--target", "lake/{table}", "--row-schema", "rows.json")
    ended = cli("run", "-f", "dataworks-json", "--engine", engine, *places, "topic.jsonl")
    assert ended.exit_code == 0, ended.stderr
    line = "--row-schema names d.t, and no table has such a name; tables are: t"
    assert line in " ".join(ended.stderr.split())
    report = json.loads(Path("out/report.json").read_text("utf-8"))
    assert report["unmatched"] == [{"option": "row_schema", "names": ["d.t"], "tables": ["t"]}]


@SPARK_SELDOM
def test_some_tables_are_chosen(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
) -> None:
    """The others are counted, not failures; unmatched names are shown; verify takes them too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topic.jsonl").write_bytes(b"\n".join(first()))
    target = ("--target", "lake/{table}")
    chosen = ("--only", "d.t", "--only", "x.*", "--except", "d.tmp?")
    run = ("run", "-f", "dataworks-json", "--engine", engine, *target, "--output", "out")
    rows = ("--row-schema", "json")
    ended = cli(*run, *chosen, *rows, "--fail-on", "unapplied", "topic.jsonl")
    assert ended.exit_code == 0, ended.stderr
    assert sorted(lake()) == ["t"]
    shown = " ".join(ended.stderr.split())
    assert f"8 {COUNTED['left_out']}" in shown
    there = "and no table has such a name; tables are: d.t, d.u, d.u_1, d.v"
    assert f"--only names x.*, {there}" in shown
    assert f"--except names d.tmp?, {there}" in shown
    report = json.loads(Path("out/report.json").read_text("utf-8"))
    assert [one["option"] for one in report["unmatched"]] == ["only_tables", "except_tables"]
    page = Path("out/report.html").read_text("utf-8")
    assert "<code>only_tables</code> names <bdi>x.*</bdi>, and no table has such a name" in page
    compared = cli("verify", "out", *target, *chosen, "--engine", engine)
    assert compared.exit_code == 0, compared.stderr
    assert "in no table" not in compared.stderr
    assert f"--only names x.*, {there}" in " ".join(compared.stderr.split())
    assert cli("verify", "out", *target, "--only", "d.u").exit_code == 1
    rebuilt = cli("rebuild", "out", *target, *chosen, "--engine", engine)
    assert rebuilt.exit_code == 0, rebuilt.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--only", ""], "--only: the name of a table is not empty"),
        (["--except", "a.*", "--except", "a.*"], "--except: 'a.*' is given twice"),
        (["--output", ""], "'--output' / '-o': expected text, found an empty one"),
        (["--target", ""], "'--target': expected text, found an empty one"),
        (["--target", "a\udcff/{table}"], "'--target': expected UTF-8 without zero bytes"),
        (["--only", "a", "--only", "\udcff"], "'--only': expected UTF-8 without zero bytes"),
    ],
)
def test_names_that_are_refused(
    run: Callable[..., Ended], good: Path, arguments: list[str], sentence: str
) -> None:
    """The option is named, also where there are no tables."""
    ended = run(good, *arguments)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())


def test_tables_are_chosen_of_a_target(cli: Cli, good: Path, tmp_path: Path) -> None:
    """Without one the options have no meaning."""
    ended = cli("run", "-f", FORMAT, "-o", tmp_path / "out", "--only", "a", "--except", "b", good)
    assert ended.exit_code == 2
    shown = " ".join(ended.stderr.replace("│", " ").split())
    assert "--only, --except: only with --target TABLE" in shown


@SPARK_SELDOM
def test_keys_by_table(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
) -> None:
    """Those of one table come before those of all; a table has as many as are named."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "topic.jsonl").write_bytes(b"\n".join(keyless()))
    keys = ("--key-column", "id", "--key-column", "d.u=name", "--key-column", "d.u=id")
    run = ("run", "-f", "dataworks-json", "--engine", engine, "--output", "out")
    rows = ("--row-schema", "json")
    ended = cli(*run, "--target", "lake/{table}", *keys, *rows, "topic.jsonl")
    assert ended.exit_code == 0, ended.stderr
    found = [
        json.loads(row["key"])
        for name in "tu"
        for row in DeltaTable(f"lake/{name}").to_pyarrow_table().to_pylist()
    ]
    assert found == [{"id": 1}, {"id": 1, "name": "a"}]


@pytest.mark.parametrize("key", ["=id", "d.t="])
def test_keys_of_no_table(run: Callable[..., Ended], good: Path, key: str) -> None:
    """A table without a name, or without a column, is refused."""
    ended = run(good, "--key-column", key)
    assert ended.exit_code == 2
    shown = " ".join(ended.stderr.replace("│", " ").split())
    assert f"--key-column: expected a column, or TABLE=COLUMN, found '{key}'" in shown
