"""The engine without Spark: files to Parquet tables."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.layout import CHANGES_TABLE, DEAD_LETTERS_TABLE
from changewire.engines.python import run


def write_lines(path: Path) -> Path:
    """Write the mixed messages that are one line each."""
    path.write_bytes(b"\n".join(m for m in mixed_messages() if m is not None) + b"\n")
    return path


def test_a_run_writes_three_tables(tmp_path: Path) -> None:
    """Changes, control events and dead letters each get a table with their columns."""
    outcome = run(
        [str(write_lines(tmp_path / "in"))],
        str(tmp_path / "out"),
        decode_options=DecodeOptions(FORMAT),
    )
    assert outcome.counts.as_dict()["by_error_code"] == {
        "duplicate-column": 1,
        "invalid-unicode": 1,
        "missing-property": 1,
        "truncated": 1,
    }
    for name, columns in (("changes", CHANGES_TABLE), ("dead_letters", DEAD_LETTERS_TABLE)):
        table = pq.read_table(tmp_path / "out" / name)
        assert (table.num_rows, tuple(table.column_names)) == (MIXED_COUNTS[name], columns)
    assert pq.read_table(tmp_path / "out" / "controls").num_rows == 1


def test_first_dead_letters_show_places_and_no_values(tmp_path: Path) -> None:
    """The outcome names where each refused message stood; values only where asked for."""
    source, output = str(write_lines(tmp_path / "in")), str(tmp_path / "out")
    letters = run([source], output, decode_options=DecodeOptions(FORMAT)).first_dead_letters
    assert [(item["number"], item["element"]) for item in letters] == [
        (7, 1),
        (9, 0),
        (10, 0),
        (11, 0),
    ]
    assert "value" not in letters[0]
    assert (
        run(
            [source], output, decode_options=DecodeOptions(FORMAT), show_values=True
        ).first_dead_letters[1]["value"]
        == b"{"
    )


def test_an_empty_input_gives_empty_tables(tmp_path: Path) -> None:
    """No message at all is no error: the tables are there and hold no row."""
    (tmp_path / "in").write_bytes(b"")
    outcome = run(
        [str(tmp_path / "in")], str(tmp_path / "out"), decode_options=DecodeOptions(FORMAT)
    )
    assert outcome.counts.messages == 0
    assert pq.read_table(tmp_path / "out" / "changes").column_names == list(CHANGES_TABLE)


def test_rows_are_exact_json_text(tmp_path: Path) -> None:
    """Integers of 64 bits, bytes and nested nulls survive in the text of `after`."""
    run(
        [str(write_lines(tmp_path / "in"))],
        str(tmp_path / "out"),
        decode_options=DecodeOptions(FORMAT),
    )
    after = [
        json.loads(t) for t in pq.read_table(tmp_path / "out" / "changes")["after"].to_pylist() if t
    ]
    assert after[1]["count"] == -(2**63)
    assert after[0]["myBlob"] == "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
    assert after[2][""] == [None, [1, 2.5, {"a": None}], "x"]


def test_progress_is_told_after_each_batch(tmp_path: Path) -> None:
    """The caller learns how many messages were read so far."""
    seen: list[int] = []
    source = str(write_lines(tmp_path / "in"))
    run([source], str(tmp_path / "out"), decode_options=DecodeOptions(FORMAT), progress=seen.append)
    assert seen == [12]
