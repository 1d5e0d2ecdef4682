"""Whether outputs and tables of a chaos run hold each effect once, and end as the model says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec
from tests.chaos.plan import Job
from tests.runtime.engines.version_rows import versions_in
from tests.runtime.tables.model import Version, tables_of, versions_of

import changewire as cw
from changewire.framing import Record
from changewire.tables import PositionedChange, position_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Element = tuple[int, int]
"""Partition and offset of a message, which is one element."""


class Outcome(msgspec.Struct):
    """What a chaos run left.

    Attributes:
        rows: Elements in change log and dead letters.
        lost: Elements that are in neither, or in the wrong one.
        double: Elements that are there more than once.
        wrong_rows: Rows of tables that differ from the model, or are missing, or too many.
        wrong_histories: Rows of which the versions differ from the model.
    """

    rows: int = 0
    lost: int = 0
    double: int = 0
    wrong_rows: int = 0
    wrong_histories: int = 0


def outcome(spark: SparkSession, sent: Mapping[Job, Iterable[Record]]) -> Outcome:
    """Compare what is there with what was sent.

    Args:
        spark: The session.
        sent: The messages of each query; all queries write to the same tables.
    """
    found, every = Outcome(), list[PositionedChange]()
    for job, records in sent.items():
        changes, refused = expected(records)
        logged = {place for place, _ in changes}
        _count(found, spark, job, {"changes": logged, "dead_letters": refused})
        every += [placed for _, placed in changes]
    first = next(iter(sent))
    found.wrong_rows = _wrong(spark, first, every)
    found.wrong_histories = _wrong_histories(spark, first, every) if first.histories else 0
    return found


def _count(
    found: Outcome, spark: SparkSession, job: Job, wanted: Mapping[str, set[Element]]
) -> None:
    """Count the rows of the outputs of a query, and which of them are missing or double."""
    for name, places in wanted.items():
        there = Counter(
            (row["partition"], row["offset"])
            for row in _rows(spark, job, job.outputs[name]).collect()
        )
        found.rows += there.total()
        found.double += there.total() - len(there)
        found.lost += len(places ^ there.keys())


def expected(sent: Iterable[Record]) -> tuple[list[tuple[Element, PositionedChange]], set[Element]]:
    """Return the changes that messages mean, and the places of those that are none."""
    changes: list[tuple[Element, PositionedChange]] = []
    refused: set[Element] = set()
    for record in sent:
        at = record.position
        place = (at.partition or 0, at.offset or 0)
        try:
            (change,) = cw.changes(cw.decode(record.value or b"", format="aerospike-json"))
        except cw.DecodeError:
            refused.add(place)
        else:
            changes.append((place, PositionedChange(change, position_of(at, 0))))
    return changes, refused


def _wrong(spark: SparkSession, job: Job, changes: list[PositionedChange]) -> int:
    wrong = 0
    for table, rows in tables_of(changes).items():
        wanted = {msgspec.json.encode(dict(key)): row for key, row in rows.items()}
        found = {
            row["key"].encode(): msgspec.json.decode(row["row"])
            for row in _rows(spark, job, job.target.format(table=table)).collect()
        }
        texts = {key: msgspec.json.decode(msgspec.json.encode(row)) for key, row in wanted.items()}
        wrong += sum(found.get(key) != texts.get(key) for key in found.keys() | texts.keys())
    return wrong


def _wrong_histories(spark: SparkSession, job: Job, changes: list[PositionedChange]) -> int:
    wrong = 0
    for table in tables_of(changes):
        rows = _rows(spark, job, f"{job.target.format(table=table)}__history")
        found = versions_in(rows.toArrow().to_pylist(maps_as_pydicts="strict"))
        wanted = {
            msgspec.json.encode(dict(key)): versions
            for key, versions in versions_of(changes, table).items()
        }
        texts = {msgspec.json.encode(dict(key)): versions for key, versions in found.items()}
        wrong += sum(
            _as_json(wanted.get(key)) != _as_json(texts.get(key))
            for key in wanted.keys() | texts.keys()
        )
    return wrong


def _rows(spark: SparkSession, job: Job, place: str) -> DataFrame:
    return spark.read.format(job.sink).load(place)


def _as_json(versions: list[Version] | None) -> bytes:
    return msgspec.json.encode(versions, order="deterministic")
