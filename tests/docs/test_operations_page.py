"""The code of docs/operations.md runs, and its command is one that the program has."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from tests.chaos.plan import Job
from tests.cluster.machines import Cluster, master, worker
from tests.cluster.recipe import ARCHIVE, commands, job
from tests.cluster.submit import submission
from tests.docs.pages import ROOT, blocks
from tests.samples import examples
from tests.support.topics import create, produce

from changewire.cli.app import app
from changewire.engines.counts import ConservationError
from changewire.engines.errors import StreamError
from changewire.engines.spark.kafka.errors import KafkaOptionsError, KafkaSourceError
from changewire.engines.spark.stream.letters import CONNECT, OURS
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/operations.md"
TEXT = ROOT.joinpath(PAGE).read_text(encoding="utf-8")
FAILURES = (*StreamError.__subclasses__(), KafkaSourceError, KafkaOptionsError)
CODE = "".join(
    path.read_text(encoding="utf-8")
    for path in sorted(ROOT.joinpath("runtime", "changewire").rglob("*.py"))
)


def test_the_job_of_the_page_runs(
    spark: SparkSession, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script applies the topic, and who waits for it hears of its batch."""
    create(kafka, tmp_path.name)
    values = [json.dumps(message).encode() for message in examples("write")]
    position = Position(topic=tmp_path.name, partition=0)
    produce(kafka, [Record(None, value, position) for value in values])
    monkeypatch.setattr("sys.argv", ["job.py", str(tmp_path), kafka, tmp_path.name, "1000"])
    names: dict[str, Any] = {}
    waiting, _ = blocks(PAGE)
    start, end, _ = job().rpartition("cws.await_end(query, progress=print)\n")
    assert end  # only one of the two can wait for the query
    for block in (start, waiting):
        exec(block, names)  # noqa: S102 - our own text
    assert [batch.changes for batch in names["heard"]] == [len(values)]
    assert names["signal"] is None
    log = {
        name: spark.read.format("delta").load(f"{tmp_path}/log/{name}").collect()
        for name in ("changes", "dead_letters")
    }
    assert len(log["changes"]) + len(log["dead_letters"]) == len(values)
    sets = {json.loads(value)["key"][1] for value in values}
    tables = {path.name for path in tmp_path.joinpath("tables").iterdir()}
    assert tables & sets == sets - {None}, "a change of a record without a set is a dead letter"


def test_the_recipe_of_the_page_is_what_the_cluster_runs(tmp_path: Path) -> None:
    """`nox -s cluster` finds each command on the page, and puts its own places into all of them."""
    address = "spark://127.0.0.1:17077"
    tmp_path.joinpath("driver").mkdir()
    ours = Cluster(tmp_path, tmp_path, address, "")
    plan = Job("/lake", "127.0.0.1:19092", "topic", "delta", 5)
    ran = [
        commands(ARCHIVE, {"python3": "python", '"changewire[arrow]"': "changewire.whl"}),
        master(17077, 18080),
        worker(address, tmp_path, 1),
        submission(ours, plan, connect=True),
        submission(ours, plan),
    ]
    assert [command for command in ran if re.search(r"HOST|:7077|/shared|/scratch", command)] == []
    assert ran[-1].rstrip().endswith("job.py /lake 127.0.0.1:19092 topic 5")
    assert tmp_path.joinpath("driver", "job.py").read_text(encoding="utf-8") == job()


def test_the_command_of_the_page_is_known() -> None:
    """All options of the command, and of the table below it, are those of the program."""
    (command,) = blocks(PAGE, "sh")
    group: Any = typer.main.get_command(app)
    known = {
        option for parameter in group.get_command(None, "run").params for option in parameter.opts
    }
    words = shlex.split(command.replace("\\\n", ""))
    named = re.findall(r"^\| `(--[a-z-]+)", TEXT, re.MULTILINE)
    assert {word for word in [*words, *named] if word.startswith("--")} <= known
    assert len(named) == 7


def test_headers_of_the_page_are_those_that_are_sent() -> None:
    """The prefixes of the headers are those of the code."""
    assert f"`{CONNECT}topic`" in TEXT
    assert f"`{OURS}element`" in TEXT


@pytest.mark.parametrize("error", [*FAILURES, ConservationError], ids=lambda error: error.__name__)
def test_every_error_of_a_stream_is_explained(error: type[Exception]) -> None:
    """What stops a query has a row in the table, with what to do."""
    assert re.search(rf"^\| .*\| `{error.__name__}`[^|]* \| .+ \|$", TEXT, re.MULTILINE)


def test_texts_of_errors_are_those_of_the_code() -> None:
    """What the page quotes of a sentence stands in the code that says it."""
    table = TEXT.partition("| the text begins or ends with")[2].partition("\n\n")[0]
    quoted = [
        part.strip()
        for row in table.splitlines()[2:]
        for text in re.findall("`([^`]+)`", row.split("|")[1])
        for part in re.split(r"\.\.\.|\b[NM6]\b", text)
        if len(part.strip(" :")) > len("batch")
    ]
    assert len(quoted) > 15
    joined = re.sub(r'"\s+f?"', "", CODE)
    assert [part for part in quoted if part not in joined] == []
