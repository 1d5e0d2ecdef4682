"""``changewire verify``, ``rebuild`` and ``replay`` on what a run without Spark made."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable
from tests.runtime.cli.conftest import Ended
from tests.runtime.engines.merge.messages import message

import changewire.arrow as cwa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cli = Callable[..., Ended]
PLACES = ("out", "--target", "out/tables/{table}")
REFUSING = ("--row-schema", "auto", "--misfits", "refuse")
KEYLESS = message("INSERT", 1, {"id": 7}).replace(b'["id"]', b"null")


@pytest.fixture
def lake(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make tables of a dead letter, a refused change, one without a key, and two others."""
    monkeypatch.chdir(tmp_path)
    texts = {"id": "LONG", "price": "STRING"}
    sent = [
        message("INSERT", 1, {"id": 1, "price": 1.5}),
        message("INSERT", 1, {"id": 2, "price": "x"}, types=texts),
        KEYLESS,
        message("INSERT", 1, {"id": 3, "price": 2.5}),
        b"{",
    ]
    Path("in.jsonl").write_bytes(b"\n".join(sent))
    places = ("-o", "out", "--target", "out/tables/{table}", *REFUSING)
    ended = cli("run", "-f", "dataworks-json", *places, "in.jsonl", "--fail-on", "never")
    assert ended.exit_code == 0, ended.stderr
    return tmp_path


@pytest.fixture
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Spark be missing."""
    monkeypatch.setitem(sys.modules, "pyspark", None)


@pytest.mark.usefixtures("lake", "without_java")
def test_tables_are_verified_and_rebuilt(cli: Cli) -> None:
    """What differs is a line, what is in no table is counted, and a rebuild repairs it."""
    said = "in no table: 1 refused change, 1 change without a key (d.t)"
    ended = cli("verify", *PLACES)
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert "0 rows of the tables differ" in ended.stderr
    assert said in ended.stderr
    table = DeltaTable("out/tables/t")
    table.update({"price": "9.5"}, predicate="id = 1")
    table.delete("id = 3")
    ended = cli("verify", *PLACES, "--json")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.exit_code == 1
    assert [(line["fault"], line["key"], line["offset"]) for line in lines] == [
        ("different", '{"id":1}', 0),
        ("missing", '{"id":3}', 3),
    ]
    lost = [{"table": "d.t", "refused": 1, "key_missing": 1}]
    assert [json.loads(line) for line in ended.stderr.splitlines()] == [
        {"notice": "totals", "different": 2},
        {"notice": "loss", "unapplied": lost},
    ]
    assert len(cli("verify", *PLACES, "--limit", "1").stdout.splitlines()) == 1
    ended = cli("rebuild", *PLACES, "--table", "d.t", "--json")
    assert ended.exit_code == 0, ended.stderr
    assert [Path(name).name for name in json.loads(ended.stdout)["tables"]] == ["t"]
    assert cli("verify", *PLACES).exit_code == 0
    for name, shown in (("no", "no"), ("", "''")):
        ended = cli("rebuild", *PLACES, "--table", name)
        assert ended.exit_code == 2
        assert f"the log has no table {shown}; it has: d.t" in ended.stderr


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("target", ["", "out/tables/{tabl}"])
def test_a_target_is_checked_before_an_engine_is_chosen(cli: Cli, target: str) -> None:
    """No tables were made there, which would mean that Spark made some."""
    ended = cli("verify", "out", "--target", target)
    assert (ended.exit_code, "connectors" in ended.stderr) == (2, False)
    assert "target" in ended.stderr


@pytest.mark.usefixtures("lake", "without_java")
def test_what_is_open_is_replayed(cli: Cli) -> None:
    """With an option that makes it valid, a refused change is applied; letters are left."""
    replay = ("replay", *PLACES, "-f", "dataworks-json", *REFUSING)
    ended = cli(*replay, "--json")
    assert ended.exit_code == 1
    assert json.loads(ended.stdout) == {
        "dead_letters": 1,
        "refused": 1,
        "key_missing": 0,
        "closed": 0,
        "left": 2,
        "tables": {"refused": 1},
    }
    ended = cli(*replay, "--where", "code = 'no-such-code'")
    assert ended.exit_code == 0
    assert "0 of 0 are valid now" in ended.stderr
    assert len(cwa.refused("out")) == 1


@pytest.mark.usefixtures("lake", "without_java")
@pytest.mark.parametrize("command", [("verify",), ("rebuild",), ("replay", "-f", "auto")])
def test_a_log_that_does_not_exist(cli: Cli, command: tuple[str, ...]) -> None:
    """A sentence says so, and Spark is not started."""
    ended = cli(*command, "nothing", *PLACES[1:])
    assert ended.exit_code == 2
    assert "nothing/log: the log does not exist" in " ".join(ended.stderr.split())


@pytest.mark.usefixtures("lake")
def test_options_of_spark_are_for_it(cli: Cli) -> None:
    """The engine without Spark takes neither a checkpoint nor a format."""
    for words in (("--checkpoint", "c"), ("--table-format", "iceberg"), ("--packages", "p")):
        ended = cli("verify", *PLACES, "--engine", "python", *words)
        assert ended.exit_code == 2
        assert f"{words[0]}: only with --engine spark" in " ".join(ended.stderr.split())


@pytest.mark.usefixtures("lake")
def test_spark_says_the_same(spark: SparkSession, cli: Cli) -> None:
    """Lines and counts are those of the engine without Spark."""
    assert spark is not None
    table = DeltaTable("out/tables/t")
    table.update({"price": "9.5"}, predicate="id = 1")
    table.delete("id = 3")
    found = [cli("verify", *PLACES, "--engine", engine) for engine in ("python", "spark")]
    python, by_spark = ([json.loads(one) for one in ended.stdout.splitlines()] for ended in found)
    assert len(python) == 2
    assert [ended.exit_code for ended in found] == [1, 1]
    assert sorted(by_spark, key=str) == sorted(python, key=str)
    said = [[line for line in ended.stderr.splitlines() if "table" in line] for ended in found]
    assert said[0] == said[1]


@pytest.mark.usefixtures("lake", "without_java")
def test_a_rebuild_gives_tables_other_columns(cli: Cli) -> None:
    """With --row-schema rows become text, and columns again; a later run needs the option."""
    ended = cli("rebuild", *PLACES, "--row-schema", "json")
    assert ended.exit_code == 0, ended.stderr
    names = ["key", "row", "_changewire"]
    assert [field.name for field in DeltaTable("out/tables/t").schema().fields] == names
    assert cli("verify", *PLACES).exit_code == 0
    Path("later.jsonl").write_bytes(message("INSERT", 2, {"id": 4, "price": 4.5}))
    ended = cli("run", "-f", "dataworks-json", "-o", "out", *PLACES[1:], "later.jsonl")
    assert ended.exit_code != 0
    assert "`rebuild` with this --row-schema changes that" in " ".join(ended.stderr.split())
    ended = cli("rebuild", *PLACES, "--row-schema", "auto", "--numbers", "refuse")
    assert ended.exit_code == 0, ended.stderr
    rows = DeltaTable("out/tables/t").to_pyarrow_table().to_pylist()
    prices = {row["id"]: row["price"] for row in rows}
    assert prices == {1: 1.5, 3: 2.5, 4: 4.5}
    ended = cli("rebuild", *PLACES, "--misfits", "rescue")
    assert ended.exit_code == 2
    assert "without it tables keep their columns" in " ".join(ended.stderr.split())
