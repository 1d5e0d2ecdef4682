"""``changewire stream --engine python``: topics of a real broker, without Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from deltalake import DeltaTable
from examples.broker import HOST, free_port
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages
from tests.support.topics import create, produce

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.options import StreamOptions, StreamRun
from changewire.framing import Position, Record
from changewire.job import JobError
from changewire.jobs.topics import stream_topics

Cli = Callable[..., Ended]
SECRET = "canary-password"  # noqa: S105 - of nobody


def send(kafka: str, topic: str) -> None:
    """Send the mixed messages to a topic."""
    position = Position(topic=topic, partition=0)
    produce(kafka, [Record(b"k", value, position) for value in mixed_messages()])


@pytest.fixture
def command(kafka: str, tmp_path: Path) -> list[str]:
    """The command on a topic of its own, which has the mixed messages."""
    create(kafka, tmp_path.name)
    send(kafka, tmp_path.name)
    source = ["--kafka", kafka, "--subscribe", tmp_path.name, "-o", str(tmp_path / "lake")]
    return ["stream", "--engine", "python", "-f", FORMAT, *source]


def report(folder: Path) -> dict[str, Any]:
    """Return the report of a run."""
    found: dict[str, Any] = json.loads((folder / "lake" / "report.json").read_text("utf-8"))
    return found


def test_a_stream_goes_on_where_it_ended(
    cli: Cli, command: list[str], kafka: str, tmp_path: Path
) -> None:
    """Each run lands what came since, in bounded batches; lines, report and tables agree."""
    lines = tmp_path / "lake" / "metrics.jsonl"
    limited = ("--metrics", lines, "--option", "maxOffsetsPerTrigger=8")
    target = ("--target", tmp_path / "lake" / "tables" / "{table}", "--fail-on", "never")
    ended = cli(*command, *limited, *target)
    assert ended.exit_code == 0, ended.stderr
    told = [line for line in ended.stderr.splitlines() if line.startswith("batch ")]
    assert "batch 0: 8 messages, " in told[0]
    assert ", 5 offsets behind, newest " in told[0]
    first = report(tmp_path)
    assert {name: first[name] for name in MIXED_COUNTS} == MIXED_COUNTS
    assert first["engine"].startswith("python ")
    assert "librdkafka" in first["engine"]
    assert first["input"] == [f"kafka://{kafka}/{tmp_path.name}"]
    assert len(first["first_dead_letters"]) == 4
    send(kafka, tmp_path.name)
    again = cli(*command, *limited, *target, "--json")
    assert json.loads(again.stdout) == report(tmp_path)
    batches = [one for one in json_lines(lines.read_text("utf-8")) if "rows" in one]
    assert [batch["batch"] for batch in batches] == [0, 1, 2, 3]
    assert [batch["rows"] for batch in batches] == [8, 5, 8, 5]
    assert [batch["lag_offsets"] for batch in batches] == [5, 0, 5, 0]
    assert {batch["offset_gaps"] for batch in batches} == {0}
    assert report(tmp_path)["stream"] == {
        "query": batches[0]["query"],
        "batches": 2,
        "offset_gaps": 0,
        "lag_offsets": 0,
        "signal": None,
    }
    assert len(DeltaTable(str(tmp_path / "lake" / "log")).to_pyarrow_table()) == 34


def at_first_line(lines: Path, end: Callable[[], None]) -> None:
    """Call something when a file has a line."""
    until = time.monotonic() + 60
    while not lines.exists() or not lines.read_text("utf-8"):
        assert time.monotonic() < until
        time.sleep(0.05)
    end()


def test_a_service_ends_on_sigterm(command: list[str], tmp_path: Path) -> None:
    """A process that lands a topic for ever ends in good order, silently, with 0."""
    lines = tmp_path / "metrics.jsonl"
    more = ["--continuous", "--batch-every", "1s", "--compact-every", "1s", "--metrics", str(lines)]
    with subprocess.Popen(
        [sys.executable, "-m", "changewire.cli", *command, *more],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    ) as process:
        at_first_line(lines, process.terminate)
        said = process.communicate()[1]
    assert process.returncode == 0, said
    assert [line for line in said.splitlines() if "rror" in line or "%3|" in line] == []
    assert report(tmp_path)["stream"]["signal"] == "SIGTERM"
    assert report(tmp_path)["changes"] == MIXED_COUNTS["changes"]


def test_an_interrupt_ends_a_stream_in_good_order(
    cli: Cli, command: list[str], tmp_path: Path
) -> None:
    """Ctrl-C amid a backlog: what is committed is reported, and the exit code is 130."""
    lines = tmp_path / "metrics.jsonl"
    watch = Thread(target=at_first_line, args=(lines, lambda: os.kill(os.getpid(), signal.SIGINT)))
    watch.start()
    ended = cli(*command, "--metrics", lines, "--option", "maxOffsetsPerTrigger=1")
    watch.join()
    assert ended.exit_code == 130, ended.stderr
    batches = json_lines(lines.read_text("utf-8"))
    assert report(tmp_path)["stream"]["signal"] == "SIGINT"
    assert report(tmp_path)["messages"] == len(batches) < MIXED_COUNTS["messages"]


def test_a_stream_that_refuses_too_much_ends(cli: Cli, command: list[str], tmp_path: Path) -> None:
    """Too many dead letters are one sentence and exit code 2, and nothing is landed."""
    ended = cli(*command, "--max-dead-letters", "3")
    assert ended.exit_code == 2
    text = " ".join(ended.stderr.split())
    assert "4 of 15 elements are dead letters" in text
    assert "--max-dead-letters is 3" in text
    assert len(DeltaTable(str(tmp_path / "lake" / "log")).to_pyarrow_table()) == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--checkpoint", "c"],
            "--checkpoint, --packages and --table-format iceberg need --engine",
        ),
        (["--table-format", "iceberg"], "need --engine spark"),
        (["--apply-every", "5s"], "--apply-every: only with"),
        (["--compact-every", "5s"], "--compact-every: only with --continuous"),
        (["--batch-every", "5"], "expected a time such as 30s"),
        (["--option", "startingTimestamp=1"], "without Spark there is no option startingTimestamp"),
        (["--option", "startingOffsets=now"], "startingOffsets: "),
        (["--option", "failOnDataLoss=no"], "failOnDataLoss: expected true or false"),
        (["--option", "maxOffsetsPerTrigger=0"], "maxOffsetsPerTrigger: expected a number from 1"),
        (["--option", "kafka.enable.auto.commit=true"], "is set by changewire"),
        (["--option", "kafka.stats_cb=x"], "kafka.stats_cb takes a Python object, not text"),
        (["--option", "kafka.logger=x"], "kafka.logger takes a Python object, not text"),
        (["--option", "kafka.sasl.jaas.config=x"], "Java JAAS configuration is not supported"),
        (["--option", "kafka.group.id="], "kafka.group.id is empty: give it a value or leave it"),
        (["--option", "kafka.nothing=x"], 'No such configuration property: "nothing"'),
    ],
)
def test_wrong_usage_is_told(cli: Cli, arguments: list[str], text: str, tmp_path: Path) -> None:
    """Options that are not valid, or do not go together, end with a sentence and exit code 2."""
    source = ("--kafka", "h:1", "--subscribe", "t", "-o", tmp_path / "lake")
    ended = cli("stream", "--engine", "python", "-f", FORMAT, *source, *arguments)
    assert ended.exit_code == 2
    assert text in " ".join(ended.stderr.replace("│", " ").split())
    assert not (tmp_path / "lake").exists()


def test_times_of_batches_need_no_spark(cli: Cli, tmp_path: Path) -> None:
    """Spark has triggers, and compacts nothing."""
    source = ("--kafka", "h:1", "--subscribe", "t", "-o", tmp_path / "lake")
    ended = cli("stream", "-f", FORMAT, *source, "--batch-every", "5s")
    assert ended.exit_code == 2
    assert "need --engine python" in " ".join(ended.stderr.replace("│", " ").split())


@pytest.mark.parametrize("missing", ["topic", "broker"])
def test_what_cannot_be_read_is_one_sentence(
    cli: Cli, kafka: str, tmp_path: Path, missing: str
) -> None:
    """No broker, or no topic: the address or the name, exit code 2, and no output."""
    server = kafka if missing == "topic" else f"{HOST}:{free_port()}"
    source = ("--kafka", server, "--subscribe", "nothing-here", "-o", tmp_path / "lake")
    ended = cli("stream", "--engine", "python", "-f", FORMAT, *source)
    assert ended.exit_code == 2
    text = f"no topic nothing-here on {server}: create it"
    text = text if missing == "topic" else f"no Kafka broker answers: {server} ("
    assert text in " ".join(ended.stderr.split())
    assert not (tmp_path / "lake").exists()


def test_secrets_are_in_no_error(cli: Cli, kafka: str, tmp_path: Path) -> None:
    """What the client refuses is told without the values of options."""
    source = ("--kafka", kafka, "--subscribe", "t", "-o", tmp_path / "lake")
    secrets = (f"kafka.ssl.key.pem={SECRET}", f"kafka.sasl.password={SECRET}")
    for protocol in ("ssl", "sasl_ssl", SECRET[:6]):
        given = (f"kafka.security.protocol={protocol}", *secrets)
        options = [word for one in given for word in ("--option", one)]
        ended = cli("stream", "--engine", "python", "-f", FORMAT, *source, *options)
        assert ended.exit_code == 2
        assert SECRET not in ended.stdout + ended.stderr


def test_engines_do_not_share_a_log(cli: Cli, command: list[str], tmp_path: Path) -> None:
    """Each keeps its offsets elsewhere, and would read all records again."""
    lake = tmp_path / "lake"
    assert cli(*command).exit_code == 0
    checkpoint = lake / "checkpoint"
    asked = StreamRun(DecodeOptions(FORMAT), StreamOptions(f"{lake}/log", str(checkpoint)))
    with pytest.raises(JobError, match="found the log of a stream without Spark; use --engine"):
        stream_topics({}, str(lake), asked)
    checkpoint.mkdir()
    ended = cli(*command)
    assert ended.exit_code == 2
    assert "use --engine spark, or choose another output" in " ".join(ended.stderr.split())
