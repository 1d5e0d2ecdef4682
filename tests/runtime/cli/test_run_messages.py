"""``changewire run --as messages``: messages as they are, in typed columns, with a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from tests.runtime.cli.conftest import Ended
from tests.samples import FORMAT

import changewire.arrow as cwa
from changewire.engines.layout import DEAD_LETTERS_TABLE, MESSAGE_OUTPUTS, MESSAGES_TABLE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cli = Callable[..., Ended]
MAY_DIFFER = {
    *("engine", "seconds", "start_seconds", "read_seconds", "messages_per_second", "output"),
}


def ran(cli: Cli, source: Path, output: Path, engine: str) -> tuple[dict[str, Any], Any]:
    """Return the report of a run, and the rows of its outputs."""
    options = ("--as", "messages", "--engine", engine, "-o", output, "--show-values")
    assert cli("run", "-f", FORMAT, source, *options).exit_code == 1
    report = json.loads((output / "report.json").read_text(encoding="utf-8"))
    tables = {
        name: pq.ParquetDataset(output / name).read().sort_by([("number", "ascending")])
        for name in MESSAGE_OUTPUTS
    }
    return report, {name: table.to_pylist() for name, table in tables.items()}


def test_both_engines_make_the_same_tables(
    spark: SparkSession, cli: Cli, mixed: Path, tmp_path: Path
) -> None:
    """Rows, counts and first dead letters of both are equal, and those of `changewire.arrow`."""
    assert spark is not None
    report, rows = ran(cli, mixed, tmp_path / "python", "python")
    other, by_spark = ran(cli, mixed, tmp_path / "spark", "spark")
    assert by_spark == rows
    assert {k: v for k, v in other.items() if k not in MAY_DIFFER} == {
        k: v for k, v in report.items() if k not in MAY_DIFFER
    }
    messages, letters, counts = cwa.messages(mixed, format=FORMAT).tables()
    assert rows == {"messages": messages.to_pylist(), "dead_letters": letters.to_pylist()}
    assert tuple(rows["messages"][0]) == MESSAGES_TABLE
    assert tuple(rows["dead_letters"][0]) == DEAD_LETTERS_TABLE
    assert {name: report[name] for name in counts.as_dict()} == counts.as_dict()


def test_the_report_is_one_of_messages(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """Its page has the variants in place of operations, times and tables; so has the terminal."""
    output = tmp_path / "out"
    options = ("--as", "messages", "--engine", "python", "-o", output)
    ended = cli("run", "-f", FORMAT, mixed, *options)
    assert " ".join(ended.stderr.split()).startswith("12 messages 14 elements 11 valid 3 dead")
    page = (output / "report.html").read_text(encoding="utf-8")
    assert "<h2>Variants</h2>" in page
    assert "<span>valid messages</span>" in page
    assert not [words for words in ("Operations", "Time of change", "Tables") if words in page]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--image", "patch"), "image: for changes; messages are kept as they are"),
        (("--key", "id", "--family", "f"), "keys, families: for changes"),
        (("--null-value", "delete"), "null_value: for changes"),
        (("-f", "auto"), "messages have the columns of one format"),
        (("--target", "t/{table}", "--checkpoint", "c"), "--target TABLE takes changes"),
        (("--as", "rows"), "'rows' is not one of: changes, messages"),
    ],
)
def test_options_of_changes_are_refused(
    cli: Cli, good: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    """What has no meaning for messages is bad usage, and nothing is written."""
    output = tmp_path / "out"
    ended = cli("run", "-f", FORMAT, "--as", "messages", good, "-o", output, *arguments)
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.replace("│", " ").split())
    assert not output.exists()


def test_outputs_of_two_kinds_are_not_mixed(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """A folder has the tables of changes or those of messages: dead letters are of one of them."""
    call = ("run", "-f", FORMAT, mixed, "--engine", "python", "-o", tmp_path / "out")
    assert cli(*call).exit_code == cli(*call).exit_code == 1
    ended = cli(*call, "--as", "messages")
    assert ended.exit_code == 2
    assert "choose another output folder" in " ".join(ended.stderr.split())
