"""``--settings`` and ``--column``: settings by table."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.runtime.cli.conftest import Ended
from tests.runtime.engines.merge.messages import message

Cli = Callable[..., Ended]
RUN = ("run", "-f", "dataworks-json", "topic.jsonl", "--output", "out", "--target", "lake/{table}")
TYPES = {"id": "LONG", "price": "STRING", "a.b": "STRING"}
FILE = """
[tables."*"]
columns = { "a.b" = "date", price = "double" }
[tables."d.t"]
columns = { price = "decimal(9,2)" }
[tables."d.u"]
columns = { id = "decimal(20,0)" }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a topic and settings, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    row = {"id": 1, "price": "12.50", "a.b": "2026-01-02"}
    (tmp_path / "topic.jsonl").write_bytes(message("INSERT", 1, row, types=TYPES))
    (tmp_path / "lake.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def test_types_of_a_file_and_of_the_command_line(cli: Cli, folder: Path, engine: str) -> None:
    """The command line wins; a pattern that matches no table is reported."""
    given = ("--settings", "lake.toml", "--column", "d.t.price=decimal(12,2)", "--engine", engine)
    ended = cli(*RUN, *given)
    assert ended.exit_code == 0, ended.stderr
    table = DeltaTable("lake/t").to_pyarrow_table()
    assert table["price"].to_pylist() == [Decimal("12.50")]
    assert [str(table.schema.field(name).type) for name in ("price", "a.b")] == [
        "decimal128(12, 2)",
        "date32[day]",
    ]
    line = "--settings or --column names d.u, and no table has such a name; tables are: d.t, t"
    assert line in " ".join(ended.stderr.split())
    report = json.loads(folder.joinpath("out/report.json").read_text("utf-8"))
    assert report["unmatched"] == [{"option": "tables", "names": ["d.u"], "tables": ["d.t", "t"]}]


@pytest.mark.usefixtures("folder")
def test_a_rebuild_says_what_no_table_is_called(cli: Cli) -> None:
    """What the library logs is a note, in lines of JSON too, and names the options."""
    assert cli(*RUN).exit_code == 0
    rebuild = ("rebuild", "out", "--target", "lake/{table}", "--row-schema", "auto")
    ended = cli(*rebuild, "--settings", "lake.toml")
    line = "--settings names d.u, and no table has such a name; tables are: d.t, t"
    assert ended.stderr.startswith(line)
    ended = cli(*rebuild, "--settings", "lake.toml", "--json")
    notes = [json.loads(one) for one in ended.stderr.splitlines()]
    assert {"notice": "note", "message": line} in notes


def test_the_table_keeps_its_types(cli: Cli, folder: Path) -> None:
    """A later run with another type is an error; one without keeps it, and a rebuild changes it."""
    assert cli(*RUN, "--column", "*.price=decimal(12,2)").exit_code == 0
    row = {"id": 2, "price": "1.5"}
    folder.joinpath("more.jsonl").write_bytes(message("INSERT", 2, row, types=TYPES))
    ended = cli(*RUN, "more.jsonl", "--column", "*.price=double")
    assert ended.exit_code == 2
    text = "column 'price' is decimal(12,2), and --settings says double"
    assert text in " ".join(ended.stderr.split())
    assert cli(*RUN, "more.jsonl").exit_code == 0
    found = DeltaTable("lake/t").to_pyarrow_table()
    assert sorted(found["price"].to_pylist()) == [Decimal("1.50"), Decimal("12.50")]
    folder.joinpath("lake.toml").write_text("tables.'*'.partition_by = ['id']", encoding="utf-8")
    given = ("--settings", "lake.toml", "--column", "*.price=double")
    ended = cli(*RUN, *given)
    assert ended.exit_code == 0, ended.stderr  # it has no new changes
    rebuild = ("rebuild", "out", "--target", "lake/{table}", *given)
    ended = cli(*rebuild)
    assert ended.exit_code == 2
    assert "--settings is for --row-schema" in " ".join(ended.stderr.replace("│", " ").split())
    assert cli(*rebuild, "--row-schema", "auto").exit_code == 0
    table = DeltaTable("lake/t")
    assert table.metadata().partition_columns == ["id"]
    assert sorted(table.to_pyarrow_table()["price"].to_pylist()) == [1.5, 12.5]


def test_keys_of_a_file(cli: Cli, folder: Path) -> None:
    """A topic whose messages say no key has those of the file, in run and replay."""
    row = {"id": 1, "price": "1"}
    folder.joinpath("topic.jsonl").write_bytes(message("INSERT", 1, row, types=TYPES, key=()))
    folder.joinpath("lake.toml").write_text("tables.'d.*'.key_columns = ['id']", encoding="utf-8")
    given = ("--settings", "lake.toml")
    assert cli(*RUN, *given).exit_code == 0
    assert DeltaTable("lake/t").to_pyarrow_table()["id"].to_pylist() == [1]
    replay = ("replay", "out", "-f", "dataworks-json", "--target", "lake/{table}", *given)
    assert cli(*replay).exit_code == 0


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        ("a = ", (), "lake.toml: expected TOML"),
        ("[table.x]", (), "lake.toml: no setting 'table'; there is: tables"),
        ("[tables.x]\ntypes = {}", (), "lake.toml: tables: 'x': no setting 'types'; there are: co"),
        ("tables.x.a = 1", (), "partition_by, cluster_by, properties, key_columns, deletes, misf"),
        ("tables.x.key_columns = 1", (), "tables: 'x': key_columns: expected a list of columns"),
        (
            "",
            ("--column", "price=date"),
            "--column: expected TABLE.COLUMN=TYPE, found 'price=date'",
        ),
        ("", ("--column", "t.price=money"), "tables: 't': columns: 'price': 'money' is not a type"),
        (
            "tables.x.key_columns = ['id']",
            ("--key-column", "id"),
            "--key-column: --settings names such columns too",
        ),
        ("", ("--row-schema", "json", "--column", "t.a=date"), "is for tables with"),
    ],
)
def test_wrong_settings_are_wrong_usage(
    cli: Cli, folder: Path, text: str, arguments: tuple[str, ...], sentence: str
) -> None:
    """The file, the setting and the reason are named."""
    folder.joinpath("lake.toml").write_text(text, encoding="utf-8")
    ended = cli(*RUN, "--settings", "lake.toml", *arguments)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())
    assert not folder.joinpath("out").exists()
