"""What is measured: the rows of the table, each a job beside its peer, with what it must reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final, Literal, NamedTuple

from benchmarks.streams.history import Sent, history, with_late
from benchmarks.streams.jobs import (
    DECLARED,
    FLAGGED,
    JSON,
    LOCAL,
    LOG,
    LOG_BY_HAND,
    PLAIN,
    REMOVED,
    SAFE,
    TABLES_BY_HAND,
)

Measure = Literal["cpu", "warm", "first", "all"]
"""CPU time, or the time of warm batches, or that of the first batch, or CPU time of all batches."""

_LATE_BY: Final = 2.5
"""By how many batches a message may be late."""


class Topic(NamedTuple):
    """A topic.

    Attributes:
        name: Its name.
        batches: How many batches it has.
        batch: Messages of a batch.
        rows: Rows that the messages are of.
        tables: Number of the tables that have these rows.
        are_there: Whether the rows are there at first.
        has_late: Whether messages are late, and doubled, across batches.
    """

    name: str
    batches: int
    batch: int
    rows: int
    tables: int = 1
    are_there: bool = False
    has_late: bool = False

    def records(self) -> Iterator[Sent]:
        """Yield its records."""

        def pick(draw: Random) -> int:
            return draw.randrange(self.rows)

        count = self.batches * self.batch
        found = history(count, pick, are_there=self.are_there, tables=self.tables)
        return with_late(found, round(_LATE_BY * self.batch)) if self.has_late else found

    def small(self) -> Topic:
        """Return a topic of little work."""
        batch, rows = min(200, max(40, self.batch // 500)), max(200, self.rows // 1000)
        return self._replace(batches=3, batch=batch, rows=rows)


class Case(NamedTuple):
    """Jobs that are compared on one topic.

    Attributes:
        name: What chooses it.
        title: What it is called in the table.
        topic: What the jobs read.
        peer: The job that the others are compared with.
        ours: The other jobs, each with the ratio that it must reach; None if it need not.
        by: What is compared for that.
        is_time: Whether the ratio is that of times, which is to be small, and not that of rates.
        fields: Other fields of the jobs.
    """

    name: str
    title: str
    topic: Topic
    peer: str
    ours: Mapping[str, float | None]
    by: Measure = "cpu"
    is_time: bool = False
    fields: Mapping[str, Any] = {}


_TOPIC: Final = Topic("plain", 5, 100_000, 100_000)
_MILLION: Final = Topic("million", 3, 1_000_000, 1_000_000)
_SMALL: Final = Topic("small", 12, 40, 10_000, tables=2)
_INTO: Final = "100,000 changes a batch into {} million rows"


def _sized(millions: int) -> Case:
    rows = millions * 1_000_000
    topic = Topic(f"into-{millions}m", 3, 100_000, rows, are_there=True)
    name, title = f"{millions}m", _INTO.format(millions)
    return Case(name, title, topic, PLAIN, {REMOVED: 0.8}, "warm", fields={"seed": rows})


CASES: Final = (
    Case("log", "log alone", _TOPIC, LOG_BY_HAND, {LOG: 1.15}),
    Case("log-million", "log alone, 1,000,000 a batch", _MILLION, LOG_BY_HAND, {LOG: 1.15}),
    Case("merge", "log and table", _TOPIC, SAFE, {REMOVED: 0.9, FLAGGED: 1.0, JSON: None}),
    Case(
        name="auto",
        title="columns as messages declare, beside columns of a type",
        # More batches: single ones differ by more than the ratio may.
        topic=_TOPIC._replace(name="auto", batches=10),
        peer=FLAGGED,
        ours={DECLARED: 0.95},
    ),
    Case(
        name="late",
        title="the same, 10 % late or doubled across batches",
        # More batches: the warm-up has no late messages.
        topic=_TOPIC._replace(name="late", batches=10, has_late=True),
        peer=SAFE,
        ours={REMOVED: 0.8, FLAGGED: 1.0},
    ),
    Case(
        name="million",
        title="1,000,000 a batch",
        topic=_MILLION,
        peer=SAFE,
        ours={FLAGGED: 1.1, DECLARED: 1.1},
    ),
    Case(
        name="million-late",
        title="1,000,000 a batch, 10 % late or doubled",
        topic=_MILLION._replace(name="million-late", has_late=True),
        peer=SAFE,
        ours={REMOVED: 0.95},
    ),
    Case(
        name="backlog",
        title="10 batches of 100,000, applied at once",
        topic=_TOPIC._replace(name="backlog", batches=10),
        peer=SAFE,
        ours={REMOVED: 1.3, FLAGGED: 1.3},
        by="all",
        fields={"is_backlog": True},
    ),
    _sized(1),
    _sized(5),
    Case(
        name="small",
        title="40 changes a batch into 2 tables",
        topic=_SMALL,
        peer=TABLES_BY_HAND,
        ours={REMOVED: 1.3},
        by="warm",
        is_time=True,
        fields={"is_warm": False},
    ),
    Case(
        name="defaults",
        title="the same, settings of Spark and Delta",
        topic=_SMALL,
        peer=TABLES_BY_HAND,
        ours={REMOVED: 0.4},
        by="warm",
        is_time=True,
        fields={"is_warm": False, "has_defaults": True},
    ),
    Case(
        name="first",
        title="first batch of a process, 40 changes into 2 tables",
        topic=_SMALL,
        peer=TABLES_BY_HAND,
        ours={REMOVED: 1.5},
        by="first",
        is_time=True,
        fields={"is_warm": False},
    ),
    Case(
        name="many",
        title="2,000 changes a batch into 20 tables",
        topic=Topic("many", 6, 2000, 10_000, tables=20),
        peer=TABLES_BY_HAND,
        ours={REMOVED: 1.0},
        by="warm",
        is_time=True,
    ),
    Case(
        name="local",
        title="columns as messages declare, without Spark",
        topic=_TOPIC,
        peer=SAFE,
        ours={LOCAL: 7},
    ),
    Case(
        name="local-many",
        title="2,000 changes a batch into 100 tables, without Spark",
        topic=Topic("many-100", 6, 2000, 10_000, tables=100),
        peer=TABLES_BY_HAND,
        ours={LOCAL: 20},
    ),
    Case(
        name="iceberg",
        title="log and table of Iceberg",
        topic=_TOPIC,
        peer=TABLES_BY_HAND,
        ours={FLAGGED: 0.95},
        fields={"format": "iceberg"},
    ),
)
"""The rows of the table, in their order."""


def small(case: Case) -> Case:
    """Return a case of little work."""
    seed = case.topic.small().rows if "seed" in case.fields else 0
    fields = {**case.fields, **({"seed": seed} if seed else {})}
    return case._replace(topic=case.topic.small(), fields=fields)


def fields_of(case: Case) -> dict[str, Any]:
    """Return the fields of the jobs of a case."""
    return {"tables": case.topic.tables, "batch": case.topic.batch, **case.fields}
