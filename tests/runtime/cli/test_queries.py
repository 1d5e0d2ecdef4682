"""``changewire history``, ``current`` and ``dead-letters``: queries on a log without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from tests.runtime.cli.conftest import json_lines
from tests.runtime.cli.trace_logs import history
from tests.runtime.engines.version_rows import as_log, log_of, refused
from tests.runtime.tables.histories import change, placed

import changewire.arrow as cwa

if TYPE_CHECKING:
    from tests.runtime.cli.conftest import Ended


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run in Python."""
    return history(tmp_path_factory.mktemp("queries"))


def test_every_version_is_a_line(cli: Callable[..., Ended], output: Path) -> None:
    """With its row, its ends and what made it; numbers are as the message has them."""
    ended = cli("history", output, "--table", "shop.users", "--json")
    assert ended.exit_code == 0
    lines = json_lines(ended.stdout)
    assert [(line["key"], line["row"].get("name"), line["is_current"]) for line in lines] == [
        ({"id": 1}, "older", False),
        ({"id": 1}, "a", False),
        ({"id": 1}, "late", False),
        ({"id": 1}, "c\x1b[31m", True),
        ({"id": 2}, "b", True),
    ]
    assert lines[0]["op"] == "insert"
    assert lines[0]["_changewire"]["ended"]["sequence"] == {"major": 10, "minor": 1}
    assert json_lines(ended.stderr) == [{"notice": "totals", "versions": 5}]
    assert "\x1b" not in ended.stdout


def test_current_rows_are_lines(cli: Callable[..., Ended], output: Path, tmp_path: Path) -> None:
    """A truncate removes them if it is asked to; a schema gives columns of its types."""
    lines = json_lines(cli("current", output, "--table", "shop.users").stdout)
    assert [line["row"].get("name") for line in lines] == ["c\x1b[31m", "b"]
    assert lines[1]["_changewire"]["major"] == 11
    gone = cli("current", output, "--table", "shop.users", "--apply-truncates")
    assert (gone.exit_code, gone.stdout) == (1, "")
    kinds = [{"name": "id", "type": "LONG"}, {"name": "name", "type": "STRING"}]
    schema = tmp_path / "users.json"
    schema.write_text(json.dumps({"dataColumn": kinds}))
    words = ["--table", "shop.users", "--row-schema", schema]
    typed = cli("current", output, *words, "--format", "dataworks-json")
    assert json_lines(typed.stdout)[1]["row"] == {"id": 2, "name": "b"}
    no_format = cli("current", output, *words)
    assert (no_format.exit_code, "needs --format" in no_format.stderr) == (2, True)


@pytest.mark.parametrize("command", ["current", "history"])
def test_a_table_that_the_log_lacks(cli: Callable[..., Ended], output: Path, command: str) -> None:
    """The command says which tables there are; one whose rows are all gone is among them."""
    ended = cli(command, output, "--table", "user")
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.endswith("the log has no table user; it has: shop.users\n")
    assert ended.stderr.startswith("0 ")
    assert "the log has no table ''; it" in cli(command, output, "--table", "").stderr
    ended = cli(command, output, "--table", "a\udcff")
    assert ended.exit_code == 2
    assert "'--table': expected UTF-8" in " ".join(ended.stderr.split())
    if command == "current":
        gone = cli(command, output, "--table", "shop.users", "--apply-truncates")
        assert gone.stderr == "0 rows of shop.users\n"


@pytest.mark.parametrize("command", ["history", "current"])
def test_a_table_without_a_row_says_why(
    cli: Callable[..., Ended], tmp_path: Path, command: str
) -> None:
    """Its changes are refused, or have no key."""
    changes = placed(change(a=1), change(key=2, a=1), change(key=None, a=1))
    rows = [log_of(changes), refused(changes[:2])]
    pq.write_table(pa.concat_tables(rows), tmp_path / "log.parquet")
    ended = cli(command, tmp_path, "--table", "d.t")
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.splitlines()[1:] == [
        "2 changes of d.t are refused: `changewire dead-letters --refused` has the reasons",
        "1 change of d.t has no key, so its row is not known",
    ]


@pytest.mark.parametrize("command", ["current", "history", "trace"])
@pytest.mark.parametrize("name", ["users", "Users", "SHOP.users"])
def test_the_end_of_a_name_is_enough(
    cli: Callable[..., Ended], output: Path, command: str, name: str
) -> None:
    """Whatever the case of its letters, if no table has that name."""
    words = ("id=2",) if command == "trace" else ()
    full = cli(command, output, *words, "--table", "shop.users")
    short = cli(command, output, *words, "--table", name)
    assert short.exit_code == full.exit_code == 0
    assert (short.stdout, short.stderr) == (full.stdout, full.stderr)


@pytest.mark.parametrize("command", ["current", "history"])
def test_the_end_of_a_name_is_enough_for_columns_of_a_type(
    cli: Callable[..., Ended], output: Path, tmp_path: Path, command: str
) -> None:
    """A schema needs no key of a table that the log lacks: the name is looked up as without one."""
    schema = tmp_path / "users.json"
    schema.write_text(json.dumps({"dataColumn": [{"name": "id", "type": "LONG"}]}), "utf-8-sig")
    words = ("--row-schema", schema, "--format", "dataworks-json")
    full, short, other = (
        cli(command, output, "--table", name, *words) for name in ("shop.users", "USERS", "nosuch")
    )
    assert short.exit_code == full.exit_code == 0
    assert (short.stdout, short.stderr) == (full.stdout, full.stderr)
    assert (other.exit_code, other.stdout) == (1, "")
    assert other.stderr.endswith("the log has no table nosuch; it has: shop.users\n")


def test_a_name_that_may_be_of_several_tables_is_wrong_usage(
    cli: Callable[..., Ended], tmp_path: Path
) -> None:
    """They are named."""
    changes = [change(a=1), change(a=1, table="T")]
    pq.write_table(log_of(placed(*changes)), tmp_path / "a.parquet")
    ended = cli("history", tmp_path, "--table", "D.t")
    assert ended.exit_code == 2
    assert "--table may be any of: d.t, d.T" in " ".join(ended.stderr.split())
    assert cli("history", tmp_path, "--table", "T").exit_code == 0


def test_open_dead_letters_are_lines(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """With reason and place; their values only if that is asked for, bytes as Base64."""
    decoded = cwa.decode([b"secret", b"\xff", b"{}"], format="aerospike-json")
    pq.write_table(as_log(decoded.rows.read_all()), tmp_path / "a.parquet")
    ended = cli("dead-letters", tmp_path, "--limit", "2")
    first, second = json_lines(ended.stdout)
    assert (first["code"], first["number"], "value" in first) == ("invalid-json", 0, False)
    assert "3 dead letters" in ended.stderr
    assert "secret" not in ended.stdout
    assert ended.exit_code == 1
    first, second, _ = json_lines(cli("dead-letters", tmp_path, "--show-values").stdout)
    assert (first["value"], second["value_base64"]) == ("secret", "/w==")


def test_a_time_that_python_cannot_show_is_null(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """Spark keeps a time of a record in microseconds, taken for milliseconds, in its log."""
    letters = as_log(cwa.decode([b"{"], format="aerospike-json").rows.read_all())
    late = pa.array([1_764_400_000_000_000_000], letters.field("timestamp").type)
    at = letters.column_names.index("timestamp")
    pq.write_table(letters.set_column(at, "timestamp", late), tmp_path / "a.parquet")
    (line,) = json_lines(cli("dead-letters", tmp_path).stdout)
    assert (line["code"], line["timestamp"]) == ("truncated", None)


def test_dead_letters_are_closed(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """With who did that and why; the others stay open."""
    letters = as_log(cwa.decode([b"{", b"nothing"], format="aerospike-json").rows.read_all())
    write_deltalake(tmp_path / "log", letters)
    words = ("--close", "--where", "code = 'truncated'", "--by", "ann", "--why", "sent again")
    assert "--close is for" in cli("dead-letters", tmp_path, *words[:-2]).stderr
    assert "--close is for" in cli("dead-letters", tmp_path, "--refused", *words).stderr
    assert "leave out --limit" in cli("dead-letters", tmp_path, *words, "--limit", "1").stderr
    assert "only with --close" in cli("dead-letters", tmp_path, *words[1:]).stderr
    for closed in (1, 0):
        ended = cli("dead-letters", tmp_path, *words, "--json")
        assert (ended.exit_code, ended.stdout) == (1, "")
        (line,) = json_lines(ended.stderr)
        assert line == {"notice": "totals", "closed": closed, "dead_letters": 1}
    (left,) = json_lines(cli("dead-letters", tmp_path).stdout)
    assert left["number"] == 1
    parquet = tmp_path / "parquet"
    parquet.mkdir()
    pq.write_table(letters, parquet / "log.parquet")
    assert "not a table of Delta" in cli("dead-letters", parquet, *words).stderr


def test_refused_changes_are_lines(cli: Callable[..., Ended], tmp_path: Path) -> None:
    """With the reason; nothing is open once they are replayed."""
    changes = placed(change(a=7))
    log = pa.concat_tables([log_of(changes), refused(changes)])
    pq.write_table(log, tmp_path / "a.parquet")
    (line,) = json_lines(cli("dead-letters", tmp_path, "--refused").stdout)
    assert (line["code"], line["source"]["table"], "after" in line) == (
        "schema-mismatch",
        "t",
        False,
    )
    (line,) = json_lines(cli("dead-letters", tmp_path, "--refused", "--show-values").stdout)
    assert line["after"] == {"id": 1, "a": 7}
    pq.write_table(log_of([], changes), tmp_path / "b.parquet")
    done = cli("dead-letters", tmp_path, "--refused")
    assert (done.exit_code, done.stdout) == (0, "")


@pytest.mark.parametrize("command", ["history", "current", "dead-letters"])
def test_what_is_no_log_is_named(
    cli: Callable[..., Ended], tmp_path: Path, output: Path, command: str
) -> None:
    """A folder that is not there, or has other columns, is one sentence with its name."""
    words = [] if command == "dead-letters" else ["--table", "shop.users"]
    missing = cli(command, tmp_path / "missing", *words)
    assert (missing.exit_code, "no such folder" in missing.stderr) == (2, True)
    pq.write_table(pa.table({"key": ["a"]}), tmp_path / "a.parquet")
    other = cli(command, tmp_path, *words)
    assert (other.exit_code, "no column 'kind'" in other.stderr) == (2, True)
    assert tmp_path.name in other.stderr.replace("\n", "")
    if words:
        wrong = cli(command, output, *words, "--row-schema", tmp_path / "none.json")
        assert (wrong.exit_code, "none.json" in wrong.stderr.replace("\n", "")) == (2, True)
