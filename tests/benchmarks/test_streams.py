"""The jobs of streams do the same work, and what is measured of them is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.streams import __main__ as program
from benchmarks.streams.batches import FIRST, seconds
from benchmarks.streams.history import PARTITIONS, history, table_names
from benchmarks.streams.job import Done
from benchmarks.streams.jobs import (
    BOTH_BY_HAND,
    JOBS,
    JSON,
    LOG,
    LOG_BY_HAND,
    MERGE_BY_HAND,
    SAFE_BY_HAND,
    TABLES,
    TABLES_BY_HAND,
    TYPED,
    Job,
)
from benchmarks.streams.rates import memory, rates
from benchmarks.streams.seeds import seed
from benchmarks.streams.sizes import merges
from benchmarks.streams.topics import fill
from benchmarks.streams.watching import Sample, cpu_seconds, tenths, watched
from benchmarks.tables import Result

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

MESSAGES, ROWS = 400, 40
TOPIC = "streams-of-benchmarks"


@pytest.fixture(scope="module")
def topic(kafka: str) -> str:
    """A topic of a small history, that ends with a message which cannot be read."""
    sent = history(MESSAGES - 1, lambda random: random.randrange(ROWS))
    fill(kafka, TOPIC, [*sent, (0, b"", b"{")])
    return TOPIC


def run(job: Job) -> Job:
    """Run a job to its end."""
    JOBS[job.name](job).awaitTermination()
    return job


def job(name: str, server: str, folder: Path, **fields: Any) -> Job:
    """Return a job of one batch."""
    return Job(name, server, TOPIC, TOPIC, str(folder / name), MESSAGES, **fields)


def read(spark: SparkSession, table: str) -> list[Row]:
    """Return the rows of a Delta table."""
    return spark.read.format("delta").load(table).collect()


def as_values(text: str | None) -> Any:
    """Return JSON without what is null, and without leniencies, which only ours counts."""
    return text and {
        k: v for k, v in json.loads(text).items() if v is not None and k != "leniencies"
    }


def test_a_history_has_deletes_doubles_and_broken_messages() -> None:
    """Messages have about 0.5 KB; a double stands behind its message in its partition."""
    sent = list(history(20_000, lambda random: random.randrange(4000)))
    size = sum(len(value) for _, _, value in sent) / len(sent)
    assert 500 < size < 600
    ops = Counter(value.split(b'"op":"')[-1].split(b'"')[0] for _, _, value in sent)
    assert 0.07 < ops[b"DELETE"] / len(sent) < 0.13
    assert 5 < sum(value.endswith(b"[") for _, _, value in sent) < 60
    last: dict[int, bytes] = {}
    doubles, seen = 0, set[bytes]()
    for partition, _, value in sent:
        if b"sequenceId" not in value:
            continue
        if value in seen:
            assert last[partition] == value
            doubles += 1
        seen.add(value)
        last[partition] = value
    assert 0.08 < doubles / len(sent) < 0.12
    assert last.keys() == set(range(PARTITIONS))


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_change_logs_are_equal(spark: SparkSession, kafka: str, topic: str, tmp_path: Path) -> None:
    """Each column that is made by hand holds what changewire gives; refused are the same."""
    assert topic == TOPIC
    ours, theirs = (run(job(name, kafka, tmp_path)) for name in (LOG, LOG_BY_HAND))
    made = {(row["partition"], row["offset"]): row for row in read(spark, ours.log)}
    refused = read(spark, ours.outputs["dead_letters"])
    by_hand = read(spark, theirs.log)
    assert len(by_hand) == MESSAGES == len(made) + len(refused)
    found = {(r["partition"], r["offset"]): r for r in by_hand if r["kind"] == "change"}
    assert found.keys() == made.keys()
    names = set(by_hand[0].asDict()) - {"kind", "value", "elements"}
    for place, row in found.items():
        for name in names:
            mine, their = made[place][name], row[name]
            if name in {"key", "before", "after", "attributes"}:
                mine, their = as_values(mine), as_values(their)
            assert mine == their, name
    letters = {(r["partition"], r["offset"], bytes(r["value"])) for r in refused}
    dead = [r for r in by_hand if r["kind"] == "dead_letter"]
    assert {(r["partition"], r["offset"], bytes(r["value"])) for r in dead} == letters
    assert letters


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_merged_tables_are_equal(
    spark: SparkSession, kafka: str, topic: str, tmp_path: Path
) -> None:
    """Every job comes to the same rows, typed or as JSON text, and to the same sequences."""
    assert topic == TOPIC
    tables = {}
    for name in (TYPED, MERGE_BY_HAND, BOTH_BY_HAND, SAFE_BY_HAND):
        rows = read(spark, run(job(name, kafka, tmp_path)).table)
        if name == SAFE_BY_HAND:
            assert any(row["deleted"] for row in rows)
            rows = [row for row in rows if not row["deleted"]]
        tables[name] = {
            row["id"]: (row["name"], row["balance"], row["created_at"], sequence(row))
            for row in rows
        }
    assert tables[TYPED] == tables[MERGE_BY_HAND] == tables[BOTH_BY_HAND]
    assert tables[TYPED] == tables[SAFE_BY_HAND]
    assert 0 < len(tables[TYPED]) < ROWS
    texts = [json.loads(row["row"]) for row in read(spark, run(job(JSON, kafka, tmp_path)).table)]
    assert {row["id"]: (row["name"], float(row["balance"])) for row in texts} == {
        key: row[:2] for key, row in tables[TYPED].items()
    }


def sequence(row: Row) -> int:
    """Return the sequence of the newest change of a row, of either table."""
    found = row.asDict()
    return int(found["sequence"] if "sequence" in found else found["_changewire"]["sequence"][0])


@pytest.mark.long
@pytest.mark.usefixtures("interpreted")
def test_changes_are_merged_into_tables_that_are_there(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    """Both come to the same table of seeds and changes; rows that nothing changed stay."""
    name, layout = "there", "clustered, deletion vectors"
    fill(kafka, name, history(200, lambda random: random.randrange(150), are_there=True))
    tables = []
    for each in (TYPED, BOTH_BY_HAND):
        mine = Job(each, kafka, name, name, str(tmp_path / each), 1000, 150, layout)
        run(Job(each, kafka, name, name, str(tmp_path / each / "warm_up"), 1000))
        seed(spark, mine)
        assert spark.read.format("delta").load(mine.table).count() == 150
        rows = read(spark, run(mine).table)
        tables.append({row["id"]: (row["name"], row["balance"], sequence(row)) for row in rows})
    assert tables[0] == tables[1]
    kept = [found for found in tables[0].values() if found[-1] == 0]
    assert 0 < len(kept) < len(tables[0]) < 150


@pytest.mark.long
@pytest.mark.parametrize("format", ["delta", "iceberg"])
@pytest.mark.usefixtures("interpreted")
def test_tables_of_one_batch_are_equal(
    spark: SparkSession, kafka: str, tmp_path: Path, format: str
) -> None:
    """Both come to the same rows in each of several tables."""
    topic, count = f"tables-in-{format}", 3
    fill(kafka, topic, history(MESSAGES, lambda draw: draw.randrange(ROWS), tables=count))
    fields: dict[str, Any] = {"tables": count, "format": format}
    found = []
    for i, name in enumerate((TABLES, TABLES_BY_HAND)):
        folder = str(tmp_path / f"{format}{i}")
        mine = run(Job(name, kafka, topic, topic, folder, MESSAGES, **fields))
        frames = [spark.read.format(format).load(mine.place(table)) for table in table_names(count)]
        found.append(
            [
                {row["id"]: (row["name"], row["balance"], sequence(row)) for row in frame.collect()}
                for frame in frames
            ]
        )
    assert found[0] == found[1]
    assert all(0 < len(table) < ROWS for table in found[0])


def test_a_history_may_be_of_several_tables() -> None:
    """Each table has some of the rows, and a row is of one table."""
    sent = history(2000, lambda draw: draw.randrange(100), tables=3)
    tables: dict[bytes, set[bytes]] = {}
    for _, key, value in sent:
        if key:
            tables.setdefault(key, set()).update(re.findall(rb'tableName\\?":\\?"(\w+)', value))
    assert all(len(names) == 1 for names in tables.values())
    assert {name.decode() for names in tables.values() for name in names} == {*table_names(3)}


def test_memory_is_sampled() -> None:
    """There is a sample at once, and at each tenth of the time the one that is nearest."""
    with watched() as samples:
        pass
    assert samples[0].driver > 2**20
    assert cpu_seconds() > 0
    many = [Sample(float(second), second, 0, 0) for second in range(101)]
    assert [sample.driver for sample in tenths(many)] == list(range(10, 101, 10))


def done(seconds: float, cpu: float = 1.0) -> Done:
    """Return what a job did."""
    samples = [Sample(float(i), (100 + i) * 2**20, 0, 200 * 2**20) for i in range(11)]
    times = (9000, 300 * seconds, 100 * seconds)
    batches = [{"rows": 9, "triggerExecution": round(ms)} for ms in times]
    return Done(seconds, cpu, [*batches, {"rows": 1, "triggerExecution": 9000}], samples)


def test_a_rate_is_that_of_the_peer() -> None:
    """The table shows rates, of full batches after the first half, and whether ours is enough.

    Memory shows by how much it grew.
    """
    found = {"by hand": [done(9.0)], "changewire": [done(10.0, 2.0)]}
    result = rates("T", found, 90, "changewire", 0.9)
    warm = ("2.00 (1.00-3.00)", "0.90")
    assert result.rows[1] == ("changewire", *warm, "10.0", "0.90", "2.0", "0.50")
    assert result.target.endswith("Found 0.90: reached.")
    assert rates("T", found, 90, "changewire", 0.95).target.endswith("Found 0.90: missed.")
    told = memory("T", found, "changewire")
    assert told.rows[0] == ("10 %", "101 / 0 / 200", "101 / 0 / 200")
    assert "grew by 8 MB and its workers by 0 MB" in told.target


def test_merges_are_told_by_table() -> None:
    """A row has the times of both, and ours to theirs."""
    result = merges("T", {"9 rows, plain": {BOTH_BY_HAND: [done(2.0)], TYPED: [done(4.0)]}})
    times = ("0.40 (0.20-0.60)", "0.80 (0.40-1.20)")
    assert result.rows == [("9 rows, plain", *times, "0.50", "0.50", "1.00")]
    assert result.data["seconds"] == {
        f"9 rows, plain, {BOTH_BY_HAND}": [2.0],
        f"9 rows, plain, {TYPED}": [4.0],
    }


def test_the_time_of_a_batch_is_that_of_the_last_ones() -> None:
    """The first third warms up, unless the first batch is what is asked for."""
    theirs = Done(9.0, 6.0, [{"triggerExecution": ms} for ms in (9000, 2000, 1000)], [])
    mine = Done(9.0, 9.0, [{"triggerExecution": ms} for ms in (12000, 3000, 3000)], [])
    jobs = {TABLES_BY_HAND: [theirs], TABLES: [mine]}
    result = seconds({"small": (1.2, jobs), FIRST: (1.4, jobs)})
    small, first = result.rows
    assert small[1:5] == ("1.50 (1.00-2.00)", "3.00 (3.00-3.00)", "2.00", "1.2: missed")
    assert first[1:5] == ("9.00 (9.00-9.00)", "12.00 (12.00-12.00)", "1.33", "1.4: reached")
    assert small[-1] == "2.00 / 3.00"


def test_parts_are_kept_beside_each_other(tmp_path: Path) -> None:
    """A part that runs again replaces its own tables, and no others."""
    for part, title in (("log", "A"), ("tables", "B"), ("log", "C")):
        program.keep(tmp_path, part, [Result(title, ("",), (), "", {})], 0.5)
    found = json.loads((tmp_path / "stream.json").read_bytes())
    assert [result["title"] for result in found["results"]] == ["C", "B"]
    assert "### C" in (tmp_path / "stream-log.md").read_text(encoding="utf-8")


def test_memory_is_kept(tmp_path: Path) -> None:
    """Its figures are seconds and bytes at each tenth of the time."""
    found = {"by hand": [done(9.0)], "changewire": [done(10.0)]}
    program.keep(tmp_path, "log", [memory("M", found, "changewire")], 0.5)
    (result,) = json.loads((tmp_path / "stream.json").read_bytes())["results"]
    assert result["memory"]["changewire"][0] == [1.0, 101 * 2**20, 0, 200 * 2**20]
    assert len(result["memory"]["by hand"]) == len(range(10))
