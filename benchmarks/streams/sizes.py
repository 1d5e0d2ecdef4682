"""Changes merged into tables of some sizes, as they lie and as the docs advise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final

from benchmarks.streams.history import history
from benchmarks.streams.job import Done
from benchmarks.streams.jobs import BOTH_BY_HAND, TYPED
from benchmarks.streams.rates import ratio, spread, warm_ratio
from benchmarks.streams.running import Run, say
from benchmarks.tables import Result

NAMES: Final = (BOTH_BY_HAND, TYPED)
PLAIN, ADVISED = "plain", "deletion vectors"

_NEWEST: Final = 0.1


def anywhere(rows: int) -> Callable[[Random], int]:
    """Return what draws the id of any row."""
    return lambda random: random.randrange(rows)


def newest(rows: int) -> Callable[[Random], int]:
    """Return what draws the id of one of the last rows."""
    return lambda random: random.randrange(round(rows * (1 - _NEWEST)), rows)


PLACES: Final[Mapping[str, Callable[[int], Callable[[Random], int]]]] = {
    "any": anywhere,
    "newest": newest,
}
"""Which rows change, by name."""


def tables(
    run: Run, *, place: str = "any", layouts: Sequence[str] = (PLAIN, ADVISED)
) -> Iterator[Result]:
    """Yield the table of merges.

    Args:
        run: What is measured.
        place: Which rows change, one of `PLACES`.
        layouts: Layouts of the tables, of `seeds.LAYOUTS`.
    """
    found: dict[str, dict[str, list[Done]]] = {}
    for size in run.sizes:
        topic = f"{place}-{size}"
        run.fill(topic, history(run.changes, PLACES[place](size), are_there=True))
        for layout in layouts:
            say(f"{run.changes} changes into {size} rows, {layout}")
            found[f"{size} rows, {layout}"] = {
                name: [run.time(name, topic, seed=size, layout=layout) for _ in range(run.rounds)]
                for name in NAMES
            }
    what = f"{run.batch} of {run.changes} changes of {place} rows a batch"
    yield merges(f"{what}, merged into tables", found)


def merges(title: str, found: Mapping[str, Mapping[str, Sequence[Done]]]) -> Result:
    """Return the table of merges.

    Args:
        title: What was measured.
        found: The rounds of each job, by table.
    """
    rows = []
    for table, jobs in found.items():
        theirs, mine = (jobs[name] for name in NAMES)
        cells = (spread(theirs), spread(mine), f"{warm_ratio(theirs, mine):.2f}")
        ratios = [f"{ratio(theirs, mine, what):.2f}" for what in ("seconds", "cpu")]
        rows.append((table, *cells, *ratios))
    names = (f"{name}, s a warm batch" for name in NAMES)
    head = ("", *names, "rate to it", "rate of all batches", "rate by CPU time")
    figures = {
        what: {
            f"{table}, {name}": [getattr(done, what) for done in rounds]
            for table, jobs in found.items()
            for name, rounds in jobs.items()
        }
        for what in ("seconds", "cpu", "batches")
    }
    return Result(title, head, rows, "", {"base": next(iter(figures["seconds"])), **figures})
