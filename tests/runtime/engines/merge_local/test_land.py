"""Files to a log of Delta without Spark, and without tables."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.samples import FORMAT, MIXED_COUNTS, examples, mixed_messages

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.changes.decode_options import DecodeOptions
from changewire.engines import decode
from changewire.engines.counts import ConservationError
from changewire.engines.decode import Decoder
from changewire.engines.errors import OutputError
from changewire.engines.layout import RECORD_PLACE
from changewire.engines.log import (
    ADDED,
    ELEMENT_PLACE,
    LOG_COLUMNS,
    MESSAGE_LOG_COLUMNS,
    log_schema,
)
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.delta import between
from changewire.engines.merge.land import Landing, land
from changewire.engines.merge.land import landed as land_all
from changewire.engines.merge.tally import Tally
from changewire.engines.options import FileRun
from changewire.engines.outcome import Outcome
from changewire.framing import FramingError

KILLED = """
import os, signal, sys
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.merge.land import land
from changewire.engines.options import FileRun
def progress(messages):
    if messages > 0:
        os.kill(os.getpid(), signal.SIGKILL)
land([sys.argv[1]], sys.argv[2], FileRun(DecodeOptions(sys.argv[3]), progress=progress))
"""


def write_lines(path: Path) -> Path:
    """Write the mixed messages that are one line each."""
    path.write_bytes(b"\n".join(m for m in mixed_messages() if m is not None) + b"\n")
    return path


def many(path: Path, number: int = 60_000) -> Path:
    """Write many messages."""
    write = examples("write")[0]
    lines = [json.dumps({**write, "gen": i}) for i in range(number)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def landed(log: Path, *inputs: Path, **options: Any) -> Outcome:
    """Append files to a log."""
    given: dict[str, Any] = {"decode_options": DecodeOptions(FORMAT), **options}
    asked = FileRun(**given)
    return land([str(path) for path in inputs], str(log), asked)


def table_of(log: Path) -> pa.Table:
    """Return the rows of a log."""
    return DeltaTable(log).to_pyarrow_table()


def rows(log: Path) -> list[dict[str, Any]]:
    """Return the rows of a log, by position."""
    order = [(name, "ascending") for name in ("path", "number", "element")]
    sorted_rows: list[dict[str, Any]] = table_of(log).sort_by(order).to_pylist()
    return sorted_rows


def places(log: Path) -> Counter[Any]:
    """Return how often a log has each element."""
    columns = table_of(log).select(ELEMENT_PLACE).to_pydict()
    return Counter(zip(*columns.values(), strict=True))


def test_a_run_writes_one_log(tmp_path: Path) -> None:
    """Changes, control events and dead letters are rows of one table."""
    outcome = landed(tmp_path / "log", write_lines(tmp_path / "in"))
    assert outcome.counts.as_dict()["by_error_code"] == {
        "duplicate-column": 1,
        "invalid-unicode": 1,
        "missing-property": 1,
        "truncated": 1,
    }
    table = table_of(tmp_path / "log")
    assert tuple(table.column_names) == LOG_COLUMNS
    kinds = Counter(table["kind"].to_pylist())
    assert kinds["change"] == MIXED_COUNTS["changes"]
    assert kinds["control"] == 1
    assert kinds["dead_letter"] == MIXED_COUNTS["dead_letters"]
    assert {*table["attempt"].to_pylist()} == {0}
    is_dead = [kind == "dead_letter" for kind in table["kind"].to_pylist()]
    assert [version is not None for version in table["version"].to_pylist()] == is_dead


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
    assert table_of(tmp_path / "log").column_names == list(LOG_COLUMNS)


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
    """The same file adds no row and no file; what it got since is added."""
    source, log = write_lines(tmp_path / "in"), tmp_path / "log"
    first = landed(log, source)
    assert first.already_in_log == 0
    files, before = {*log.rglob("*")}, rows(log)
    again = landed(log, source)
    assert again.already_in_log == again.counts.elements == len(before)
    assert ({*log.rglob("*")}, rows(log)) == (files, before)
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
    """It lacks columns that only rows for tables have; any other column is needed."""
    one, other = write_lines(tmp_path / "one"), write_lines(tmp_path / "other")
    number = landed(tmp_path / "new", one).counts.elements
    older, log = table_of(tmp_path / "new").drop_columns([*ADDED]), tmp_path / "log"
    write_deltalake(log, older)
    assert landed(log, one).already_in_log == number
    landed(log, other)
    assert len(rows(log)) == 2 * number
    assert len(cwa.refused(log)) == 0
    write_deltalake(tmp_path / "without", older.drop_columns(["code"]))
    with pytest.raises(OutputError, match="a column code of type string is needed"):
        landed(tmp_path / "without", one)


def test_standard_input_is_always_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its records have no position by which they would be known again."""
    source, log = write_lines(tmp_path / "in"), tmp_path / "log"
    number = 0
    for times in (1, 2):
        with source.open() as lines:
            monkeypatch.setattr(sys, "stdin", lines)
            outcome = landed(log, Path("-"))
        number = outcome.counts.elements
        assert (outcome.already_in_log, len(rows(log))) == (0, times * number)
    assert len({row["path"] for row in rows(log)}) == times


def test_a_run_that_fails_is_run_again(tmp_path: Path) -> None:
    """Batches that were whole stay, and each element is in the log once."""
    source, log = many(tmp_path / "in"), tmp_path / "log"
    damaged = tmp_path / "in.gz"
    damaged.write_bytes(b"\x1f\x8b\x08 damaged")
    with pytest.raises(FramingError):
        landed(log, source, damaged)
    there = len(table_of(log))
    assert 0 < there < 60_000
    again = landed(log, source, write_lines(damaged))
    assert again.already_in_log == there
    assert len(table_of(log)) == again.counts.elements
    assert {*places(log).values()} == {1}


def test_a_run_that_fails_before_its_first_file_leaves_nothing(tmp_path: Path) -> None:
    """Folders that it made are removed."""
    (tmp_path / "in.gz").write_bytes(b"\x1f\x8b\x08 damaged")
    with pytest.raises(FramingError):
        landed(tmp_path / "out" / "log", write_lines(tmp_path / "in"), tmp_path / "in.gz")
    assert not (tmp_path / "out").exists()


def test_a_killed_run_is_run_again(tmp_path: Path) -> None:
    """A run that is killed leaves whole batches; the next one adds the others."""
    source, log = many(tmp_path / "in"), tmp_path / "log"
    arguments = [str(source), str(log), FORMAT]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    there = len(table_of(log))
    assert 0 < there < 60_000
    outcome = landed(log, source)
    assert outcome.already_in_log == there
    assert len(table_of(log)) == 60_000
    assert {*places(log).values()} == {1}


def test_two_runs_at_once_add_each_element_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run that comes second looks again, and leaves out what the first one appended."""
    source, log = write_lines(tmp_path / "in"), tmp_path / "log"
    lacking = AppendedLog.lacking

    def first(there: AppendedLog, elements: pa.Table) -> pa.Table:
        monkeypatch.setattr(AppendedLog, "lacking", lacking)
        found = there.lacking(elements)
        landed(log, source)
        return found

    landed(log, write_lines(tmp_path / "other"))
    monkeypatch.setattr(AppendedLog, "lacking", first)
    outcome = landed(log, source)
    assert outcome.already_in_log == outcome.counts.elements
    assert {*places(log).values()} == {1}


def test_a_log_without_tables_becomes_tables_later(tmp_path: Path) -> None:
    """What was landed alone is merged by `apply_log`, and landing more stays possible."""
    log, target = tmp_path / "log", f"{tmp_path}/tables/{{table}}"
    landed(log, write_lines(tmp_path / "in"))
    assert cwd.apply_log(str(log), target=target)
    before = len(rows(log))
    assert landed(log, write_lines(tmp_path / "other")).already_in_log == 0
    assert len(rows(log)) > before
    assert cwd.apply_log(str(log), target=target)
    assert not cwd.apply_log(str(log), target=target)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("_delta_log/00000000000000000000.json", "delta-rs cannot do it"),
        ("metadata/v1.metadata.json", "expected a log of Delta or an empty folder"),
        ("notes.txt", "found 'notes.txt'"),
        ("a.parquet", "logs of Parquet files, as earlier versions wrote them, can only be read"),
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
    landed(tmp_path / "messages", source, decode_options=messages)
    assert tuple(table_of(tmp_path / "messages").column_names) == MESSAGE_LOG_COLUMNS
    with pytest.raises(OutputError, match=r"a column op of type string is needed, and .* lacks it"):
        landed(tmp_path / "messages", source)
    typed = pa.schema([("myBlob", pa.binary())])
    landed(tmp_path / "typed", source, row_schema=typed)
    assert table_of(tmp_path / "typed").schema.field("after").type == pa.struct(typed)
    assert landed(tmp_path / "typed", source, row_schema=typed).already_in_log
    with pytest.raises(OutputError, match=r"before of type string is needed, and .* has struct<"):
        landed(tmp_path / "typed", source)


def test_only_files_that_may_have_an_element_are_read(tmp_path: Path) -> None:
    """A look for the elements of a batch reads the places of its files alone."""
    log = tmp_path / "log"
    landed(log, many(tmp_path / "in"))
    batch = table_of(log).filter(ds.field("number") < 1000)
    there = AppendedLog(str(log), log_schema())
    every = pc.scalar(True)  # noqa: FBT003 - a value of Arrow
    held = there.rows(["path"], every, files=between(batch, RECORD_PLACE))
    assert 1000 < sum(map(len, held)) < 60_000


def write_batch(path: Path) -> Path:
    """Write one message of three elements."""
    path.write_text(json.dumps(examples("write")[:1] * 3), encoding="utf-8")
    return path


def test_a_message_may_end_in_a_later_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message may have elements that a later batch brings."""
    monkeypatch.setattr(decode, "ROWS", 1)
    monkeypatch.setattr(decode, "joined", iter)
    log, tally = tmp_path / "log", Tally(Decoder(DecodeOptions(FORMAT)))
    there = AppendedLog(str(log), log_schema())
    landing = Landing(there, tally.decoder.decode_options)
    land_all(landing, [write_batch(tmp_path / "in")], tally, shape="json-lines", batch_size=1)
    assert tally.outcome([], "").counts.changes == len(rows(log)) == there.version == 3


def test_nothing_is_landed_that_does_not_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows of a message are missing, the run ends before its batch is appended."""
    decoded = Decoder.__call__

    def without_first(decoder: Decoder, records: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        return (rows.slice(1) for rows in decoded(decoder, records))

    monkeypatch.setattr(Decoder, "__call__", without_first)
    with pytest.raises(ConservationError, match="0 elements, decoded were 2"):
        landed(tmp_path / "log", write_batch(tmp_path / "in"), shape="json-lines")
    assert not (tmp_path / "log").exists()
