"""``changewire run --checkpoint``: topics of a real broker to a log and tables, batch by batch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from deltalake import DeltaTable
from examples.demo_stream.programs import environment
from examples.jars import JAVA
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, MIXED_COUNTS, examples, mixed_messages
from tests.support.session import INTERPRETED, SPARING
from tests.support.topics import create, produce

from changewire.cli.arguments import stream_options, table_options
from changewire.engines.counts import Counts
from changewire.engines.options import log_of
from changewire.engines.spark.run import settings
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cli = Callable[..., Ended]
COUNTS = tuple(MIXED_COUNTS)


def send(kafka: str, topic: str) -> None:
    """Send the mixed messages to a topic."""
    position = Position(topic=topic, partition=0)
    produce(kafka, [Record(b"k", value, position) for value in mixed_messages()])


@pytest.fixture
def run(
    spark: SparkSession, cli: Cli, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Run the command on a topic of its own, which has the mixed messages, in a working folder."""
    assert spark is not None
    monkeypatch.chdir(tmp_path)
    topic = tmp_path.name
    create(kafka, topic)
    send(kafka, topic)

    def once(*arguments: str) -> Ended:
        source = ("--kafka", kafka, "--subscribe", topic)
        places = ("--checkpoint", tmp_path / "checkpoint", "-o", "out")
        return cli("stream", "-f", FORMAT, *source, *places, *arguments)

    return once


def report(folder: Path) -> dict[str, Any]:
    """Return the report of a run."""
    found: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text("utf-8"))
    return found


def kinds(folder: Path) -> dict[str, int]:
    """Return how many rows of each kind the log of a run has."""
    return Counter(DeltaTable(folder / "out" / "log").to_pyarrow_table()["kind"].to_pylist())


def test_a_stream_goes_on_where_it_ended(
    run: Callable[..., Ended], kafka: str, tmp_path: Path
) -> None:
    """Each run lands what came since, in bounded batches; lines, report and tables agree."""
    lines = tmp_path / "out" / "metrics.jsonl"
    limited = ("--metrics", str(lines), "--option", "maxOffsetsPerTrigger=8")
    ended = run(*limited)
    assert ended.exit_code == 0
    told = [line for line in ended.stderr.splitlines() if line.startswith("batch ")]
    assert "batch 0: 8 messages, " in told[0]
    assert ", 5 offsets behind, newest " in told[0]
    assert told[1].endswith(" s old, 3 dead letters")
    first = report(tmp_path)
    assert {name: first[name] for name in COUNTS} == MIXED_COUNTS
    assert len(first["first_dead_letters"]) == 4
    assert first["by_table"]
    send(kafka, tmp_path.name)
    again = run(*limited, "--json")
    assert json.loads(again.stdout) == report(tmp_path)
    assert {name: report(tmp_path)[name] for name in COUNTS} == MIXED_COUNTS
    batches = json_lines(lines.read_text("utf-8"))
    assert [batch["batch"] for batch in batches] == [0, 1, 2, 3]
    assert [batch["rows"] for batch in batches] == [8, 5, 8, 5]
    assert [batch["lag_offsets"] for batch in batches] == [5, 0, 5, 0]
    assert [batch["offset_gaps"] for batch in batches] == [None, 0, 0, 0]
    assert {batch["query"] for batch in batches} == {first["stream"]["query"]}
    assert first["stream"] == {
        "query": batches[0]["query"],
        "batches": 2,
        "offset_gaps": 0,
        "lag_offsets": 0,
        "signal": None,
    }
    assert kinds(tmp_path) == {
        kind: 2 * MIXED_COUNTS[name] for name, (kind, _) in Counts.kinds.items()
    }


def test_a_stream_of_messages_keeps_them_as_they_are(
    run: Callable[..., Ended], tmp_path: Path
) -> None:
    """With --as messages they land in typed columns; lines and report count them by variant."""
    lines = tmp_path / "metrics.jsonl"
    ended = run("--as", "messages", "--metrics", str(lines))
    assert ended.exit_code == 0
    found = report(tmp_path)
    assert (found["elements"], found["valid"], found["dead_letters"]) == (15, 12, 3)
    (batch,) = json_lines(lines.read_text("utf-8"))
    assert batch["by_variant"] == found["by_variant"]
    assert (batch["valid"], batch["rows"]) == (12, 13)
    assert kinds(tmp_path) == {"message": 12, "dead_letter": 3}
    contents = DeltaTable(tmp_path / "out" / "log").to_pyarrow_table()["content"].to_pylist()
    assert len([one for one in contents if one and (one["key"] or {}).get("digest")]) == 10
    refused = run()
    assert refused.exit_code == 2
    text = " ".join(refused.stderr.split())
    assert "a column op of type string is needed" in text
    assert "choose another log and checkpoint" in text


def test_an_interrupt_ends_a_stream_in_good_order(
    run: Callable[..., Ended], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C amid a backlog: what is committed is told and reported, and the exit code is 130."""
    lines = tmp_path / "metrics.jsonl"
    watch = Thread(target=at_first_line, args=(lines, lambda: os.kill(os.getpid(), signal.SIGINT)))
    watch.start()
    ended = run("--metrics", str(lines), "--option", "maxOffsetsPerTrigger=1")
    watch.join()
    assert ended.exit_code == 130
    assert "Error" not in ended.stderr + capfd.readouterr().err
    batches = json_lines(lines.read_text("utf-8"))
    assert report(tmp_path)["stream"]["signal"] == "SIGINT"
    assert report(tmp_path)["messages"] == len(batches) < MIXED_COUNTS["messages"]


LOGGING = """<Configuration>
  <Appenders>
    <File name="all" fileName="{file}"><PatternLayout pattern="%p %c: %m%n"/></File>
  </Appenders>
  <Loggers><Root level="INFO"><AppenderRef ref="all"/></Root></Loggers>
</Configuration>
"""
SECRET = "canary-password"  # noqa: S105 - not a password of anyone


def test_a_service_ends_on_sigterm(kafka: str, tmp_path: Path) -> None:
    """A process that lands a topic in Delta for ever ends in good order, silently, with 1 or 0.

    With Spark's log at INFO no secret stands in what it writes anywhere.
    """
    create(kafka, tmp_path.name)
    send(kafka, tmp_path.name)
    lines, log, logging = (tmp_path / name for name in ("metrics.jsonl", "spark.log", "log4j2.xml"))
    logging.write_text(LOGGING.format(file=log), encoding="utf-8")
    source = ("--kafka", kafka, "--subscribe", tmp_path.name, "--continuous")
    jaas = f'kafka.sasl.jaas.config=Module required password="{SECRET}";'
    secrets = ("--option", f"kafka.ssl.truststore.password={SECRET}", "--option", jaas)
    places = ("--checkpoint", str(tmp_path / "checkpoint"), "-o", str(tmp_path / "out"))
    command = [sys.executable, "-m", "changewire.cli", "stream", "-f", FORMAT, *source, *places]
    options = f"-Dlog4j2.configurationFile=file:{logging} {JAVA}"
    given = environment()
    few = {**INTERPRETED, **SPARING, "spark.databricks.delta.snapshotPartitions": "1"}
    submit = [f"--conf {name}={value}" for name, value in few.items()]
    with subprocess.Popen(
        [*command, *secrets, "--metrics", str(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **given,
            "PYSPARK_SUBMIT_ARGS": " ".join([*submit, given["PYSPARK_SUBMIT_ARGS"]]),
            "SPARK_SUBMIT_OPTS": options,
        },
    ) as process:
        at_first_line(lines, process.terminate)
        written, said = process.communicate()
    assert process.returncode == 0, said
    assert [line for line in said.splitlines() if "rror" in line or "xception" in line] == []
    assert "\tat " not in said
    assert report(tmp_path)["stream"]["signal"] == "SIGTERM"
    assert kinds(tmp_path)["change"] == MIXED_COUNTS["changes"]
    logged = log.read_text("utf-8")
    assert "org.apache.kafka" in logged
    reports = [path.read_text("utf-8") for path in (tmp_path / "out").glob("report.*")]
    assert len(reports) == 2
    assert not [text for text in (logged, written, said, *reports) if SECRET in text]


def at_first_line(lines: Path, end: Callable[[], None]) -> None:
    """Call something when a file has a line."""
    until = time.monotonic() + 300
    while not lines.exists() or not lines.read_text("utf-8"):
        assert time.monotonic() < until
        time.sleep(0.05)
    end()


def test_a_stream_that_refuses_too_much_ends(run: Callable[..., Ended], tmp_path: Path) -> None:
    """Too many dead letters are one sentence and exit code 2, and nothing is written."""
    ended = run("--max-dead-letters", "3")
    assert ended.exit_code == 2
    text = " ".join(ended.stderr.split())
    assert "4 of 15 elements are dead letters" in text
    assert "--max-dead-letters is 3" in text
    assert not (tmp_path / "out").exists()


def test_a_query_that_fails_is_one_sentence(run: Callable[..., Ended], tmp_path: Path) -> None:
    """The innermost cause is said, the whole traceback is in a file; exit code 2."""
    commits = tmp_path / "out" / "log" / "_delta_log"
    commits.mkdir(parents=True)
    (commits / "00000000000000000000.json").write_text("no commit")
    ended = run()
    assert ended.exit_code == 2
    file = Path("out", "failure.txt")
    assert ended.stderr.startswith("the query failed: ")
    assert "Unrecognized token" in ended.stderr
    assert ended.stderr.endswith(f". The whole traceback is in {file}\n")
    assert ended.stderr.count("\n") == 1
    assert "Traceback" in file.read_text("utf-8")


def test_a_terminal_shows_one_line() -> None:
    """On a terminal the last batch is shown in place, and nothing is left of it behind."""
    pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")
    script = (
        "from changewire.cli.stderr import batch_lines\n"
        "with batch_lines() as show: show('batch 0'); show('batch 1: 5 messages')"
    )
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", script], stderr=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "batch 1: 5 messages" in shown
    assert shown.rstrip().endswith("\x1b[2K")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--table-format", "csv"], "not one of: delta, iceberg"),
        (["--table-format", "parquet"], "not one of: delta, iceberg"),
        (["--json", "--metrics", "-"], "both write"),
        (["--max-dead-letters", "-"], "--max-dead-letters is"),
    ],
)
def test_wrong_usage_is_told(
    spark: SparkSession, cli: Cli, arguments: list[str], text: str, tmp_path: Path
) -> None:
    """Options of streams that do not go together end with a sentence and exit code 2."""
    assert spark is not None
    ended = cli("stream", "-f", FORMAT, "--kafka", "h:1", *arguments, "-o", tmp_path / "out")
    assert ended.exit_code == 2
    assert text in " ".join(ended.stderr.replace("│", " ").split())


def test_tables_of_iceberg_are_in_a_catalog_of_the_output(tmp_path: Path) -> None:
    """A session that the command starts knows a catalog by whose names the outputs are meant."""
    told = settings("org.example:jar:1", "iceberg", str(tmp_path))
    assert told["spark.sql.catalog.changewire.warehouse"] == str(tmp_path)
    assert told["spark.jars.packages"] == "org.example:jar:1"
    assert "iceberg" in told["spark.sql.extensions"]
    assert log_of(str(tmp_path), "iceberg") == "changewire.log"


def test_a_stream_feeds_tables(
    run: Callable[..., Ended], cli: Cli, kafka: str, tmp_path: Path
) -> None:
    """With --target changes are merged; a table of which all are refused fails the run.

    They are replayed when they have a table.
    """
    other = examples("write")[0]
    other["key"][2] = "k9lDquN7AXrX4BGwwdLiFDwvs30="
    record = Record(None, json.dumps(other).encode(), Position(topic=tmp_path.name, partition=0))
    produce(kafka, [record])
    target, lines = "out/lake/{table}", tmp_path / "metrics.jsonl"
    ended = run("--target", target, "--row-schema", "json", "--metrics", str(lines))
    assert ended.exit_code == 1
    (told,) = (one["tables"] for one in json_lines(lines.read_text("utf-8")) if "tables" in one)
    assert told["inserted"] == 1
    assert report(tmp_path)["tables"] == told
    assert (
        f"tables, batch 0: {', '.join(f'{n} {name}' for name, n in told.items())};" in ended.stderr
    )
    rows = DeltaTable(tmp_path / "out" / "lake" / "set").to_pyarrow_table()
    assert rows.column_names == ["key", "row", "_changewire"]
    landed = kinds(tmp_path)
    assert landed["change"] == MIXED_COUNTS["changes"] + 1
    refused = landed["refused"]
    assert refused == told["refused"] > 0
    places = (
        "--target",
        target,
        "--row-schema",
        "json",
        "--checkpoint",
        tmp_path / "checkpoint",
        "--default-table",
        "no_set",
    )
    ended = cli("replay", "out", "-f", FORMAT, *places, "--json")
    assert ended.exit_code == 1
    replayed = json.loads(ended.stdout)
    letters = MIXED_COUNTS["dead_letters"]
    assert replayed["dead_letters"] == letters
    assert (replayed["refused"], replayed["closed"]) == (refused, refused)
    assert (tmp_path / "out" / "lake" / "no_set").exists()
    given = ("--target", target, "--default-table", "no_set", "--engine", "python")
    found = cli("verify", "out", *given)
    assert (found.exit_code, found.stdout) == (0, "")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("lake/{table}", "HERE/lake/{table}"),
        ("./{table}", "HERE/{table}"),
        ("/lake/{table}", "/lake/{table}"),
        ("s3a://lake/{table}", "s3a://lake/{table}"),
        ("file:/lake/{table}", "file:/lake/{table}"),
        ("lake.{database}.{table}", "lake.{database}.{table}"),
    ],
)
def test_a_path_is_that_of_the_working_directory(
    given: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative target or log is below the working directory; names and URIs stay."""
    monkeypatch.chdir(tmp_path)
    assert stream_options("out", "checkpoint", None).log == f"{tmp_path}/out/log"
    options = table_options(given, {})
    assert options.target == meant.replace("HERE", str(tmp_path))


@pytest.mark.parametrize("option", ["--view", "--default-table", "--deletes", "--max-new-tables"])
def test_options_of_tables_need_their_name(cli: Cli, option: str) -> None:
    """Options of tables are for --target."""
    source = ("--kafka", "localhost:1", "--subscribe", "t", "--checkpoint", "c", "-o", "o")
    value = {"--deletes": "flag", "--max-new-tables": "5"}.get(option, "json")
    ended = cli("stream", "-f", FORMAT, *source, option, value)
    assert ended.exit_code == 2
    assert f"{option}: only with --target TABLE" in ended.stderr
