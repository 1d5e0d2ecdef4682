"""The table: CPU time and time of each job beside its peer, and what it must reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from benchmarks.streams.cases import Case, Measure
from benchmarks.streams.done import Done, Took
from benchmarks.tables import Result

Found = Mapping[str, Sequence[Done]]
"""The rounds of each job of a case."""

_FULL: Final = 0.9
_HEAD: Final = (
    *("", "job", "beside", "CPU time of a batch, s", "by CPU time", "a batch, s", "by time"),
    "to reach",
)


class Ratio(NamedTuple):
    """A ratio of two jobs.

    Attributes:
        middle: That of the medians.
        least: That of the worst batch of ours.
        most: That of its best one.
    """

    middle: float
    least: float
    most: float

    def __str__(self) -> str:
        """Return the ratio with its spread."""
        return f"{self.middle:.2f} ({self.least:.2f}-{self.most:.2f})"


def table(found: Sequence[tuple[Case, Found]]) -> Result:
    """Return the table of all cases."""
    rows = [row for case, jobs in found for row in _rows(case, jobs)]
    text = (
        "Medians, with least and greatest: of batches after the first third, or of first batches. "
        "Rates are compared unless it says times."
    )
    figures: dict[str, Any] = {case.title: _figures(jobs) for case, jobs in found}
    return Result("Streams from Kafka beside jobs by hand", _HEAD, rows, text, {"jobs": figures})


def _rows(case: Case, jobs: Found) -> Iterator[tuple[str, ...]]:
    theirs = _taken(case, jobs[case.peer])
    for name, least in case.ours.items():
        mine = _taken(case, jobs[name])
        ratios = {
            what: ratio(*(_values(each, what) for each in (theirs, mine)), is_time=case.is_time)
            for what in ("cpu", "seconds")
        }
        times = {
            what: " / ".join(f"{median(_values(each, what)):.2f}" for each in (theirs, mine))
            for what in ("cpu", "seconds")
        }
        yield (
            *(case.title, name, case.peer, times["cpu"], str(ratios["cpu"]), times["seconds"]),
            *(str(ratios["seconds"]), verdict(case, least, ratios)),
        )


def verdict(case: Case, bound: float | None, ratios: Mapping[str, Ratio]) -> str:
    """Return what a job must reach, and whether it does."""
    if bound is None:
        return ""
    found = ratios["cpu" if case.by in {"cpu", "all"} else "seconds"].middle
    is_reached = found <= bound if case.is_time else found >= bound
    words = f"at {'most' if case.is_time else 'least'} {bound:g} {_BY[case.by]}"
    return f"{words}{' (times)' if case.is_time else ''}: {'reached' if is_reached else 'missed'}"


_BY: Final[Mapping[Measure, str]] = {
    "cpu": "by CPU time",
    "all": "by CPU time",
    "warm": "by time",
    "first": "by time",
}


def _taken(case: Case, rounds: Sequence[Done]) -> list[Took]:
    """Return the batches of a case that count; of `all`, the sum of each round."""
    if case.by != "all":
        return taken(rounds, is_first=case.by == "first")
    return [
        Took(
            sum(one.rows for one in done.batches),
            sum(one.seconds for one in done.batches),
            sum(one.cpu for one in done.batches),
        )
        for done in rounds
    ]


def taken(rounds: Sequence[Done], *, is_first: bool) -> list[Took]:
    """Return the batches that count: the first of each round, or full ones after a third."""
    found: list[Took] = []
    for done in rounds:
        most = max(batch.rows for batch in done.batches)
        full = [batch for batch in done.batches if batch.rows > _FULL * most]
        found += done.batches[:1] if is_first else full[len(full) // 3 :]
    return found


def ratio(theirs: Sequence[float], mine: Sequence[float], *, is_time: bool) -> Ratio:
    """Return the ratio of two rates, or of two times, by what batches took."""
    if is_time:
        found = (median(mine), min(mine), max(mine))
        return Ratio(*(one / median(theirs) for one in found))
    return Ratio(*(median(theirs) / one for one in (median(mine), max(mine), min(mine))))


def _values(batches: Sequence[Took], what: str) -> list[float]:
    return [getattr(batch, what) for batch in batches]


def _figures(jobs: Found) -> dict[str, Any]:
    return {
        name: [
            {
                "seconds": done.seconds,
                "cpu": done.cpu,
                "batches": [[one.rows, one.seconds, one.cpu] for one in done.batches],
            }
            for done in rounds
        ]
        for name, rounds in jobs.items()
    }
