"""The jobs of streams do the same work, and what is measured of them is told."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks.cpu import cpu_seconds
from benchmarks.streams import local
from benchmarks.streams.cases import CASES, Case, Topic, fields_of, small
from benchmarks.streams.done import Done, Took
from benchmarks.streams.history import LATE, PARTITIONS, history, table_names, with_late
from benchmarks.streams.jobs import (
    FLAGGED,
    JOBS,
    JSON,
    LOCAL,
    LOG,
    LOG_BY_HAND,
    PLAIN,
    REMOVED,
    SAFE,
    TABLES_BY_HAND,
    Job,
)
from benchmarks.streams.ratios import ratio, table, taken
from benchmarks.streams.seeds import seed
from benchmarks.streams.topics import fill
from deltalake import DeltaTable
from msgspec.structs import replace

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


def test_late_messages_come_again_or_only_then() -> None:
    """Of ten messages one is late, by no more than was said; half of these come twice."""
    sent = [(0, b"", str(number).encode()) for number in range(20_000)]
    found = [int(value) for _, _, value in with_late(sent, 500)]
    counts = Counter(found)
    assert {*counts} == {*range(len(sent))}
    doubled = sum(number - 1 for number in counts.values())
    assert 0.9 < doubled / (LATE / 2 * len(sent)) < 1.1
    newest, behind = 0, list[int]()
    for number in found:
        newest = max(newest, number)
        behind.append(newest - number)
    late = sum(one > 0 for one in behind)
    assert 0.9 < late / (LATE * len(sent)) < 1.1
    assert 400 < max(behind) <= 500


@pytest.mark.long
def test_logs_are_equal(spark: SparkSession, kafka: str, topic: str, tmp_path: Path) -> None:
    """Each column that is made by hand holds what changewire gives; refused are the same."""
    assert topic == TOPIC
    ours, theirs = (read(spark, run(job(name, kafka, tmp_path)).log) for name in (LOG, LOG_BY_HAND))
    assert len(ours) == len(theirs) == MESSAGES
    made, by_hand = (by_kind(rows) for rows in (ours, theirs))
    assert {kind: rows.keys() for kind, rows in made.items()} == {
        kind: rows.keys() for kind, rows in by_hand.items()
    }
    names = set(theirs[0].asDict()) - {"value", "elements"}
    for place, row in by_hand["change"].items():
        for name in names:
            mine, their = made["change"][place][name], row[name]
            if name in {"key", "before", "after", "attributes"}:
                mine, their = as_values(mine), as_values(their)
            assert mine == their, name
    dead = by_hand["dead_letter"]
    assert dead
    assert all(made["dead_letter"][place]["value"] == row["value"] for place, row in dead.items())


def by_kind(rows: Iterable[Row]) -> dict[str, dict[tuple[int, int], Row]]:
    """Return the rows of a log by kind and place."""
    found: dict[str, dict[tuple[int, int], Row]] = {}
    for row in rows:
        found.setdefault(row["kind"], {})[row["partition"], row["offset"]] = row
    return found


def test_the_job_without_spark_merges_each_batch(kafka: str, topic: str, tmp_path: Path) -> None:
    """It reads the whole topic, and measures what a batch takes to land and to merge."""
    assert topic == TOPIC
    asked = replace(job(LOCAL, kafka, tmp_path), batch=MESSAGES // 2, is_warm=False)
    done = local.run(asked, is_reported=False)
    assert [batch.rows for batch in done.batches] == [MESSAGES // 2] * 2
    assert all(0 < batch.seconds < done.seconds and batch.cpu > 0 for batch in done.batches)
    assert DeltaTable(asked.log).to_pyarrow_table().num_rows == MESSAGES
    assert DeltaTable(asked.table).version() >= 2


@pytest.mark.long
def test_merged_tables_are_equal(
    spark: SparkSession, kafka: str, topic: str, tmp_path: Path
) -> None:
    """Every job comes to the same rows, typed or as JSON text, and to the same sequences."""
    assert topic == TOPIC
    tables = {
        name: living(read(spark, run(job(name, kafka, tmp_path)).table))
        for name in (PLAIN, SAFE, REMOVED, FLAGGED)
    }
    assert all(found == tables[PLAIN] for found in tables.values())
    assert 0 < len(tables[PLAIN]) < ROWS
    texts = [json.loads(row["row"]) for row in read(spark, run(job(JSON, kafka, tmp_path)).table)]
    assert {row["id"]: (row["name"], float(row["balance"])) for row in texts} == {
        key: row[:2] for key, row in tables[PLAIN].items()
    }


@pytest.mark.long
def test_tables_of_late_messages_are_equal(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """The careful job and ours come to the same rows, in batches of a quarter of the messages."""
    name = "late-streams-of-benchmarks"
    sent = history(MESSAGES, lambda draw: draw.randrange(ROWS))
    fill(kafka, name, with_late(sent, MESSAGES // 2))
    safe, *ours = (
        living(
            read(
                spark,
                run(Job(each, kafka, name, name, str(tmp_path / each), MESSAGES // 4)).table,
            )
        )
        for each in (SAFE, REMOVED, FLAGGED)
    )
    assert ours == [safe, safe]
    assert 0 < len(safe) < ROWS


def living(rows: Iterable[Row]) -> dict[int, tuple[Any, ...]]:
    """Return the rows that are not deleted, with the sequences of their changes."""
    return {
        row["id"]: (row["name"], row["balance"], row["created_at"], sequence(row))
        for row in rows
        if not is_deleted(row)
    }


def is_deleted(row: Row) -> bool:
    """Whether a row is kept as a deleted one."""
    found = row.asDict(recursive=True)
    return bool(found.get("deleted") or found.get("_changewire", {}).get("deleted"))


def sequence(row: Row) -> int:
    """Return the sequence of the newest change of a row, of either table."""
    found = row.asDict()
    return int(found["sequence"] if "sequence" in found else found["_changewire"]["major"])


@pytest.mark.long
def test_changes_are_merged_into_tables_that_are_there(
    spark: SparkSession, kafka: str, tmp_path: Path
) -> None:
    """Both come to the same table of seeds and changes; rows that nothing changed stay."""
    name = "there"
    fill(kafka, name, history(200, lambda random: random.randrange(150), are_there=True))
    tables = []
    for each in (REMOVED, PLAIN):
        mine = Job(each, kafka, name, name, str(tmp_path / each), 1000, 150)
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
def test_tables_of_one_batch_are_equal(
    spark: SparkSession, kafka: str, tmp_path: Path, format: str
) -> None:
    """All come to the same rows in each of several tables."""
    topic, count = f"tables-in-{format}", 3
    fill(kafka, topic, history(MESSAGES, lambda draw: draw.randrange(ROWS), tables=count))
    fields: dict[str, Any] = {"tables": count, "format": format}
    found = []
    for i, name in enumerate((TABLES_BY_HAND, REMOVED, FLAGGED)):
        folder = str(tmp_path / f"{format}{i}")
        mine = run(Job(name, kafka, topic, topic, folder, MESSAGES, **fields))
        places = [mine.place(table) for table in table_names(count)]
        if format == "iceberg":  # its catalog keeps a snapshot for a while
            for place in places:
                spark.catalog.refreshTable(place)
        frames = [spark.read.format(format).load(place) for place in places]
        found.append([living(frame.collect()) for frame in frames])
    assert found[1:] == [found[0], found[0]]
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


def test_cpu_time_is_that_of_the_program() -> None:
    """It grows while the program works."""
    before = cpu_seconds()
    assert sum(range(10**7))
    assert cpu_seconds() > before > 0


def test_each_job_is_measured() -> None:
    """No job is without a row of the table, and no row without a name of its own."""
    assert {name for case in CASES for name in (case.peer, *case.ours)} == {*JOBS, LOCAL}
    names = [case.name for case in CASES]
    assert len(names) == len({*names})


def test_a_small_case_does_little() -> None:
    """It has the same jobs, fewer messages, and a table of fewer rows."""
    for case in CASES:
        little = small(case)
        topic, fields = little.topic, fields_of(little)
        assert (little.name, little.peer, little.ours) == (case.name, case.peer, case.ours)
        assert topic.batches * topic.batch <= 600
        assert fields.get("seed", 0) == (topic.rows if "seed" in case.fields else 0)


def done(*seconds: float) -> Done:
    """Return what a job did, whose last batch is not full; CPU time is twice the time."""
    batches = [Took(9, one, 2 * one) for one in seconds]
    return Done(sum(seconds), 2 * sum(seconds), [*batches, Took(1, 99.0, 99.0)])


def test_batches_that_count_are_full_ones_after_a_third() -> None:
    """Or, where that is asked for, the first of each round."""
    rounds = [done(9, 1, 2), done(8, 3, 4)]
    assert [one.seconds for one in taken(rounds, is_first=False)] == [1, 2, 3, 4]
    assert [one.seconds for one in taken(rounds, is_first=True)] == [9, 8]


def test_a_ratio_is_of_medians() -> None:
    """Its spread is that of our batches, for rates from the slowest to the quickest."""
    assert str(ratio([2, 4, 9], [4, 5, 8], is_time=False)) == "0.80 (0.50-1.00)"
    assert str(ratio([2, 4, 9], [4, 5, 8], is_time=True)) == "1.25 (1.00-2.00)"


def test_the_table_says_what_is_reached() -> None:
    """A row has the figures of both jobs, and whether the ratio is enough, if it must be any."""
    topic = Topic("t", 3, 9, 9)
    rates = Case("a", "A", topic, PLAIN, {REMOVED: 0.6, FLAGGED: 0.4, JSON: None})
    times = Case("b", "B", topic, PLAIN, {REMOVED: 1.9, FLAGGED: 2.1}, "first", is_time=True)
    found = {PLAIN: [done(3, 1, 1)], **{name: [done(6, 2, 2)] for name in (REMOVED, FLAGGED, JSON)}}
    result = table([(rates, found), (times, found)])
    half, twice = "0.50 (0.50-0.50)", "2.00 (2.00-2.00)"
    assert result.rows[0] == (
        *("A", REMOVED, PLAIN, "2.00 / 4.00", half, "1.00 / 2.00", half),
        "at least 0.6 by CPU time: missed",
    )
    assert [row[-1] for row in result.rows[1:]] == [
        "at least 0.4 by CPU time: reached",
        "",
        "at most 1.9 by time (times): missed",
        "at most 2.1 by time (times): reached",
    ]
    assert result.rows[3][4:7] == (twice, "3.00 / 6.00", twice)
    assert result.data["jobs"]["A"][PLAIN][0]["batches"][0] == [9, 3, 6]
