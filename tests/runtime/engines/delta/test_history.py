"""Tables of versions of delta-rs: those of all changes at once, whatever came how and when."""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.engines.apply.lake import Lake as SparkLake
from tests.runtime.engines.apply.test_typed_tables import message
from tests.runtime.engines.delta.lake import Lake
from tests.runtime.engines.version_rows import versions_in
from tests.runtime.tables.histories import (
    change,
    deliveries,
    halves,
    histories,
    in_tables,
    placed,
    steady,
    truncate,
    truncates,
)
from tests.runtime.tables.model import Key, Version, tables_of, versions_of

import changewire.delta as cwd
from changewire.engines.delta import history as delta_history
from changewire.engines.delta import store
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IMAGES = ("full", "full", "patch", "keys")
ONE_TABLE = {"u": "t"}


def lake_in(folder: Path, *, applies_truncates: bool = False) -> Lake:
    """Return a lake with tables of versions."""
    history = f"{folder}/tables/{{table}}__history"
    return Lake(folder, applies_truncates=applies_truncates, history=history)


def rows_in(lake: Lake, name: str = "t__history") -> list[dict[str, Any]]:
    """Return the rows of a table."""
    table = DeltaTable(str(lake.folder / name)).to_pyarrow_table()
    return list(table.to_pylist(maps_as_pydicts="strict"))


def versions(lake: Lake) -> dict[Key, list[Version]]:
    """Return the versions of the rows of the table."""
    return versions_in(rows_in(lake))


def number(lake: Lake) -> list[int]:
    """Return the versions of the tables that versions are in, in the sense of Delta."""
    names = ("t__history", "t__history__ends")
    return [DeltaTable(str(lake.folder / name)).version() for name in names]


PARTS = st.tuples(histories(IMAGES), truncates(), halves())
RUNS = PARTS.flatmap(lambda parts: deliveries([*chain.from_iterable(parts)]))


@settings(steady, max_examples=8)
@given(RUNS, st.integers(1, 5))
def test_batches_are_all_changes_at_once(
    runs: list[list[PositionedChange]], batch_size: int
) -> None:
    """Late, doubled and deleted changes, patches, moves and truncates; twice is as once."""
    check([in_tables(run, ONE_TABLE) for run in runs if run], batch_size)


@pytest.mark.long
@settings(steady, max_examples=200)
@given(RUNS, st.integers(1, 5))
def test_many_batches_are_all_changes_at_once(
    runs: list[list[PositionedChange]], batch_size: int
) -> None:
    """The same of many histories."""
    check([in_tables(run, ONE_TABLE) for run in runs if run], batch_size)


def check(runs: list[list[PositionedChange]], batch_size: int) -> None:
    """Check versions and rows after some runs, and that the same runs then change nothing."""
    with TemporaryDirectory() as folder:
        lake = lake_in(Path(folder), applies_truncates=True)
        for run in runs:
            lake.apply(run, batch_size)
        sent = [*chain.from_iterable(runs)]
        if not (lake.folder / "t__history").exists():
            return
        assert versions(lake) == versions_of(sent)
        rows = tables_of(sent, truncates=True).get("t", {})
        assert lake.content() == {"t": rows}  # of truncates alone the model knows no table
        before = number(lake)
        for run in runs:
            lake.apply(run, batch_size)
        assert number(lake) == before


class KilledError(Exception):
    """The process ended."""


@pytest.mark.parametrize(
    ("owner", "name"),
    [(delta_history, "_merge"), (store, "write")],
    ids=["deletes are written, versions are not", "versions are written, tables are not"],
)
def test_a_run_that_ends_early_is_retried(owner: Any, name: str, tmp_path: Path) -> None:
    """Versions are those of a run that came to its end."""
    lake = lake_in(tmp_path)
    runs = [
        placed(change(a=1), change(key=2, sequence=3, a="1.10"), change("delete", 3, 5)),
        placed(change(sequence=4, a=4), change("delete", 2, 6), change(key=3, a=1), start=10),
    ]
    for run in runs:
        with patch.object(owner, name, side_effect=KilledError), pytest.raises(KilledError):
            lake.apply(run)
        lake.apply(run)
    sent = [*chain.from_iterable(runs)]
    assert versions(lake) == versions_of(sent)
    assert lake.content() == tables_of(sent)


def test_what_became_of_versions_is_counted(tmp_path: Path) -> None:
    """A late change ends a version earlier, or leaves nothing of it."""
    lake = lake_in(tmp_path)
    runs = [
        placed(change(a=1), change(sequence=4, a=4)),
        placed(change(sequence=6, a=6), start=10),
        placed(change("delete", 1, 2), start=20),
        placed(change(sequence=3, a=4), start=30),
    ]
    found = []
    for run in runs:
        lake.apply(run)
        found.append(lake.versions)
    assert found == [
        {"begun": 2},
        {"begun": 1, "ended": 1},
        {"split": 1},
        {"begun": 1, "removed": 1},
    ]


def test_columns_of_a_type(tmp_path: Path) -> None:
    """Columns that come later are added; rows that have one of the versions' are refused."""
    first, later = {"id": "LONG", "price": "DOUBLE"}, {"id": "LONG", "note": "STRING"}
    batches = [
        [
            message("INSERT", 10, first, id=1, price="9.90"),
            message("UPDATE_AFTER", 12, first, id=1, price="9.95"),
            message("DELETE", 14, first, id=2, price=None),
        ],
        [
            message("UPDATE_AFTER", 11, later, id=1, note="late"),
            message("INSERT", 13, {"id": "LONG", "Valid_From": "STRING"}, id=3, Valid_From="x"),
            message("INSERT", 13, later, id=2, note=None),
        ],
    ]
    codes: Counter[str] = Counter()
    for start, batch in enumerate(batches):
        offsets = [10 * start + offset for offset in range(len(batch))]
        outcome = cwd.apply_changes(
            pa.table({"value": pa.array(batch, pa.binary()), "offset": pa.array(offsets)}),
            format="dataworks-json",
            target=f"{tmp_path}/{{table}}",
            history=f"{tmp_path}/{{table}}__history",
            rows="embedded",
            output=str(tmp_path / "out"),
            checkpoint=str(tmp_path / "checkpoint"),
        )
        codes += outcome.counts.by_error_code
    assert codes == {"schema-mismatch": 1}
    found = DeltaTable(str(tmp_path / "t__history")).to_pyarrow_table().to_pylist()
    of_sequence = {row["_changewire"]["sequence"]["major"]: row for row in found}
    assert {
        major: (row["id"], row["price"], row["note"], row["is_current"], row["valid_to"] is None)
        for major, row in of_sequence.items()
    } == {
        10: (1, 9.9, None, False, False),
        11: (1, None, "late", False, False),
        12: (1, 9.95, None, True, True),
        13: (2, None, None, False, False),
    }


def test_each_engine_goes_on_where_the_other_ended(spark: SparkSession, tmp_path: Path) -> None:
    """Versions, kept deletes and truncates count for both, and so does where they are."""
    lake, in_spark = lake_in(tmp_path, applies_truncates=True), SparkLake(tmp_path)
    in_spark.applies_truncates, in_spark.log, in_spark.history = True, "parquet", lake.history
    runs = [
        placed(change(a=1), change(key=2, sequence=9, a=1), change("delete", 3, 8)),
        placed(change("update", 1, 7, image="patch", b=1), truncate(4), start=10),
        placed(change(key=3, sequence=6, a=1), change(key=1, sequence=2, a=0), start=20),
    ]
    lake.apply(runs[0])
    in_spark.send(runs[1])
    in_spark.apply(spark)
    lake.history = ""
    with pytest.raises(cwd.OutputError, match=r"drop .*t__history__ends"):
        lake.apply(runs[2])
    lake.history = in_spark.history
    lake.apply(runs[2])
    sent = [*chain.from_iterable(runs)]
    assert versions(lake) == versions_of(sent)
    assert lake.content() == tables_of(sent, truncates=True)


def test_a_table_that_has_rows_already(tmp_path: Path) -> None:
    """No change log has all its changes, so the run says so, and nothing is made."""
    lake = lake_in(tmp_path)
    history, lake.history = lake.history, ""
    lake.apply(placed(change(a=1)))
    lake.history = history
    with pytest.raises(cwd.OutputError, match=r"rows of earlier runs, whose versions .* lacks"):
        lake.apply(placed(change(sequence=2, a=2), start=10))
    assert not (lake.folder / "t__history__ends").exists()
    lake.history = ""
    lake.apply(placed(change(sequence=2, a=2), start=10))
    assert lake.content() == tables_of(placed(change(sequence=2, a=2)))


def test_a_run_that_would_leave_versions_without_changes(tmp_path: Path) -> None:
    """It ends before it writes; once the table of deletes is dropped, versions stay as they are."""
    lake = lake_in(tmp_path)
    history, first = lake.history, placed(change(a=1))
    lake.apply(first)
    for other in ("", history.replace("__history", "__versions")):
        lake.history = other
        with pytest.raises(cwd.OutputError) as caught:
            lake.apply(placed(change(sequence=2, a=2), start=10))
        assert f"Give the run history={history!r}; or drop {lake.folder}/t__" in str(caught.value)
    assert lake.content() == tables_of(first)
    shutil.rmtree(lake.folder / "t__history__ends")
    lake.history = ""
    lake.apply(placed(change(sequence=2, a=2), start=10))
    assert len(rows_in(lake)) == 1


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        ("versions", "has no slash"),
        ("lake/{database}__history", "must have the fields of the target"),
        ("lake/{table}", "different places"),
    ],
)
def test_where_versions_cannot_be(history: str, reason: str, tmp_path: Path) -> None:
    """Each table has versions of its own, in a folder of their own."""
    with pytest.raises(ValueError, match=reason):
        cwd.apply_changes(
            pa.table({"value": pa.array([], pa.binary())}),
            format="dataworks-json",
            target="lake/{table}",
            history=history,
            output=str(tmp_path / "out"),
            checkpoint=str(tmp_path / "checkpoint"),
        )
