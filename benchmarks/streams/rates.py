"""Messages per second from a topic to a change log, and to a merged table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import msgspec

from benchmarks.streams.history import history
from benchmarks.streams.job import Done
from benchmarks.streams.jobs import (
    BOTH_BY_HAND,
    JSON,
    LOG,
    LOG_BY_HAND,
    MERGE_BY_HAND,
    SAFE_BY_HAND,
    TABLES,
    TABLES_BY_HAND,
    TYPED,
)
from benchmarks.streams.running import Run, say
from benchmarks.streams.watching import tenths
from benchmarks.tables import Result

MESSAGES_OF_A_ROW = 5
TOPIC = "changes"

_MB = 2**20
_FULL = 0.9


def log(run: Run) -> Iterator[Result]:
    """Yield the tables of the change log."""
    yield from _compared(run, "change log", (LOG_BY_HAND, LOG), LOG, 1.2)


def merge(run: Run) -> Iterator[Result]:
    """Yield the tables of the merged table."""
    names = (BOTH_BY_HAND, SAFE_BY_HAND, TYPED, JSON, MERGE_BY_HAND)
    yield from _compared(run, "merged table", names, TYPED, 0.9)


def iceberg(run: Run) -> Iterator[Result]:
    """Yield the tables of the merged table in Iceberg."""
    names = (TABLES_BY_HAND, TABLES)
    yield from _compared(run, "merged table of Iceberg", names, TABLES, 0.9, format="iceberg")


def _compared(
    run: Run, part: str, names: Sequence[str], ours: str, least: float, **fields: Any
) -> Iterator[Result]:
    """Yield the rates of jobs, of which the first is the peer, and their memory."""
    rows, topic = run.messages // MESSAGES_OF_A_ROW, f"{TOPIC}-{part.replace(' ', '-')}"
    size = run.fill(topic, history(run.messages, lambda random: random.randrange(rows)))
    found: dict[str, list[Done]] = {name: [] for name in names}
    for number in range(1, run.rounds + 1):
        say(f"{part}, round {number} of {run.rounds}")
        for name in names:
            found[name].append(run.time(name, topic, **fields))
    what = f"{run.messages} messages of {size} bytes"
    title = f"Topic to {part}: {what}, {run.batch} a batch"
    yield rates(title, found, run.messages, ours, least)
    yield memory(f"Resident memory on the way to the {part}", found, ours)


def rates(
    title: str, found: Mapping[str, Sequence[Done]], count: int, ours: str, least: float
) -> Result:
    """Return the table of rates.

    Args:
        title: What was measured.
        found: The rounds of each job; the first job is the peer.
        count: Messages of a job.
        ours: The job that is to reach the rate.
        least: Least rate to that of the peer.
    """
    base = next(iter(found))
    rows = []
    for name, rounds in found.items():
        seconds, cpu = (median(getattr(d, what) for d in rounds) for what in ("seconds", "cpu"))
        rate, of_cpu = (ratio(found[base], rounds, what) for what in ("seconds", "cpu"))
        each = (f"{seconds:.1f}", f"{rate:.2f}", f"{cpu:.1f}", f"{of_cpu:.2f}")
        rows.append((name, spread(rounds), f"{warm_ratio(found[base], rounds):.2f}", *each))
    reached = warm_ratio(found[base], found[ours])
    word = "reached" if reached >= least else "missed"
    text = (
        f"Warm batches are those of the second half of {count} messages; their median, least and "
        f"greatest. To reach: {ours} at least {least} of the rate of {base} in warm batches. "
        f"Found {reached:.2f}: {word}."
    )
    head = (
        *("", "a warm batch, s", f"rate to {base}", "all batches, s", "rate", "CPU time, s"),
        "rate by CPU time",
    )
    return Result(title, head, rows, text, {"base": base, **_figures(found)})


def warm_seconds(rounds: Sequence[Done]) -> list[float]:
    """Return the seconds of full batches, without the first half of each round."""
    found: list[float] = []
    for done in rounds:
        most = max(batch["rows"] for batch in done.batches)
        full = [batch for batch in done.batches if batch["rows"] > _FULL * most]
        found += [batch["triggerExecution"] / 1000 for batch in full[len(full) // 2 :]]
    return found


def spread(rounds: Sequence[Done]) -> str:
    """Return the median of warm batches, with the least and the greatest."""
    each = warm_seconds(rounds)
    return f"{median(each):.2f} ({min(each):.2f}-{max(each):.2f})"


def warm_ratio(theirs: Sequence[Done], mine: Sequence[Done]) -> float:
    """Return the ratio of the rates of two jobs in warm batches, by their medians."""
    return median(warm_seconds(theirs)) / median(warm_seconds(mine))


def ratio(theirs: Sequence[Done], mine: Sequence[Done], what: str) -> float:
    """Return the median of the ratios of rates in each round, by ``seconds`` or ``cpu``."""
    pairs = zip(theirs, mine, strict=True)
    return float(median(getattr(their, what) / getattr(my, what) for their, my in pairs))


def memory(title: str, found: Mapping[str, Sequence[Done]], ours: str) -> Result:
    """Return the table of memory at each tenth of the time of the last round."""
    at = {name: tenths(rounds[-1].samples) for name, rounds in found.items()}
    rows = []
    for tenth in range(10):
        sizes = (
            " / ".join(f"{size / _MB:.0f}" for size in (s.driver, s.jvm, s.workers))
            for s in (samples[tenth] for samples in at.values())
        )
        rows.append((f"{tenth + 1}0 %", *sizes))
    second, last = at[ours][1], at[ours][-1]
    grown = (last.driver - second.driver) / _MB, (last.workers - second.workers) / _MB
    text = (
        "Driver, JVM and Python workers, in MB. To reach: flat. From 20 % to the end the driver "
        f"of {ours} grew by {grown[0]:.0f} MB and its workers by {grown[1]:.0f} MB."
    )
    data = {"memory": {name: msgspec.to_builtins(samples) for name, samples in at.items()}}
    return Result(title, ("of the time", *at), rows, text, data)


def _figures(found: Mapping[str, Sequence[Done]]) -> dict[str, Any]:
    return {
        what: {name: [getattr(done, what) for done in rounds] for name, rounds in found.items()}
        for what in ("seconds", "cpu", "batches")
    }
