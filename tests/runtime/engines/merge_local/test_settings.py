"""Settings by table without Spark: what tables are made with."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from tests.runtime.engines.chosen import KEYS, keyless
from tests.runtime.engines.merge.messages import records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.engines.settings_cases import (
    FATES,
    FATES_OF_ROWS,
    FAULTS,
    PARTITIONED,
    PROPERTIES,
    fates,
    first,
    later,
    write,
)

import changewire.delta as cwd


def rows(lake: Lake) -> list[tuple[Any, ...]]:
    """Return the rows of the partitioned table."""
    found = sorted(lake.rows(), key=lambda row: int(row["id"]))
    return [(row["id"], row["day"], row["_changewire"]["rescued"]) for row in found]


def test_tables_are_made_with_partitions_and_properties(tmp_path: Path) -> None:
    """Their metadata say so; rows move between partitions, also by a rebuild."""
    lake = Lake(tmp_path)
    options = {"row_schema": "auto", "tables": PARTITIONED}
    lake.apply_records(records(*first()), **options)
    for name, partitions in (("t", ["day"]), ("u", [])):
        metadata = DeltaTable(f"{tmp_path}/tables/{name}").metadata()
        assert metadata.partition_columns == partitions
        assert PROPERTIES.items() <= metadata.configuration.items()
    assert rows(lake) == [(1, None, None), (2, date(2026, 1, 2), None)]
    lake.apply_records(records(*later(), start=10), **options)
    left = [(1, date(2026, 1, 3), None), (3, None, '{"day":"soon"}')]
    assert rows(lake) == left
    assert len(cwd.verify(**lake.places)) == 0
    cwd.rebuild(**lake.places)
    assert rows(lake) == left
    assert DeltaTable(f"{tmp_path}/tables/t").metadata().partition_columns == ["day"]


@pytest.mark.parametrize("batch", [1, 100])
def test_deletes_and_misfits_by_table(tmp_path: Path, batch: int) -> None:
    """One table keeps its deleted rows and refuses values, another one does neither."""
    lake, sent = Lake(tmp_path), records(*fates())
    for start in range(0, len(sent), batch):
        part = sent[start : start + batch]
        lake.apply_records(part, row_schema="auto", tables=FATES)
    for name, expected in FATES_OF_ROWS.items():
        found = sorted(lake.rows(name), key=lambda row: int(row["id"]))
        states = [(row["_changewire"]["deleted"], row["_changewire"]["rescued"]) for row in found]
        both = zip(found, states, strict=True)
        assert [(row["id"], row["day"], *state) for row, state in both] == expected
    assert [row["offset"] for row in lake.log("refused")] == [4]
    assert len(cwd.verify(**lake.places)) == 0
    cwd.rebuild(**lake.places)
    assert len(cwd.verify(**lake.places)) == 0


def test_keys_by_table(tmp_path: Path) -> None:
    """They are those of the settings; both ways to name them are an error."""
    lake, by_table = Lake(tmp_path), {name: {"key_columns": keys} for name, keys in KEYS.items()}
    options: dict[str, Any] = {"row_schema": "auto", "tables": by_table}
    assert lake.apply_records(records(*keyless()), **options).tables == {"inserted": 2}
    assert [(row["id"], row["name"]) for row in lake.rows("t")] == [(1, "b")]
    with pytest.raises(ValueError, match="key_columns: `tables` names such columns too"):
        lake.apply_records(records(*keyless()), **options, key_columns=["id"])


@pytest.mark.parametrize(("settings", "reason"), FAULTS)
def test_a_table_that_cannot_be_made(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    """Its changes are refused, other tables go on, and right settings take the changes."""
    lake, sent = Lake(tmp_path), records(write(1), write(1, table="u"))
    outcome = lake.apply_records(sent, row_schema="auto", tables={"d.t": settings})
    assert outcome.tables == {"inserted": 1, "refused": 1}
    (refused,) = lake.log("refused")
    assert refused["code"] == "partition-mismatch"
    assert reason in refused["message"]
    done = cwd.replay(**lake.places, format="dataworks-json", tables=PARTITIONED)
    assert (done.refused, done.left) == (1, 0)
    assert rows(lake) == [(1, None, None)]


def test_rows_of_json_text_have_no_partitions(tmp_path: Path) -> None:
    """Their columns are a key and a row."""
    lake = Lake(tmp_path)
    lake.apply_records(records(write(1)), tables={"*": {"partition_by": ["key"]}})
    (refused,) = lake.log("refused")
    assert "its rows are JSON text" in refused["message"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"cluster_by": ["id"]}, "cluster_by of `tables` needs Spark"),
        ({"partition_by": ["days(at)"]}, "tables of Delta have partitions by columns"),
    ],
)
def test_settings_of_other_formats(tmp_path: Path, settings: dict[str, Any], reason: str) -> None:
    """They are errors before anything is written."""
    lake = Lake(tmp_path)
    with pytest.raises(ValueError, match=reason):
        lake.apply_records(records(write(1)), row_schema="auto", tables={"*": settings})
    assert not [*tmp_path.iterdir()]
