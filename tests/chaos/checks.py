"""Whether log and tables of a chaos run hold each effect once, and end as the model says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from tests.chaos.messages import COLLIDING
from tests.chaos.plan import Job
from tests.runtime.tables.model import tables_of

import changewire as cw
import changewire.spark as cws
from changewire.framing import Record
from changewire.tables import PositionedChange, position_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LANDED = ("change", "control", "dead_letter")


class Element(NamedTuple):
    """An element, and what became of it."""

    partition: int
    offset: int
    element: int
    kind: str


class Outcome(msgspec.Struct):
    """What a chaos run left.

    Attributes:
        elements: Elements of the messages.
        lost: Elements that the log lacks, or has as something else; or refused changes without a
            row that says so.
        double: Rows of the log that are there once more, or that no message means.
        refused: Changes that no table took, as it should be.
        wrong: Rows of tables that differ from the model, or are missing, or too many.
        unlike_the_log: Rows that `changewire.spark.verify` names.
    """

    elements: int = 0
    lost: int = 0
    double: int = 0
    refused: int = 0
    wrong: int = 0
    unlike_the_log: int = 0

    @property
    def is_bad(self) -> bool:
        """Whether anything is not as it should be."""
        return bool(self.lost or self.double or self.wrong or self.unlike_the_log)


class Expected(NamedTuple):
    """What messages mean.

    Attributes:
        elements: Their elements.
        refused: Those that no table takes.
        changes: Changes of tables.
    """

    elements: set[Element]
    refused: set[Element]
    changes: list[PositionedChange]


def outcome(spark: SparkSession, job: Job, sent: Iterable[Record]) -> Outcome:
    """Compare what is there with what was sent.

    Args:
        spark: The session.
        job: The query.
        sent: Its messages, of one element each.
    """
    expected = expected_of(sent)
    columns = [*Element._fields, "attempt"]
    rows = _rows(spark, job, job.log).select(*columns).collect()
    there = Counter(
        Element(*row[:-1]) for row in rows if row["kind"] in _LANDED and row["attempt"] == 0
    )
    refused = {Element(*row[:-1]) for row in rows if row["kind"] == "refused"}
    faults = cws.verify(
        spark,
        job.log,
        target=job.target,
        table_format=job.table_format,
        deletes=job.deletes,
    )
    return Outcome(
        elements=len(expected.elements),
        lost=len(expected.elements - there.keys()) + len(expected.refused - refused),
        double=there.total()
        - len(expected.elements & there.keys())
        + len(refused - expected.refused),
        refused=len(expected.refused & refused),
        wrong=_wrong(spark, job, expected.changes),
        unlike_the_log=faults.count(),
    )


def expected_of(sent: Iterable[Record]) -> Expected:
    """Return what messages mean."""
    found = Expected(set(), set(), [])
    for record in sent:
        at = record.position
        place = (at.partition or 0, at.offset or 0, 0)
        try:
            (change,) = cw.changes(cw.decode(record.value or b""))
        except cw.DecodeError:
            found.elements.add(Element(*place, "dead_letter"))
            continue
        found.elements.add(Element(*place, "change"))
        if change.source.table == COLLIDING:
            found.refused.add(Element(*place, "refused"))
        else:
            found.changes.append(PositionedChange(change, position_of(at, 0)))
    return found


def _wrong(spark: SparkSession, job: Job, changes: list[PositionedChange]) -> int:
    wrong = 0
    for table, rows in tables_of(changes, befores_wait=True).items():
        wanted = {msgspec.json.encode(dict(key)): row for key, row in rows.items()}
        living = _rows(spark, job, job.target.format(table=table)).where("NOT _changewire.deleted")
        found = {row["key"].encode(): msgspec.json.decode(row["row"]) for row in living.collect()}
        texts = {key: msgspec.json.decode(msgspec.json.encode(row)) for key, row in wanted.items()}
        wrong += sum(found.get(key) != texts.get(key) for key in found.keys() | texts.keys())
    return wrong


def _rows(spark: SparkSession, job: Job, place: str) -> DataFrame:
    return spark.read.format(job.table_format).load(place)
