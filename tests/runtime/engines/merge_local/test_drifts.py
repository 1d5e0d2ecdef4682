"""Columns that come, go and change their types: no value of a row is lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from deltalake import DeltaTable
from tests.runtime.engines.drifts import (
    CASES,
    NAMES,
    ODD,
    SOURCES,
    Event,
    Row,
    Source,
    cut,
    messages,
)
from tests.runtime.engines.kept import lost, rows_of
from tests.runtime.engines.merge_local.lake import Lake

import changewire.delta as cwd
from changewire.engines.declared import kind_of
from changewire.engines.merge import delta as tables
from changewire.engines.typed import auto
from changewire.engines.typed.readings import JSON

FEW, MANY = 3, 60


def applied(lake: Lake, source: Source, batches: Iterable[Sequence[tuple[Any, ...]]]) -> None:
    """Apply batches of messages."""
    for batch in batches:
        options = {**source.options, "format": source.format}
        lake.apply_records(batch, row_schema="auto", **options)


def table(lake: Lake) -> DeltaTable:
    """Return the table."""
    return DeltaTable(f"{lake.root}/tables/users")


def columns(lake: Lake) -> dict[str, str]:
    """Return the types of the columns of the table."""
    fields = tables.columns_of(table(lake).schema())["fields"]
    return {one["name"]: str(kind_of(one)) for one in fields}


def check(root: Path, source: Source, draw: Random, names: Sequence[str] = NAMES) -> None:
    """Apply messages, and compare the table with their rows."""
    sent, lake = messages(draw, source, names), Lake(root)
    applied(lake, source, cut(draw, sent))
    assert not lake.log("dead_letter")
    assert not lake.log("refused")
    assert faults(lake, source, sent) == []
    places = lake.places
    assert cwd.verify(places["log"], target=places["target"]).to_pylist() == []
    before = values(lake)
    cwd.rebuild(places["log"], target=places["target"])
    assert values(lake) == before


def faults(lake: Lake, source: Source, sent: Sequence[bytes]) -> list[str]:
    """Return which values of messages the table lacks."""
    refused = {row["offset"] for row in lake.log("refused")}
    key = "aerospike_digest" if source.format.startswith("aerospike") else "id"
    of_json = [name for name, kind in columns(lake).items() if kind == JSON]
    return lost(rows_of(sent, source, refused), live(lake), [key], of_json)


def live(lake: Lake) -> list[dict[str, Any]]:
    """Return the rows of the table that are not deleted."""
    return [row for row in lake.rows("users") if not row["_changewire"]["deleted"]]


def values(lake: Lake) -> list[str]:
    """Return the values of the rows of the table, in columns and rescued, as text."""
    rows = live(lake)
    for row in rows:
        row["_changewire"] = sorted(json.loads(row["_changewire"]["rescued"] or "{}").items())
    return sorted(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("seed", range(FEW))
@pytest.mark.parametrize("name", SOURCES)
def test_no_value_is_lost(tmp_path: Path, name: str, seed: int) -> None:
    """Each value of a row is in its column, or rescued."""
    check(tmp_path, SOURCES[name], Random(seed))  # noqa: S311 - no secret


@pytest.mark.parametrize("name", ["flat", "lindorm", "dataworks", "lindorm with schemas"])
def test_no_value_of_odd_names_is_lost(tmp_path: Path, name: str) -> None:
    """So is each value whose column no table can have, or has by a name of another case."""
    source = SOURCES[name]
    check(tmp_path, source, Random(7), (*ODD, *CASES, *NAMES[:6]))  # noqa: S311 - as above


@pytest.mark.parametrize("name", SOURCES)
def test_types_do_not_depend_on_the_order_of_messages(tmp_path: Path, name: str) -> None:
    """The batch that makes a table gives columns their types by all of its messages."""
    source, draw = SOURCES[name], Random(5)  # noqa: S311 - as above
    sent = messages(draw, source)
    found = []
    for number in range(3):
        lake = Lake(tmp_path / str(number))
        applied(lake, source, [[(one, "topic", 0, at) for at, one in enumerate(sent)]])
        found.append(columns(lake))
        draw.shuffle(sent)
    assert found[0] == found[1] == found[2]


def test_many_columns_and_long_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of more columns than a table gets, and names that no file system takes, are kept."""
    long: Row = {"x" * size: ("text", "a") for size in (255, 256, 5_000)}
    for name, most in (("flat", auto.MOST_COLUMNS), ("lindorm", 100)):
        monkeypatch.setattr(auto, "MOST_COLUMNS", most)
        wide: Row = {f"c{number}": ("integer", number) for number in range(most + 200)}
        source, lake = SOURCES[name], Lake(tmp_path / name)
        events = (Event(n, "write", n, 0, row, {}) for n, row in enumerate((wide, long, wide), 1))
        sent = [json.dumps(one).encode() for event in events for one in source.messages(event)]
        rows = [(one, "topic", 0, at) for at, one in enumerate(sent)]
        applied(lake, source, [rows] if name == "flat" else [rows[:1], rows[1:]])
        assert not lake.log("refused")
        assert faults(lake, source, sent) == []
        assert most <= len(columns(lake)) <= most + 3


@pytest.mark.long
@pytest.mark.parametrize("seed", range(FEW, MANY))
@pytest.mark.parametrize("name", SOURCES)
def test_no_value_of_many_is_lost(tmp_path: Path, name: str, seed: int) -> None:
    """The same holds for more."""
    check(tmp_path, SOURCES[name], Random(seed))  # noqa: S311 - no secret
