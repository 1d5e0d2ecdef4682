"""Tables of versions beside tables: those of all changes at once, whatever came how and when."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tests.runtime.engines.apply.lake import Lake
from tests.runtime.engines.version_rows import versions_in
from tests.runtime.tables.histories import (
    drawn,
    in_tables,
    of_history,
)
from tests.runtime.tables.model import tables_of, versions_of

import changewire.arrow as cwa
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HISTORIES, BATCHES = 12, 4


def lake_in(folder: Path, **options: bool) -> Lake:
    """Return a lake with tables of versions, whose log is Parquet."""
    return Lake(folder, log="parquet", history=f"{folder}/tables/{{table}}__history", **options)


def cut(number: int, batches: int) -> list[list[PositionedChange]]:
    """Draw histories, each with keys and positions of its own, in so many batches."""
    found: list[list[PositionedChange]] = [[] for _ in range(batches)]
    for which, delivery in enumerate(drawn(number)):
        for i, batch in enumerate(delivery):
            own = (of_history(which, placed) for placed in in_tables(batch, {}, which))
            found[i % batches] += own
    return found


def test_batches_are_all_changes_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """Late, doubled and deleted changes, patches and moved keys; and so says the change log."""
    lake = lake_in(tmp_path)
    batches = cut(HISTORIES, BATCHES)
    for batch in batches:
        lake.send(batch)
    lake.apply(spark)
    sent = [*chain.from_iterable(batches)]
    for table in ("t", "u"):
        assert lake.versions(spark, table) == versions_of(sent, table)
        log = cwa.history(tmp_path / "changes", table=f"d.{table}")
        assert lake.versions(spark, table) == versions_in(log.to_pylist(maps_as_pydicts="strict"))
    assert lake.content(spark) == tables_of(sent)
