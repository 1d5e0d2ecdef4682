"""The newest change of each key, and which keys need a look at what was there before."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

import pyarrow as pa
import pytest

from changewire.engines.spark.apply import recent, states
from changewire.engines.spark.apply.newest import in_position, newest_of
from changewire.engines.spark.apply.recent import RecentRows
from changewire.tables.order import OLDEST

Sent = tuple[str, int, Any]
"""Key, sequence and row of a change; None for a delete."""


def effects(*sent: Sent) -> pa.Table:
    """Return changes as tasks report them, in the order of their positions."""
    rows = [
        {
            "key": key,
            "major": sequence,
            "minor": 0,
            "topic": "t",
            "partition": 0,
            "offset": offset,
            "element": 0,
            "is_delete": row is None,
            "content": row,
        }
        for offset, (key, sequence, row) in enumerate(sent)
    ]
    return in_position(pa.Table.from_pylist(rows[::-1]))


def written(*rows: tuple[str, int, Any]) -> pa.Table:
    """Return rows and tombstones as a batch writes them."""
    return pa.Table.from_pylist(
        [
            {
                "action": "tombstone" if row is None else "row",
                "key": key,
                "named": {"key": key},
                "content": row,
                "metadata": {"sequence": {"major": sequence, "minor": 0}, "version": 1},
            }
            for key, sequence, row in rows
        ]
    )


@pytest.mark.parametrize(
    ("sent", "beyond", "counts"),
    [
        pytest.param([("a", 1, "x"), ("b", 2, "x")], [0, 1], {"applied": 2}, id="alone"),
        pytest.param([("a", 1, "x"), ("a", 2, "y")], [1], {"applied": 2}, id="in order"),
        pytest.param([("a", 2, "x"), ("a", 1, "y")], [0], {"applied": 1, "stale": 1}, id="late"),
        pytest.param(
            [("a", 2, "x"), ("a", 2, "x")], [1], {"applied": 1, "duplicate": 1}, id="twice"
        ),
        pytest.param([("a", 2, None), ("a", 2, None)], [1], {"applied": 1, "duplicate": 1}),
        pytest.param([("a", 2, "x"), ("a", 2, "y")], [], {}, id="same sequence, other row"),
        pytest.param([("a", 2, "x"), ("a", 2, None)], [], {}, id="same sequence, a delete"),
        pytest.param(
            [("a", 2, "x"), ("a", 1, "y"), ("a", 2, "x")], [], {}, id="twice, and one between"
        ),
        pytest.param([("a", -1, "x"), ("a", 1, "y")], [1], {"applied": 2}, id="after a load"),
        pytest.param([("a", 1, "x"), ("a", -1, "y")], [], {}, id="a load that is late"),
    ],
)
def test_the_newest_change_decides(
    sent: list[Sent], beyond: list[int], counts: dict[str, int]
) -> None:
    """It does unless only the rule of tables knows what became of the others."""
    found = newest_of(effects(*sent), RecentRows(()))
    assert (sorted(found.beyond), found.counts) == (beyond, counts)
    keys = {sent[row][0] for row in beyond}
    assert found.others == [i for i, (key, *_) in enumerate(sent) if key not in keys]
    assert found.looked_up == len({key for key, *_ in sent} - keys)
    assert found.newest == max(((sent[row][1], 0) for row in beyond), default=())


def test_rows_that_were_written_last_are_remembered() -> None:
    """Keys among them have marks of their own; all others have that of the table before them."""
    rows = RecentRows((10, 0))
    rows = rows.with_batch((10, 0), written(("a", 30, "x"), ("b", 40, None)), (40, 0))
    sent = effects(("a", 30, "x"), ("b", 41, "y"), ("c", 11, "z"), ("d", 10, "z"))
    found = newest_of(sent, rows)
    assert (sorted(found.beyond), found.others) == ([1, 2], [0, 3])
    assert found.counts == Counter(applied=2)
    (row,) = rows.held(["a", "d"])
    assert (row["key"], row["content"], row["origin"]) == ("a", "x", 1)
    (tombstone,) = rows.held(["b"])
    assert (tombstone["content"], tombstone["named"], tombstone["origin"]) == (None, None, 2)


def test_what_is_remembered_is_not_changed_in_place() -> None:
    """What was decided on must not change while the next batch is written."""
    rows = RecentRows(()).with_batch((), written(("a", 1, "x")), (1, 0))
    later = rows.with_batch((1, 0), written(("a", 2, "y"), ("b", 3, "y")), (3, 0))
    assert (later.sequences, later.bound) == ({"a": (2, 0), "b": (3, 0)}, ())
    assert (rows.sequences, rows.bound) == ({"a": (1, 0)}, ())
    assert [row["content"] for row in rows.held(["a", "b"])] == ["x"]


def test_a_later_batch_takes_the_place_of_an_earlier_one(monkeypatch: Any) -> None:
    """Of a key in both its row is remembered, and the earlier ones are forgotten if it is much."""
    rows = RecentRows(())
    rows = rows.with_batch((), written(("a", 1, "x"), ("b", 2, "x")), (2, 0))
    rows = rows.with_batch((2, 0), written(("a", 3, "y")), (3, 0))
    assert rows.sequences == {"a": (3, 0), "b": (2, 0)}
    assert [row["content"] for row in rows.held(["a"])] == ["y"]
    monkeypatch.setattr(recent, "MOST_ROWS", 2)
    rows = rows.with_batch((3, 0), written(("c", 5, "z"), ("d", 4, "z")), (5, 0))
    assert (rows.sequences, rows.bound) == ({"c": (5, 0), "d": (4, 0)}, (3, 0))
    monkeypatch.setattr(recent, "MOST_ROWS", 0)
    rows = rows.with_batch((5, 0), written(("e", 6, "z")), (6, 0))
    assert (rows.sequences, rows.bound, [*rows.held("e")]) == ({}, (6, 0), [])


@pytest.mark.parametrize("limit", ["MOST_ROWS", "MOST_BYTES"])
def test_only_so_much_is_remembered_of_all_tables(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """The rows of the tables that were used longest ago are forgotten; their mark is kept."""
    rows = RecentRows(()).with_batch((), written(("a", 1, "x"), ("b", 2, "x")), (2, 0))
    most = {"MOST_ROWS": 3 * rows.rows, "MOST_BYTES": 3 * rows.bytes}
    monkeypatch.setattr(states, limit, most[limit])
    monkeypatch.setattr(states, "STATES", OrderedDict())
    keys = [("delta", f"t{number}") for number in range(4)]
    for key in keys:
        states.keep_state(key, states.TableState({}, "", OLDEST, (2, 0), recent=rows))
    found = [states.STATES[key] for key in keys]
    assert [one.mark for one in found] == [(2, 0)] * 4
    assert [one.recent for one in found] == [None, rows, rows, rows]
