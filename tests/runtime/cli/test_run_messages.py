"""``changewire run --as messages``: messages as they are, in typed columns, with a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest
from tests.runtime.cli.conftest import Ended
from tests.samples import FORMAT

import changewire.arrow as cwa
from changewire.engines.log import MESSAGE_LOG_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cli = Callable[..., Ended]
MAY_DIFFER = {
    *("engine", "seconds", "start_seconds", "read_seconds", "messages_per_second", "output"),
    "next_command",
}


def ran(
    cli: Cli, source: Path, output: Path, engine: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the report of a run, and the rows of its log."""
    options = ("--as", "messages", "--engine", engine, "-o", output, "--show-values")
    assert cli("run", "-f", FORMAT, source, *options).exit_code == 0
    report = json.loads((output / "report.json").read_text(encoding="utf-8"))
    log = ds.dataset(output / "log", format="parquet").to_table()
    order = [("number", "ascending"), ("element", "ascending")]
    return report, log.sort_by(order).to_pylist()


def test_both_engines_make_the_same_log(
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
    assert tuple(rows[0]) == MESSAGE_LOG_COLUMNS
    for kind, decoded in (("message", messages), ("dead_letter", letters)):
        names = [name for name in decoded.column_names if name != "key"]
        found = [{n: row[n] for n in names} for row in rows if row["kind"] == kind]
        assert found == decoded.select(names).to_pylist()
    assert {name: report[name] for name in counts.as_dict()} == counts.as_dict()


def test_the_report_is_one_of_messages(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """Its page has the variants in place of operations, times and tables; so has the terminal."""
    output = tmp_path / "out"
    options = ("--as", "messages", "-o", output)
    ended = cli("run", "-f", FORMAT, mixed, *options)
    assert " ".join(ended.stderr.split()).startswith("12 messages 14 elements 11 valid 3 dead")
    page = (output / "report.html").read_text(encoding="utf-8")
    assert "<h2>Variants</h2>" in page
    assert "<span>valid messages</span>" in page
    assert not [words for words in ("Operations", "Time of change", "Tables") if words in page]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--row-image", "patch"), "--row-image: for changes; messages are kept as they are"),
        (
            ("--key-column", "id", "--column-family", "f"),
            "--key-column, --column-family: for changes",
        ),
        (("--tombstones", "delete"), "tombstones: for changes"),
        (("-f", "auto"), "messages have the columns of one format"),
        (("--target", "t/{table}"), "--target needs changes: it excludes --as messages"),
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


def test_elements_of_two_kinds_are_not_mixed(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """A log has changes or messages: they have other columns."""
    call = ("run", "-f", FORMAT, mixed, "-o", tmp_path / "out")
    assert cli(*call).exit_code == cli(*call).exit_code == 0
    ended = cli(*call, "--as", "messages")
    assert ended.exit_code == 2
    assert "choose another output folder" in " ".join(ended.stderr.split())
