"""The engine without Spark: files to a log of Parquet."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tests.samples import FORMAT, MIXED_COUNTS, examples, mixed_messages

import changewire.arrow as cwa
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.errors import OutputError
from changewire.engines.log import ADDED, ELEMENT_PLACE, LOG_COLUMNS, MESSAGE_LOG_COLUMNS
from changewire.engines.outcome import Outcome
from changewire.engines.python import log as python_log
from changewire.engines.python import run
from changewire.engines.python.log import parquet_log
from changewire.framing import FramingError

OPTIONS = DecodeOptions(FORMAT)

WAITS = """
import sys, time
import pyarrow as pa
from pathlib import Path
from changewire.engines.python.log import parquet_log
table = pa.table({"path": ["a"]})
with parquet_log(Path(sys.argv[1]), table.schema) as log:
    log.append(table)
    print(flush=True)
    time.sleep(600)
"""

KILLED = """
import os, signal, sys
import changewire.arrow as cwa
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.python import log, run
log.PART_BYTES = 1
def progress(messages):
    if messages > 10_000:
        os.kill(os.getpid(), signal.SIGKILL)
run([sys.argv[1]], sys.argv[2], decode_options=DecodeOptions(sys.argv[3]), progress=progress)
"""


def write_lines(path: Path) -> Path:
    """Write the mixed messages that are one line each."""
    path.write_bytes(b"\n".join(m for m in mixed_messages() if m is not None) + b"\n")
    return path


def many(path: Path, number: int = 20_000) -> Path:
    """Write many messages."""
    write = examples("write")[0]
    lines = [json.dumps({**write, "gen": i}) for i in range(number)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def landed(log: Path, *inputs: Path, **options: Any) -> Outcome:
    """Append files to a log."""
    return run([str(path) for path in inputs], str(log), decode_options=OPTIONS, **options)


def rows(log: Path) -> list[dict[str, Any]]:
    """Return the rows of a log, by position."""
    found = ds.dataset(log, format="parquet").to_table()
    order = [(name, "ascending") for name in ("path", "number", "element")]
    sorted_rows: list[dict[str, Any]] = found.sort_by(order).to_pylist()
    return sorted_rows


def places(log: Path) -> Counter[Any]:
    """Return how often a log has each element."""
    return Counter(tuple(row[name] for name in ELEMENT_PLACE) for row in rows(log))


def test_a_run_writes_one_log(tmp_path: Path) -> None:
    """Changes, control events and dead letters are rows of one table."""
    outcome = landed(tmp_path / "log", write_lines(tmp_path / "in"))
    assert outcome.counts.as_dict()["by_error_code"] == {
        "duplicate-column": 1,
        "invalid-unicode": 1,
        "missing-property": 1,
        "truncated": 1,
    }
    table = pq.read_table(tmp_path / "log")
    assert tuple(table.column_names) == LOG_COLUMNS
    kinds = Counter(table["kind"].to_pylist())
    assert kinds["change"] == MIXED_COUNTS["changes"]
    assert kinds["control"] == 1
    assert kinds["dead_letter"] == MIXED_COUNTS["dead_letters"]
    assert {*table["attempt"].to_pylist()} == {0}
    is_dead = [kind == "dead_letter" for kind in table["kind"].to_pylist()]
    assert [version is not None for version in table["version"].to_pylist()] == is_dead
    assert [path.suffix for path in (tmp_path / "log").iterdir()] == [".parquet"]


def test_first_dead_letters_show_places_and_no_values(tmp_path: Path) -> None:
    """The outcome names where each refused message stood; values only where asked for."""
    source = write_lines(tmp_path / "in")
    letters = landed(tmp_path / "log", source).first_dead_letters
    found = [(item["number"], item["element"]) for item in letters]
    assert found == [(7, 1), (9, 0), (10, 0), (11, 0)]
    assert "value" not in letters[0]
    letters = landed(tmp_path / "log", source, show_values=True).first_dead_letters
    assert letters[1]["value"] == b"{"


def test_an_empty_input_gives_an_empty_log(tmp_path: Path) -> None:
    """No message at all is no error: the log has its columns and no row."""
    (tmp_path / "in").write_bytes(b"")
    assert landed(tmp_path / "log", tmp_path / "in").counts.messages == 0
    assert pq.read_table(tmp_path / "log").column_names == list(LOG_COLUMNS)


def test_rows_are_exact_json_text(tmp_path: Path) -> None:
    """Integers of 64 bits, bytes and nested nulls survive in the text of `after`."""
    landed(tmp_path / "log", write_lines(tmp_path / "in"))
    after = [json.loads(row["after"]) for row in rows(tmp_path / "log") if row["after"]]
    assert after[1]["count"] == -(2**63)
    assert after[0]["myBlob"] == "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
    assert after[2][""] == [None, [1, 2.5, {"a": None}], "x"]


def test_progress_is_told_after_each_batch(tmp_path: Path) -> None:
    """The caller learns how many messages were read so far."""
    seen: list[int] = []
    landed(tmp_path / "log", write_lines(tmp_path / "in"), progress=seen.append)
    assert seen == [12]


def test_a_second_run_leaves_out_what_the_log_has(tmp_path: Path) -> None:
    """The same file adds nothing and no file; what it got since is added."""
    source, log = write_lines(tmp_path / "in"), tmp_path / "log"
    first = landed(log, source)
    assert first.already_in_log == 0
    files, before = {*log.iterdir()}, rows(log)
    again = landed(log, source)
    assert again.already_in_log == again.counts.elements == len(before)
    assert ({*log.iterdir()}, rows(log)) == (files, before)
    with source.open("ab") as lines:
        lines.write(b"{\n")
    assert landed(log, source).already_in_log == len(before)
    assert len(rows(log)) == len(before) + 1
    assert {*places(log).values()} == {1}


def test_runs_of_different_files_add_up(tmp_path: Path) -> None:
    """Equal messages in two files are two elements."""
    one, other = write_lines(tmp_path / "one"), write_lines(tmp_path / "other")
    log = tmp_path / "log"
    number = landed(log, one).counts.elements
    assert landed(log, other).already_in_log == 0
    assert Counter(row["path"] for row in rows(log)) == {str(one): number, str(other): number}


def test_a_log_of_an_earlier_version_gets_further_files(tmp_path: Path) -> None:
    """Its files lack columns that only rows for tables have; any other column is needed."""
    one, other, log = (
        write_lines(tmp_path / "one"),
        write_lines(tmp_path / "other"),
        tmp_path / "log",
    )
    number = landed(log, one).counts.elements
    (file,) = log.iterdir()
    older = pq.read_table(file).drop_columns([*ADDED])
    pq.write_table(older, file)
    assert landed(log, one).already_in_log == number
    landed(log, other)
    assert len(rows(log)) == 2 * number
    assert len(cwa.refused(log)) == 0
    for left in log.iterdir():
        left.unlink()
    pq.write_table(older.drop_columns(["code"]), file)
    with pytest.raises(OutputError, match="a column code of type string is needed"):
        landed(log, one)


def test_standard_input_is_always_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its records have no position by which they would be known again."""
    source, log = write_lines(tmp_path / "in"), tmp_path / "log"
    number = 0
    for times in (1, 2):
        with source.open() as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            outcome = run(["-"], str(log), decode_options=OPTIONS)
        number = outcome.counts.elements
        assert (outcome.already_in_log, len(rows(log))) == (0, times * number)
    assert len({row["path"] for row in rows(log)}) == times


def test_a_run_that_fails_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is whole stays, no file is left that is not, and each element is in the log once."""
    monkeypatch.setattr(python_log, "PART_BYTES", 1)
    source, log = many(tmp_path / "in"), tmp_path / "log"
    damaged = tmp_path / "in.gz"
    damaged.write_bytes(b"\x1f\x8b\x08 damaged")
    with pytest.raises(FramingError):
        landed(log, source, damaged)
    there = len(rows(log))
    assert there == 20_000
    assert [path for path in log.iterdir() if path.name.startswith(".")] == []
    again = landed(log, source, write_lines(damaged))
    assert again.already_in_log == there
    assert len(rows(log)) == again.counts.elements
    assert {*places(log).values()} == {1}


def test_a_run_that_fails_before_its_first_file_leaves_nothing(tmp_path: Path) -> None:
    """Folders that it made are removed."""
    (tmp_path / "in.gz").write_bytes(b"\x1f\x8b\x08 damaged")
    with pytest.raises(FramingError):
        landed(tmp_path / "out" / "log", write_lines(tmp_path / "in"), tmp_path / "in.gz")
    assert not (tmp_path / "out").exists()


def test_a_killed_run_is_run_again(tmp_path: Path) -> None:
    """A run that is killed amid its files leaves whole ones; the next one adds the others."""
    source, log = many(tmp_path / "in"), tmp_path / "log"
    arguments = [str(source), str(log), FORMAT]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    there = len(rows(log))
    assert 0 < there < 20_000
    outcome = landed(log, source)
    assert outcome.already_in_log == there
    assert len(rows(log)) == 20_000
    assert {*places(log).values()} == {1}
    assert {path.suffix for path in log.iterdir()} == {".parquet"}


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    """The next run removes the file that is not whole, and readers never see it."""
    log = tmp_path / "log"
    command = [sys.executable, "-c", WAITS, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(OutputError, match="another run writes to it"):
            landed(log, write_lines(tmp_path / "in"))
        process.kill()
    (left,) = log.iterdir()
    assert left.name.startswith(".changewire-")
    landed(log, write_lines(tmp_path / "in"))
    assert not left.exists()
    assert [path.suffix for path in log.iterdir()] == [".parquet"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("_delta_log/0.json", "it is a table of Delta"),
        ("metadata/v1.metadata.json", "no run wrote this"),
        ("notes.txt", "no run wrote this"),
        ("a.parquet", "it is not a log of Parquet files"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    """A table of another format and files of others are named in a sentence, and stay."""
    path = tmp_path / "log" / name
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=reason):
        landed(tmp_path / "log", write_lines(tmp_path / "in"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "in", path]


def test_other_columns_are_refused(tmp_path: Path) -> None:
    """A log of messages takes no changes, one of typed rows no JSON text."""
    source = write_lines(tmp_path / "in")
    messages = DecodeOptions(FORMAT, elements_as="messages")
    run([str(source)], str(tmp_path / "messages"), decode_options=messages)
    assert tuple(pq.read_table(tmp_path / "messages").column_names) == MESSAGE_LOG_COLUMNS
    with pytest.raises(OutputError, match=r"a column op of type string is needed, and .* lacks it"):
        landed(tmp_path / "messages", source)
    typed = pa.schema([("myBlob", pa.binary())])
    landed(tmp_path / "typed", source, row_schema=typed)
    kind = pq.read_schema(next((tmp_path / "typed").iterdir())).field("after").type
    assert kind == pa.struct(typed)
    assert landed(tmp_path / "typed", source, row_schema=typed).already_in_log
    with pytest.raises(OutputError, match=r"before of type string is needed, and .* has struct<"):
        landed(tmp_path / "typed", source)


def test_only_files_that_may_have_an_element_are_read(tmp_path: Path) -> None:
    """A look for the elements of one file reads the places of that file alone."""
    one, other = write_lines(tmp_path / "one"), many(tmp_path / "other")
    log = tmp_path / "log"
    landed(log, other)
    landed(log, one)
    table = ds.dataset(log, format="parquet").to_table(filter=ds.field("path") == str(one))
    with parquet_log(log, table.schema) as there:
        read: Any = there
        held = [part for part in read._held(table) if len(part)]  # noqa: SLF001 - what it reads
    assert sum(map(len, held)) == len(table)
