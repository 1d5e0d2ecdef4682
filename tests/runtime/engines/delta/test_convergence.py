"""Tables of delta-rs end as the model says, whatever was delivered how."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.engines.delta.lake import Lake
from tests.runtime.tables.histories import change, deliveries, histories, placed, steady
from tests.runtime.tables.model import tables_of

from changewire.tables import Placed

IMAGES = ("full", "full", "patch", "keys")


@settings(steady, max_examples=30)
@given(
    histories(IMAGES).flatmap(deliveries),
    st.integers(1, 5),
)
def test_tables_end_as_the_model_says(runs: list[list[Placed]], batch_size: int) -> None:
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
