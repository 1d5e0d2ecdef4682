"""Tables of delta-rs end as the model says, whatever was delivered how."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.engines.delta.lake import Lake
from tests.runtime.tables.histories import change, deliveries, histories, placed, steady
from tests.runtime.tables.model import tables_of

from changewire.tables import PositionedChange

IMAGES = ("full", "full", "patch", "keys")
WRITERS = 2
ROUNDS = 4


@settings(steady, max_examples=30)
@given(
    histories(IMAGES).flatmap(deliveries),
    st.integers(1, 5),
)
def test_tables_end_as_the_model_says(runs: list[list[PositionedChange]], batch_size: int) -> None:
    """Moves, deletes, patches and duplicates converge, in any order, runs and batches."""
    with TemporaryDirectory() as folder:
        lake = Lake(Path(folder))
        for run in runs:
            lake.apply(run, batch_size)
        sent = [placed for run in runs for placed in run]
        assert lake.content() == tables_of(sent)
        done = lake.counts["applied"]
        for run in runs:
            lake.apply(run, batch_size)
        assert lake.content() == tables_of(sent)
        assert lake.counts["applied"] == done


def test_a_table_of_many_rows(tmp_path: Path) -> None:
    """Of a table only the rows change that a batch has, wherever in its files they are."""
    lake, number = Lake(tmp_path), 3_000
    first = placed(*(change(key=key, a=key) for key in range(number)))
    lake.apply(first, batch_size=700)
    again = placed(
        *(change(key=key, sequence=2, a=-key) for key in range(0, number, 97)),
        *(change("delete", key, 2) for key in range(1, number, 97)),
        start=number,
    )
    assert lake.apply(again) == {"applied": len(again)}
    assert lake.content() == tables_of([*first, *again])


def runs_of(writer: int) -> list[list[PositionedChange]]:
    """Return what one of several writers applies to the same rows."""
    found: list[list[PositionedChange]] = []
    for number in range(ROUNDS):
        first = WRITERS * number + writer
        changes = [
            change("delete", key, 10 + (first * 7 + key) % 11)
            if (first + key) % 3 == 0
            else change(key=key, sequence=10 + (first * 7 + key) % 11, a=first, b=key)
            for key in range(12)
        ]
        found.append(placed(*changes, start=100 * first, partition=writer))
    return found


def write(folder: str, writer: int) -> int:
    """Apply the runs of a writer, in a process of its own."""
    lake = Lake(Path(folder) / str(writer), lake=Path(folder) / "tables")
    return sum(sum(lake.apply(run).values()) > 0 for run in runs_of(writer))


def test_writers_at_once(tmp_path: Path) -> None:
    """Processes that write to one table at the same time lose nothing of each other."""
    with ProcessPoolExecutor(WRITERS, mp_context=get_context("spawn")) as pool:
        done = [pool.submit(write, str(tmp_path), writer) for writer in range(WRITERS)]
        assert [one.result() for one in done] == [ROUNDS] * WRITERS
    sent = [*chain.from_iterable(run for writer in range(WRITERS) for run in runs_of(writer))]
    lake = Lake(tmp_path / "0", lake=tmp_path / "tables")
    assert lake.content() == tables_of(sent)
