"""``changewire run``: messages to a log, with a report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.runtime.cli.conftest import Ended, json_lines
from tests.runtime.cli.test_changes import LINDORM
from tests.runtime.engines.rows import dataworks_insert
from tests.samples import FORMAT, MIXED_COUNTS

from changewire.cli.spark import quieten_spark

Cli = Callable[..., Ended]


def test_a_run_writes_a_log_and_a_report(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """Log and reports are in the output, the counts are said on standard error."""
    output = tmp_path / "out"
    ended = cli("run", "-f", FORMAT, mixed, "--output", output)
    assert (ended.exit_code, ended.stdout) == (0, "")
    kinds = pq.read_table(output / "log")["kind"].to_pylist()
    assert kinds.count("dead_letter") == MIXED_COUNTS["dead_letters"]
    names = {path.name for path in output.iterdir()}
    assert names == {"log", "report.json", "report.html"}
    words = " ".join(ended.stderr.split())
    assert f"{MIXED_COUNTS['changes']} changes" in words
    assert f"report: {output}/report.html" in words
    report = json.loads((output / "report.json").read_text(encoding="utf-8"))
    assert (report["changes"], report["input"]) == (MIXED_COUNTS["changes"], [str(mixed)])


def test_runs_add_up(
    cli: Cli, mixed: Path, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second run leaves out what the log has, however its file is named, and says how many."""
    output = tmp_path / "out"
    call = ("run", "-f", FORMAT, "-o", output)
    assert cli(*call, mixed, mixed).exit_code == 0
    first = pq.read_table(output / "log").num_rows
    assert first == json.loads((output / "report.json").read_text("utf-8"))["elements"]
    monkeypatch.chdir(mixed.parent)
    ended = cli(*call, mixed.name)
    assert f"{first} of the elements were in the log already" in " ".join(ended.stderr.split())
    assert json.loads((output / "report.json").read_text("utf-8"))["already_in_log"] == first
    assert "were in the log already" in (output / "report.html").read_text("utf-8")
    assert pq.read_table(output / "log").num_rows == first
    report = json.loads(cli(*call, good, "--json").stdout)
    assert "already_in_log" not in report
    assert pq.read_table(output / "log").num_rows == first + report["elements"]


def test_dates_without_a_zone_are_named(cli: Cli, tmp_path: Path) -> None:
    """Summary and reports have the number of dates that were read in UTC."""
    file = tmp_path / "in.jsonl"
    file.write_bytes(dataworks_insert({"id": "LONG", "day": "DATE"}, id=1, day=0) + b"\n")
    call, output = ("run", "-f", "dataworks-json", file, "-o"), tmp_path / "out"
    said = "1 dates were read in UTC: --time-zone names the zone they have"
    assert said in " ".join(cli(*call, output).stderr.split())
    report = json.loads((output / "report.json").read_text("utf-8"))
    assert report["leniencies"]["date-read-in-utc"] == 1
    assert "date-read-in-utc" in (output / "report.html").read_text("utf-8")
    assert "read in UTC" not in cli(*call, tmp_path / "other", "--time-zone", "UTC").stderr


def test_files_of_other_formats_and_outputs_are_left_alone(
    cli: Cli, good: Path, tmp_path: Path
) -> None:
    """What an output folder has beside the log and the report stays."""
    old = tmp_path / "out" / "dead_letters" / "part-00000.parquet"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    assert cli("run", "-f", FORMAT, good, "-o", tmp_path / "out").exit_code == 0
    assert old.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("log/_delta_log/00000000000000000000.json", "delta-rs cannot do it"),
        ("log/part-0.parquet", "logs of Parquet files, as earlier versions wrote them"),
        ("report.json/notes", "the report has this name"),
    ],
)
def test_an_output_with_something_else_is_one_sentence(
    cli: Cli, good: Path, tmp_path: Path, path: str, sentence: str
) -> None:
    """What no run may write to is named, and stays as it is."""
    there = tmp_path / "out" / path
    there.parent.mkdir(parents=True)
    there.write_bytes(b"mine")
    ended = cli("run", "-f", FORMAT, good, "-o", tmp_path / "out")
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.split())
    assert [file for file in (tmp_path / "out").rglob("*") if file.is_file()] == [there]


def test_a_run_does_not_read_its_own_log(cli: Cli, good: Path, tmp_path: Path) -> None:
    """A log among the inputs would grow by itself."""
    call = ("run", "-f", FORMAT, "-o", tmp_path / "out")
    assert cli(*call, good).exit_code == 0
    ended = cli(*call, tmp_path / "out" / "log")
    assert ended.exit_code == 2
    assert "the run would read what it writes" in " ".join(ended.stderr.split())


def test_a_report_goes_to_programs(cli: Cli, good: Path, tmp_path: Path) -> None:
    """With --json standard output is the report, on one line, and nothing else is said."""
    output = tmp_path / "out"
    ended = cli("run", "-f", FORMAT, good, "-o", output, "--json")
    assert ended.exit_code == 0
    (report,) = json_lines(ended.stdout)
    assert report == json.loads((output / "report.json").read_text(encoding="utf-8"))
    assert ended.stderr == ""


def test_values_are_shown_only_when_asked(cli: Cli, mixed: Path, tmp_path: Path) -> None:
    """A report holds no value of a refused message, except with --show-values."""
    arguments = ("run", "-f", FORMAT, mixed, "-o", tmp_path / "out", "--json")
    letters = json.loads(cli(*arguments).stdout)["first_dead_letters"]
    assert all("value" not in letter for letter in letters)
    letters = json.loads(cli(*arguments, "--show-values").stdout)["first_dead_letters"]
    assert letters[1]["value"] == "{"


def test_keys_and_families_are_passed_on(cli: Cli, tmp_path: Path) -> None:
    """Rows have the keys that the user names; leniencies of changes are columns, and counted."""
    options = (
        "-o",
        tmp_path / "out",
        "--column-family",
        "f",
        "--key-column",
        "ROW",
    )
    ended = cli("run", "-f", "lindorm-json", "-", *options, "--json", data=LINDORM.encode())
    found = json.loads(ended.stdout)["leniencies"]
    missing = dict.fromkeys(("missing-db", "missing-schema", "missing-version"), 2)
    images = {"missing-before": 1, "missing-after": 1}
    assert found == {"unknown-family": 1, **missing, **images}
    rows = pq.read_table(tmp_path / "out" / "log").sort_by("number").to_pylist()
    assert [row["key"] for row in rows] == ['{"ROW":"AAE="}', None]
    assert ["unknown-family" in row["leniencies"] for row in rows] == [True, False]


def test_a_mixed_topic_is_one_run(cli: Cli, tmp_path: Path) -> None:
    """With --format auto one run reads the messages of several formats."""
    delete = b'{"msg":"delete","key":["n",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1]}\n'
    options = ("-f", "auto", "-", "-o", tmp_path / "out", "--json")
    report = json.loads(cli("run", *options, data=delete + LINDORM.encode()).stdout)
    assert report["format"] == "auto"
    assert report["by_operation"] == {"delete": 2, "insert": 1}


def test_an_empty_folder_is_no_success(cli: Cli, tmp_path: Path) -> None:
    """A run that reads nothing says so, and leaves no output."""
    (tmp_path / "in").mkdir()
    ended = cli("run", "-f", FORMAT, tmp_path / "in", "-o", tmp_path / "out")
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"{tmp_path}/in: the folder has no file ")
    assert not (tmp_path / "out").exists()


def test_dead_letters_of_another_format_are_named(cli: Cli, tmp_path: Path) -> None:
    """The summary says which format most of them have; a few others change nothing."""
    lindorm = LINDORM.encode().strip().split(b"\n")
    delete = b'{"msg":"delete","key":["n",null,"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=",1]}'
    data = b"\n".join([delete, *lindorm, b"{"])
    arguments = ("run", "-f", FORMAT, "-", "-o", tmp_path / "out")
    ended = cli(*arguments, data=data)
    assert ended.exit_code == 0
    hint = (
        f"{len(lindorm)} of {len(lindorm) + 1} dead letters look like lindorm-json: "
        "read them with --format lindorm-json, or with auto"
    )
    assert hint in ended.stderr.splitlines()
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert report["look_alikes"] == {
        "format": "lindorm-json",
        "dead_letters": len(lindorm),
        "looked_at": len(lindorm) + 1,
    }
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"{len(lindorm)} of {len(lindorm) + 1} dead letters look like lindorm-json" in page


@pytest.mark.parametrize(
    ("format", "data"),
    [
        (FORMAT, LINDORM.encode() + b"{\n" * 9),
        (FORMAT, b'{"msg":"delete"}\n' * 3),
        ("auto", b'{"msg":"delete"}\n' * 3),
    ],
)
def test_other_dead_letters_have_no_hint(
    cli: Cli, tmp_path: Path, format: str, data: bytes
) -> None:
    """Where most are of no other format there is nothing to say."""
    arguments = ("-", "-o", tmp_path / "out", "--json")
    report = json.loads(cli("run", "-f", format, *arguments, data=data).stdout)
    assert report["dead_letters"] > 2
    assert "look_alikes" not in report


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--engine", "spark", "-o", "out", "-"), "Spark cannot read standard input"),
        (("--engine", "flink", "-o", "out", "-"), "'flink' is not one of"),
        (("-o", "s3://bucket/x", "-"), "must be a local folder"),
        (("-o", "out", "missing"), "there is no such file"),
        (("-",), "--output"),
    ],
)
def test_what_cannot_be_run_gives_two(
    cli: Cli,
    arguments: tuple[str, ...],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A sentence says what is wrong, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    ended = cli("run", "-f", FORMAT, *arguments, data=b"{}")
    assert ended.exit_code == 2
    assert sentence in " ".join(ended.stderr.split())
    assert not list(tmp_path.iterdir())


def test_an_output_that_cannot_be_written_is_one_sentence(
    cli: Cli, good: Path, tmp_path: Path
) -> None:
    """Where no folder can be made, the path and the reason are said."""
    ended = cli("run", "-f", FORMAT, good, "-o", good / "below")
    assert ended.exit_code == 2
    assert str(good / "below") in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert tmp_path.exists()


def test_spark_is_kept_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark gets our log settings, unless the user has some."""
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dmine")
    assert quieten_spark("lake") is None
    assert os.environ["SPARK_SUBMIT_OPTS"] == "-Dmine"
    monkeypatch.delenv("SPARK_SUBMIT_OPTS")
    assert quieten_spark("lake") == Path("lake", "spark.log")
    settings = os.environ["SPARK_SUBMIT_OPTS"].partition("file:")[2].rstrip('"')
    assert "rootLogger.level = fatal" in Path(settings).read_text(encoding="utf-8")
    monkeypatch.delenv("SPARK_SUBMIT_OPTS")
