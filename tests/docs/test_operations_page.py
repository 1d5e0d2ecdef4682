"""The code of the pages on operating a stream runs, and their commands and errors exist."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from tests.chaos.plan import Job
from tests.cluster.machines import Cluster, master, worker
from tests.cluster.recipe import ARCHIVE, SERVER, SUBMIT, commands, job
from tests.cluster.store import settings_of
from tests.cluster.submit import submission
from tests.docs.pages import ROOT, all_blocks, blocks, in_sections
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message
from tests.samples import examples
from tests.support.topics import create, produce

import changewire.spark as cws
from changewire.framing import Position, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEPLOYMENT = "docs/operate/deployment.md"
MONITORING = "docs/operate/monitoring.md"
SIZING = "docs/operate/sizing.md"
TROUBLESHOOTING = "docs/operate/troubleshooting.md"
BACKFILL = "docs/guides/rebuild.md"
REPAIRS = ("Verify and rebuild", "Backfill from files", "A reloaded source")
UTC = timezone.utc


def text(page: str) -> str:
    """Return the text of a page."""
    return ROOT.joinpath(page).read_text(encoding="utf-8")


FAILURES = (
    *cws.StreamError.__subclasses__(),
    cws.KafkaSourceError,
    cws.KafkaOptionsError,
    cws.ConservationError,
)
CODE = "".join(
    path.read_text(encoding="utf-8")
    for path in sorted(ROOT.joinpath("runtime", "changewire").rglob("*.py"))
)


@pytest.mark.usefixtures("spark")
def test_the_job_of_the_page_runs(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script applies the topic, and who waits for it hears of its batch."""
    create(kafka, tmp_path.name)
    values = [json.dumps(message).encode() for message in examples("write")[1:3]]
    position = Position(topic=tmp_path.name, partition=0)
    produce(kafka, [Record(None, value, position) for value in values])
    monkeypatch.setattr("sys.argv", ["job.py", str(tmp_path), kafka, tmp_path.name, "1000"])
    names: dict[str, Any] = {}
    (waiting,) = (code for code in blocks(MONITORING) if "heard" in code)
    start, end, _ = job().rpartition("cws.await_termination(query, progress=print)\n")
    assert end  # only one of the two can wait for the query
    for block in (start, waiting):
        exec(block, names)  # noqa: S102 - our own text
    assert [batch.changes for batch in names["heard"]] == [len(values)]
    assert names["signal"] is None
    kinds = DeltaTable(f"{tmp_path}/log").to_pyarrow_table()["kind"].to_pylist()
    assert len([kind for kind in kinds if kind != "refused"]) == len(values)
    sets = {json.loads(value)["key"][1] for value in values}
    tables = {path.name for path in tmp_path.joinpath("tables").iterdir()}
    assert tables == sets - {None} == {"demo"}, "a change of a record without a set is refused"


def test_tables_are_verified_and_made_anew(spark: SparkSession, tmp_path: Path) -> None:
    """The blocks find a faultless table, make it anew, add files, and repair it after a reload."""
    day, loaded_at = (datetime(2026, 6, 30, tzinfo=UTC), datetime(2026, 7, 1, 3, tzinfo=UTC))
    old = message("INSERT", 5, {"id": 1, "name": "old"}, database="shop", table="users")
    loaded = [
        message("INSERT", -1, {"id": number, "name": "new"}, database="shop", table="users")
        for number in (1, 2)
    ]
    records = [(old, day), *((value, loaded_at) for value in loaded)]
    columns = {
        "value": pa.array([value for value, _ in records], pa.binary()),
        "topic": pa.array(["topic"] * len(records)),
        "partition": pa.array([0] * len(records), pa.int32()),
        "offset": pa.array(range(len(records)), pa.int64()),
        "timestamp": pa.array([time for _, time in records], pa.timestamp("us", tz="UTC")),
    }
    tmp_path.joinpath("messages").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "messages" / "0.parquet")
    Lake(tmp_path).apply_messages(spark, format="dataworks-json")
    earlier = message("INSERT", 4, {"id": 3, "name": "older"}, database="shop", table="users")
    tmp_path.joinpath("earlier.jsonl").write_bytes(earlier)
    names: dict[str, Any] = {"cws": cws, "spark": spark, "lake": str(tmp_path)}
    names["files"] = str(tmp_path / "earlier.jsonl")
    made = DeltaTable(f"{tmp_path}/tables/users").to_pyarrow_table()
    assert {json.loads(row)["name"] for row in made["row"].to_pylist()} == {"old", "new"}
    for block in in_sections(BACKFILL, *REPAIRS):
        if block.reason is None:
            exec(block.code, names)  # noqa: S102 - our own text
    assert names["written"].counts.changes == 1
    rows = DeltaTable(f"{tmp_path}/tables/users").to_pyarrow_table().to_pylist()
    assert {row["id"]: row["name"] for row in rows} == {1: "new", 2: "new"}
    assert len(rows) == 2


def test_the_recipe_of_the_page_is_what_the_cluster_runs(tmp_path: Path) -> None:
    """`nox -s cluster` finds each command on the page, and puts its own places into all of them."""
    address = "spark://127.0.0.1:17077"
    tmp_path.joinpath("driver").mkdir()
    ours = Cluster(tmp_path, tmp_path, address, "")
    plan = Job("/lake", "127.0.0.1:19092", "topic", "delta", 5)
    ran = [
        commands(ARCHIVE, {"python3": "python", '"./changewire[arrow]"': "changewire.whl"}),
        master(17077, 18080),
        worker(address, tmp_path, 1),
        submission(ours, plan, connect=True),
        submission(ours, plan),
    ]
    assert [command for command in ran if re.search(r"HOST|:7077|/shared|/scratch", command)] == []
    assert ran[-1].rstrip().endswith("job.py /lake 127.0.0.1:19092 topic 5")
    assert tmp_path.joinpath("driver", "job.py").read_text(encoding="utf-8") == job()


def settings(command: str) -> set[str]:
    """Return the names of the settings that a command gives to Spark."""
    return set(re.findall(r"--conf ([\w.]+)=", command))


def test_settings_that_the_session_adds_are_named(tmp_path: Path) -> None:
    """`nox -s cluster` submits with the page's settings, and those that a sentence names."""
    tmp_path.joinpath("driver").mkdir()
    ours = Cluster(tmp_path, tmp_path, "spark://127.0.0.1:17077", "")
    plan = Job("/lake", "127.0.0.1:19092", "topic", "delta", 5)
    added: set[str] = set()
    for block, connect in ((SUBMIT, False), (SERVER, True)):
        submitted = settings(submission(ours, plan, connect=connect))
        added |= submitted - settings(commands(block, {}))
    sentence = (
        text(DEPLOYMENT)
        .partition("To the commands that submit a job it adds")[2]
        .partition("\n\n")[0]
    )
    assert added == set(re.findall(r"`(spark\.[\w.]+)", sentence))


def test_settings_of_a_store_are_those_of_the_page() -> None:
    """`nox -s cluster -- --store s3` takes the page's settings, and those that a sentence names."""
    (block,) = (
        one.code for one in all_blocks(DEPLOYMENT) if "checkpointFileManagerClass" in one.code
    )
    given = dict(re.findall(r"--conf ([\w.]+)=(\S+)", block))
    sentence = text(DEPLOYMENT).partition("To the settings above it adds")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(spark\.[\w.]+)`", sentence))
    used = settings_of(given["spark.hadoop.fs.s3a.endpoint"])
    assert {name: value for name, value in used.items() if name not in named} == given
    assert named <= {*used}


def numbers(row: str) -> list[float]:
    """Return the numbers of the row of a table that begins with a text."""
    (line,) = (line for line in text(SIZING).splitlines() if line.startswith(f"| {row} |"))
    cells = line.split("|")[2:-1]
    return [float(re.sub(r"[^\d.]", "", cell)) for cell in cells]


@pytest.mark.parametrize(
    ("row", "copied"),
    [
        ("cores, if a batch copies no row", 0),
        ("cores, if it copies 1 billion rows", 1e9),
        ("cores, if it copies 10 billion rows", 1e10),
    ],
)
def test_examples_of_sizing_follow_the_formula(row: str, copied: float) -> None:
    """The cores of the examples are what the formula says with the constants of the page."""
    cost, fixed, partition, copying = 0.14e-3, 9, 0.06, 6e-6
    for constant in ("| 0.14 ms of a core", "| 9 s for", "and 0.06 s for", "| 6 µs of a core"):
        assert constant in text(SIZING)
    rates, lengths = numbers("messages a second"), numbers("length of a batch, s")
    for rate, length, cores in zip(rates, lengths, numbers(row), strict=True):
        needed = rate * cost + copied * copying / length
        assert cores == ceil(needed / (1 - (fixed + partition) / length))


def test_the_example_in_money_follows_its_prices() -> None:
    """Compute and storage of a month are the products of the page's own numbers."""
    hour, gigabyte, hours, days = 0.05, 0.023, 720, 7
    for price in (f"{hour} USD for a core hour", f"{gigabyte} USD for a GB", f"{hours} hours"):
        assert price in text(SIZING)
    cores = numbers("cores, batches of 60 s that copy no row")
    assert cores == numbers("cores, if a batch copies no row")[::2]
    assert numbers("compute, USD a month") == [round(n * hours * hour) for n in cores]
    log = numbers(f"log of {days} days at 0.5 KB a message, GB")
    assert log == [rate * 60 * 24 * days * 0.5e-6 for rate in (1e6, 100e6)]
    bills = numbers("storage of this log, USD a month")
    assert bills == [round(size * gigabyte) for size in log]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: error.__name__)
def test_every_error_of_a_stream_is_explained(error: type[Exception]) -> None:
    """What stops a query has a row in the table, with what to do."""
    assert re.search(
        rf"^\| .*\| `{error.__name__}`[^|]* \| .+ \|$", text(TROUBLESHOOTING), re.MULTILINE
    )


def test_texts_of_errors_are_those_of_the_code() -> None:
    """What the page quotes of a sentence stands in the code that says it."""
    table = (
        text(TROUBLESHOOTING).partition("| the text begins or ends with")[2].partition("\n\n")[0]
    )
    quoted = [
        part.strip()
        for row in table.splitlines()[2:]
        for quote in re.findall("`([^`]+)`", row.split("|")[1])
        for part in re.split(r"\.\.\.|\b[NM6]\b", quote)
        if len(part.strip(" :")) > len("batch")
    ]
    assert len(quoted) > 15
    joined = re.sub(r'"\s+f?"', "", CODE)
    assert [part for part in quoted if part not in joined] == []
