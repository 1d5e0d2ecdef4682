"""Topics of a real broker: as inputs of commands, and to a log by ``changewire stream``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from examples.broker import HOST, free_port
from tests.runtime.cli.conftest import Ended, json_lines
from tests.samples import FORMAT, MIXED_COUNTS, mixed_messages
from tests.support.topics import create, produce

import changewire.arrow as cwa
from changewire.engines.spark.kafka.read import no_connector
from changewire.framing import Position, Record
from changewire.job import JobError
from changewire.tested import TESTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cli = Callable[..., Ended]


# A shell of Spark quietens the root logger, and none that has a level of its own.
@pytest.fixture(scope="module")
def topic(kafka: str) -> str:
    """A topic with the mixed messages."""
    create(kafka, "run")
    position = Position(topic="run", partition=0)
    produce(kafka, [Record(b"k", value, position) for value in mixed_messages()])
    return "run"


def test_commands_read_topics_without_spark(cli: Cli, kafka: str, topic: str) -> None:
    """Each message of a topic has its topic, partition and offset; a limit ends the read."""
    source = ("--kafka", kafka, "--subscribe", topic)
    lines = json_lines(cli("decode", "-f", FORMAT, *source).stdout)
    whole = [line for line in lines if "element" not in line or line["element"] == 0]
    assert {(line["topic"], line["partition"]) for line in lines} == {(topic, 0)}
    assert [line["offset"] for line in whole] == sorted({line["offset"] for line in whole})
    rejected = cli("validate", "-f", FORMAT, *source)
    assert (rejected.exit_code, f"{topic}/0/11: " in rejected.stdout) == (1, True)
    counted = json.loads(cli("explain", "--count", "--json", *source).stdout)
    assert counted["formats"][FORMAT] + counted["unknown"] + counted["no_value"] == len(
        mixed_messages()
    )
    first = cli("decode", "-f", FORMAT, *source, "--limit", "3").stdout
    assert [line["offset"] for line in json_lines(first)] == [0, 1, 2]


def test_a_topic_that_is_not_there_is_one_sentence(cli: Cli, kafka: str) -> None:
    """The servers, the topic and the reason are named."""
    ended = cli("decode", "--kafka", kafka, "--subscribe", "nothing-here")
    assert ended.exit_code == 2
    assert f"{kafka}: topic nothing-here: " in " ".join(ended.stderr.split())


def client_option(option: str) -> list[str]:
    """Return the arguments of a command that reads a topic with an option of the client."""
    return ["--kafka", "h:1", "--subscribe", "t", "--option", option]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--subscribe", "t"], "--subscribe and --option need --kafka"),
        (["--kafka", "h:1"], "--kafka needs --subscribe TOPIC"),
        (["--kafka", "h:1", "--subscribe", "t", "--option", "x"], "expected NAME=VALUE"),
        (["--kafka", "h:1", "--subscribe", "t", "in.jsonl"], "give files or --kafka, not both"),
        (client_option("kafka.group.id="), "the option kafka.group.id is empty: give it a value"),
        (client_option("client.id=\udcff"), "'--option': expected UTF-8 without zero bytes"),
        (client_option("kafka.stats_cb=x"), "kafka.stats_cb takes a Python object, not text"),
        (client_option("kafka.nothing=x"), 'No such configuration property: "nothing"'),
        (client_option("kafka.isolation.level=hunter2"), '"[hidden]" for configuration'),
    ],
)
def test_wrong_inputs_are_wrong_usage(cli: Cli, arguments: list[str], text: str) -> None:
    """Options that do not go together end with a sentence and exit code 2."""
    ended = cli("decode", *arguments)
    assert (ended.exit_code, text in " ".join(ended.stderr.split())) == (2, True)


def test_topics_become_a_log_with_a_report(
    spark: SparkSession, cli: Cli, kafka: str, topic: str, tmp_path: Path
) -> None:
    """The log has what the topic has, each element once; the next run continues behind it."""
    assert spark is not None
    output = tmp_path / "out"
    command = ("stream", "-f", FORMAT, "--kafka", kafka, "--subscribe", topic, "-o", output)
    assert cli(*command).exit_code == 0
    report = json.loads((output / "report.json").read_text(encoding="utf-8"))
    assert {name: report[name] for name in MIXED_COUNTS} == MIXED_COUNTS
    assert report["input"] == [f"kafka://{kafka}/{topic}"]
    log = DeltaTable(str(output / "log")).to_pyarrow_table()
    is_dead = pc.equal(log["kind"], "dead_letter")
    assert sorted(log.filter(is_dead)["offset"].to_pylist()) == [7, 10, 11, 12]
    again = cli(*command, "--json")
    assert json.loads(again.stdout)["elements"] == 0
    assert (output / "checkpoint").is_dir()


def test_topics_of_messages_keep_them_as_they_are(
    spark: SparkSession, cli: Cli, kafka: str, topic: str, tmp_path: Path
) -> None:
    """With --as messages they have the columns of their variants, and their offsets."""
    assert spark is not None
    source = ("--kafka", kafka, "--subscribe", topic, "--as", "messages")
    assert cli("stream", "-f", FORMAT, *source, "-o", tmp_path).exit_code == 0
    log = DeltaTable(str(tmp_path / "log")).to_pyarrow_table()
    rows = log.filter(pc.equal(log["kind"], "message")).sort_by([("offset", "ascending")])
    sent = pa.table({"value": mixed_messages(), "offset": range(len(mixed_messages()))})
    expected = cwa.messages(sent, format=FORMAT).messages.read_all()
    columns = ["offset", "element", "variant"]
    assert rows.select(columns).to_pylist() == expected.select(columns).to_pylist()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--kafka", "h:1", "--option", "x"], "expected NAME=VALUE"),
        (["--kafka", "h:1", "--subscribe", "t", "--metrics", "-", "--json"], "both write to"),
        (["--kafka", "h", "--subscribe", "t"], "expected HOST:PORT"),
        (["--kafka", "h:1"], "name what to read by one of the options subscribe"),
    ],
)
def test_wrong_usage_is_told(
    spark: SparkSession, cli: Cli, arguments: list[str], text: str, tmp_path: Path
) -> None:
    """Options that do not go together end with a sentence and exit code 2."""
    assert spark is not None
    ended = cli("stream", "-f", FORMAT, *arguments, "-o", tmp_path / "out")
    assert ended.exit_code == 2
    assert text in " ".join(ended.stderr.replace("│", " ").split())


def test_a_broker_that_is_not_there_is_one_sentence(
    spark: SparkSession, cli: Cli, tmp_path: Path
) -> None:
    """No broker: one sentence with the address, exit code 2, and no output."""
    assert spark is not None
    server = f"{HOST}:{free_port()}"
    ended = cli(
        "stream", "-f", FORMAT, "--kafka", server, "--subscribe", "t", "-o", tmp_path / "out"
    )
    assert ended.exit_code == 2
    assert f"no Kafka broker answers: {server} (" in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()


def test_doctor_reaches_a_broker(cli: Cli, kafka: str) -> None:
    """The bootstrap server is reached, and the cluster names its brokers."""
    ended = cli("doctor", "--json", "--kafka", kafka)
    found = {item["name"]: item for item in map(json.loads, ended.stdout.splitlines())}
    assert found[f"bootstrap server {kafka}"]["status"] == "ok"
    assert (found["Kafka cluster"]["status"], found["Kafka cluster"]["found"]) == ("ok", "1 broker")
    assert ended.stderr == ""


def test_a_missing_connector_is_said_in_lines(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of several lines is shown as such, with the coordinates on a line to be copied."""

    def lack(*_: object, **__: object) -> None:
        raise JobError(no_connector(TESTED[0].pyspark))

    monkeypatch.setattr("changewire.jobs.topics.stream_topics", lack)
    command = ("stream", "-f", FORMAT, "--kafka", "h:1", "--subscribe", "t", "-o", "out")
    ended = cli(*command, "--packages", str(TESTED[0].kafka))
    assert f"  --packages {TESTED[0].kafka}" in ended.stderr.splitlines()
    assert "`changewire stream`" in ended.stderr
    assert "\\n" not in ended.stderr
    told = json_lines(cli(*command, "--packages", str(TESTED[0].kafka), "--json").stderr)[-1]
    assert told == {"notice": "error", "message": no_connector(TESTED[0].pyspark)}
