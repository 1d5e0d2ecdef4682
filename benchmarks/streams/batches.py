"""Seconds of small batches, of several tables, and of the first batch of a process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from benchmarks.streams.history import history
from benchmarks.streams.job import Done
from benchmarks.streams.jobs import TABLES, TABLES_BY_HAND
from benchmarks.streams.running import Run, say
from benchmarks.tables import Result

ROWS: Final = 10_000
"""Rows of all tables together."""


class Case(NamedTuple):
    """Batches of one size.

    Attributes:
        title: What they are called.
        tables: Number of the tables that they feed.
        messages: Messages of a batch.
        most: Most times that ours is to take of the time of the job by hand.
        fields: Other fields of the jobs.
    """

    title: str
    tables: int
    messages: int
    most: float
    fields: Mapping[str, Any] = {}


FIRST: Final = "the first batch of a process, 40 messages into 2 tables"
CASES: Final = (
    Case("40 messages into 2 tables", 2, 40, 1.2),
    Case("the same, defaults of Spark and Delta", 2, 40, 1.3, {"has_defaults": True}),
    Case("the same, Iceberg", 2, 40, 1.2, {"format": "iceberg"}),
    Case("2,000 messages into 20 tables", 20, 2000, 0.67),
    Case(FIRST, 2, 40, 1.3, {"is_warm": False}),
)


def batches(run: Run) -> Iterator[Result]:
    """Yield the table of small batches."""
    found: dict[str, tuple[float, dict[str, list[Done]]]] = {}
    filled = set[str]()
    for case in CASES:
        topic = f"batches-{case.tables}-{case.messages}"
        if topic not in filled:
            count = case.messages * run.batches
            run.fill(topic, history(count, lambda draw: draw.randrange(ROWS), tables=case.tables))
            filled.add(topic)
        fields = {"tables": case.tables, "batch": case.messages, **case.fields}
        jobs: dict[str, list[Done]] = {TABLES_BY_HAND: [], TABLES: []}
        for number in range(1, run.rounds + 1):
            say(f"{case.title}, round {number} of {run.rounds}")
            for name, rounds in jobs.items():
                rounds.append(run.time(name, topic, **fields))
        found[case.title] = case.most, jobs
    yield seconds(found)


def seconds(found: Mapping[str, tuple[float, Mapping[str, Sequence[Done]]]]) -> Result:
    """Return the table of seconds a batch.

    Args:
        found: For each case the ratio to reach, and the rounds of each job; the first is the peer.
    """
    rows, figures = [], dict[str, list[float]]()
    for title, (most, jobs) in found.items():
        times = {name: list(_times(title, rounds)) for name, rounds in jobs.items()}
        theirs, mine = times.values()
        ratio = median(mine) / median(theirs)
        cells = [f"{median(each):.2f} ({min(each):.2f}-{max(each):.2f})" for each in (theirs, mine)]
        cpu = [f"{median(map(_cpu, rounds)):.2f}" for rounds in jobs.values()]
        word = "reached" if ratio <= most else "missed"
        rows.append((title, *cells, f"{ratio:.2f}", f"{most}: {word}", " / ".join(cpu)))
        figures |= {f"{title}, {name}": each for name, each in times.items()}
    head = (
        "",
        *(f"{name}, s" for name in (TABLES_BY_HAND, TABLES)),
        "times as long",
        "at most",
        "CPU time of a batch, s",
    )
    text = "Medians of the batches, with least and greatest. CPU time is that of all batches."
    title = "Seconds of a small batch"
    return Result(title, head, rows, text, {"base": next(iter(figures)), "seconds": figures})


def _times(title: str, rounds: Sequence[Done]) -> Iterator[float]:
    """Yield the seconds of batches that count: the first one, or those after a third of them."""
    for done in rounds:
        each = [batch["triggerExecution"] / 1000 for batch in done.batches]
        yield from each[:1] if title == FIRST else each[len(each) // 3 :]


def _cpu(done: Done) -> float:
    return done.cpu / len(done.batches)
