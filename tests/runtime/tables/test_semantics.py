"""Each sentence of what changes mean for a table, one test for each."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.dataworks import change as dataworks_change
from tests.runtime.tables.histories import (
    applied,
    change,
    content,
    deliveries,
    histories,
    placed,
    rows,
    steady,
)
from tests.runtime.tables.model import filled, tables_of

from changewire.changes.identity import identity_of, is_one_row
from changewire.framing import Position as RecordPosition
from changewire.tables import ChangePosition, PositionedChange, position_of
from changewire.tables.order import position_in

NAMES = ("topic", "partition", "offset", "path", "number")


def after(*changes: Any, **options: Any) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the rows after changes that came one by one, and all that was counted."""
    tables, counts = None, dict[str, int]()
    for one in placed(*changes):
        tables, result = applied([one], tables=tables, **options)
        for name, number in result.counts.items():
            counts[name] = counts.get(name, 0) + number
    assert tables is not None
    return rows(tables), counts


@pytest.mark.parametrize("op", ["insert", "update", "upsert", "read"])
def test_insert_update_upsert_and_read_apply_alike(op: str) -> None:
    """Each leaves the row that it holds, whether or not there was one."""
    assert after(change(op, a=1))[0] == [{"id": 1, "a": 1}]
    assert after(change(b=2), change(op, sequence=2, a=1))[0] == [{"id": 1, "a": 1}]


def test_a_key_update_is_a_delete_and_an_upsert() -> None:
    """The row leaves its old key, also where the change of that key comes late."""
    move = change("update", 2, 5, old=1, a=1)
    assert after(change(a=1), move) == ([{"id": 2, "a": 1}], {"inserted": 2, "deleted": 1})
    assert after(move, change(a=1)) == ([{"id": 2, "a": 1}], {"inserted": 1})


def test_keys_that_are_swapped_in_one_transaction() -> None:
    """The old key is left at (S, 0), before what the same transaction puts there."""
    swap = [change("update", 2, 5, old=1, a=1), change("update", 1, 5, old=2, a=2)]
    for order in (swap, swap[::-1]):
        assert after(*order)[0] == [{"id": 1, "a": 2}, {"id": 2, "a": 1}]


def test_a_full_image_removes_absent_columns() -> None:
    """What the newer image does not hold is gone; a null is a value."""
    assert after(change(a=1, b=2), change(sequence=2, a=None))[0] == [{"id": 1, "a": None}]


def test_a_patch_leaves_absent_columns() -> None:
    """Absent means unchanged; null, or in `before` and not in `after`, means removed."""
    patch = change(sequence=2, row_image="patch", before={"b": 2}, a=3, c=None)
    assert after(change(a=1, b=2, c=3, d=4), patch)[0] == [{"id": 1, "a": 3, "d": 4}]


def test_newer_is_decided_for_each_column_of_a_patch() -> None:
    """A late patch sets the columns that no newer one has set."""
    late = change(sequence=2, row_image="patch", a=2, b=2)
    newer = change(sequence=3, row_image="patch", a=3)
    assert after(change(), newer, late)[0] == [{"id": 1, "a": 3, "b": 2}]


def test_deletes_and_full_images_set_the_floor_of_patches() -> None:
    """A patch that is older than either changes nothing, whatever came since."""
    late = change(sequence=4, row_image="patch", b=1)
    newer = change(sequence=6, row_image="patch", a=6)
    assert after(change("delete", sequence=5), newer, late)[0] == [{"id": 1, "a": 6}]
    assert after(change(sequence=5, c=5), newer, late)[0] == [{"id": 1, "a": 6, "c": 5}]


def test_keys_change_no_column() -> None:
    """They say that the row is there: a new row has its key, and a late row still fills it."""
    keys = change(sequence=9, row_image="keys", a=7)
    assert after(change(a=1), keys)[0] == [{"id": 1, "a": 1}]
    assert after(keys)[0] == [{"id": 1}]
    assert after(change(a=1), keys, change(sequence=8, a=8))[0] == [{"id": 1, "a": 8}]


def test_a_change_applies_only_if_it_is_newer() -> None:
    """An older write or delete changes nothing."""
    found = after(change(sequence=5, a=5), change(sequence=4, a=4), change("delete", sequence=3))
    assert found == ([{"id": 1, "a": 5}], {"inserted": 1})


def test_ties_go_by_position() -> None:
    """Of one sequence the later position is newer."""
    assert after(change(a=1), change(a=2)) == ([{"id": 1, "a": 2}], {"inserted": 1, "updated": 1})
    same, other, again = placed(change(a=1), change(a=2), change(a=1))
    tables, result = applied([same], [again], [other])
    assert (rows(tables), result.counts) == ([{"id": 1, "a": 1}], {})


def test_a_change_that_comes_again_has_no_effect() -> None:
    """Nothing is counted of it, alone or in a batch."""
    history = placed(change(a=1), change("delete", sequence=2), change(sequence=3))
    tables, _ = applied(history)
    for batch in (history, *([one] for one in history)):
        assert applied(batch, tables=tables)[1].counts == {}
    assert rows(tables) == [{"id": 1}]


def test_positions() -> None:
    """Kafka places go by topic, partition, offset and element, files by path and number."""
    assert position_of(RecordPosition("t", 1, 2, path="p"), 3) == ChangePosition("t", 1, 2, 3)
    assert position_of(RecordPosition(path="p", number=4)) == ChangePosition("p", -1, 4, 0)
    assert position_of(RecordPosition(path="p", number=9)) < position_of(
        RecordPosition(path="p", number=10)
    )
    assert position_of(RecordPosition()) == ChangePosition("", -1, -1, 0)


def test_the_position_of_a_decoded_row() -> None:
    """Kafka's columns go before those of files; what is missing comes before everything."""
    record = dict(zip(NAMES, ("t", 1, 2, "p", 3), strict=True))
    file = {**record, "topic": None, "partition": None, "offset": None}
    assert position_in({**record, "element": 4}) == ChangePosition("t", 1, 2, 4)
    assert position_in({**file, "element": 4}) == ChangePosition("p", -1, 3, 4)
    nothing = dict.fromkeys(NAMES)
    assert position_in({**nothing, "element": 0}) == ChangePosition("", -1, -1, 0)


def test_a_change_without_sequence_takes_that_of_the_change_before_it() -> None:
    """In its batch, or else on the row or tombstone, so that it is newer than these."""
    history = placed(change(sequence=5, a=5), change(sequence=None, a=6), change(sequence=4, a=4))
    for batches in ([history], [[one] for one in history]):
        tables, _ = applied(*batches)
        assert rows(tables) == [{"id": 1, "a": 6}]
    assert after(change("delete", sequence=5), change(sequence=None), change(sequence=4)) == (
        [{"id": 1}],
        {"sequence_inherited": 1, "inserted": 1},
    )


def test_a_change_without_any_sequence_before_it_is_oldest() -> None:
    """Any sequenced change is newer, wherever it stands; among themselves positions decide."""
    found = after(change(sequence=None, a=1), change(sequence=None, a=2))
    assert found[0] == [{"id": 1, "a": 2}]
    late = placed(change(sequence=(-5, 0), a=3))
    early = placed(change(sequence=None, a=4), start=9, partition=1)
    assert rows(applied([*late, *early])[0]) == [{"id": 1, "a": 3}]


def test_a_late_change_does_not_lower_what_is_inherited() -> None:
    """The greatest sequence before it counts, so that batches make no difference."""
    history = placed(change(sequence=5, a=5), change(sequence=3, a=3), change(sequence=None, a=6))
    for batches in ([history], [history[:2], history[2:]]):
        assert rows(applied(*batches)[0]) == [{"id": 1, "a": 6}]


def test_a_full_load_row_does_not_replace_a_sequenced_one() -> None:
    """Nor does it bring a deleted row back."""
    load = change("insert", sequence=(-1, 1), a=0)
    assert after(change(a=1), load) == ([{"id": 1, "a": 1}], {"inserted": 1})
    assert after(change("delete"), load) == ([], {})
    assert rows(applied(placed(change(a=1), load))[0]) == [{"id": 1, "a": 1}]
    assert after(load, change(a=1)) == ([{"id": 1, "a": 1}], {"inserted": 1, "updated": 1})


def test_a_late_upsert_does_not_bring_a_deleted_row_back() -> None:
    """The delete is newer, and never forgotten; a newer upsert makes the row anew."""
    gone = change("delete", sequence=5)
    assert after(change(), gone, change(sequence=4)) == ([], {"inserted": 1, "deleted": 1})
    assert after(change(b=1), gone, change(sequence=6, a=1))[0] == [{"id": 1, "a": 1}]


def test_a_before_image_waits_for_its_after_image() -> None:
    """Its key is deleted at (S, 0), if the row has another key at (S, 1), whichever comes first."""
    before = change("update", 1, (5, 0), before={"id": 1, "a": 1}, is_lone=True)
    moved = change("update", 2, (5, 1), a=2)
    same = change("update", 1, (5, 1), a=2)
    for images, expected in ([before, moved], 2), ([before, same], 1):
        for order in (images, images[::-1]):
            assert after(change(a=1), *order)[0] == [{"id": expected, "a": 2}]
            tables, _ = applied(placed(change(a=1), *order))
            assert rows(tables) == [{"id": expected, "a": 2}]
    waits = {"inserted": 1, "waiting_before_images": 1}
    assert after(change(a=1), before) == ([{"id": 1, "a": 1}], waits)
    assert after(change(a=1), before, moved)[1] == {**waits, "inserted": 2, "deleted": 1}


def test_a_before_image_waits_for_the_after_image_of_its_own_update() -> None:
    """Those of another table, of another sequence or of an initial load are of other updates."""
    before = change("update", 1, (5, 0), before={"id": 1, "a": 1}, is_lone=True)
    others = [
        change("update", 2, (6, 1), a=2),
        change("update", 2, (5, 1), table="u", a=2),
        change("upsert", 3, (5, 1), a=2),
    ]
    rows_after = after(change(a=1), before, *others)[0]
    assert rows_after == [{"id": 1, "a": 1}, {"id": 2, "a": 2}, {"id": 3, "a": 2}]
    load = change("update", 1, (-1, 0), before={"id": 1}, is_lone=True)
    assert after(load, change("update", 2, (-1, 1)), change(sequence=-1))[0] == [
        {"id": 1},
        {"id": 2},
    ]


def test_a_before_image_of_a_patch_or_of_keys_changes_nothing() -> None:
    """It waits for nothing, and its key stays, also if the row has another key."""
    for image in ("patch", "keys"):
        before = change("update", 1, (5, 0), row_image=image, before={"id": 1}, is_lone=True)
        moved = change("update", 2, (5, 1), b=2)
        assert after(change(a=1), before) == ([{"id": 1, "a": 1}], {"inserted": 1})
        assert after(change(a=1), before, moved)[0] == [{"id": 1, "a": 1}, {"id": 2, "b": 2}]


def test_images_of_an_update_that_moves_a_row() -> None:
    """UPDATE_BEFOR deletes the old key, before or after UPDATE_AFTER sets the new one."""
    load, before, moved = placed(
        dataworks_change("INSERT", after={"id": 1}, sequenceId="4"),
        dataworks_change("UPDATE_BEFOR", before={"id": 1}, sequenceId="5"),
        dataworks_change("UPDATE_AFTER", after={"id": 2}, sequenceId="5"),
    )
    for batches in ([[load], [before], [moved]], [[moved], [before], [before], [load]]):
        (table,) = applied(*batches)[0].tables.values()
        assert list(table.content()) == [{"id": 2}]


def test_a_change_without_key_is_counted_and_not_applied() -> None:
    """There is no row that it could be for."""
    assert after(change(), change(key=None, sequence=2)) == (
        [{"id": 1}],
        {"inserted": 1, "key_missing": 1},
    )


def test_counts_are_those_of_the_whole_batch() -> None:
    """Each row and each change of a batch counts, in all of its tables."""
    first = [change(key=key, table=table) for key in (1, 2) for table in "tu"]
    second = [
        *(change(key=1, sequence=2, table=table, a=1) for table in "tu"),
        *(change("delete", 2, 2, table=table) for table in "tu"),
        *(change(key=None) for _ in range(3)),
    ]
    tables, result = applied(placed(*first))
    assert result.counts == {"inserted": 4}
    _, result = applied(placed(*second, start=4), tables=tables)
    assert result.counts == {"updated": 2, "deleted": 2, "key_missing": 3}
    more = [change(key=key, sequence=None) for key in (1, 1, 3, 4)]
    _, result = applied(placed(*more, start=11), tables=tables)
    assert result.counts == {"inserted": 2, "updated": 1, "sequence_inherited": 4}
    many = [change(key=key, sequence=3) for key in (3, 4)]
    _, result = applied(placed(*many, start=15), tables=tables)
    assert result.counts == {"updated": 2}


def test_truncate_applies_only_if_asked() -> None:
    """Otherwise it is counted, as a statement without rows is."""
    controls = [change(op, key=None) for op in ("truncate", "ddl", "heartbeat", "statement")]
    counts = {"inserted": 1, "truncates_not_applied": 1, "statements_without_rows": 1}
    assert after(change(), *controls) == ([{"id": 1}], counts)


def test_truncate_sets_the_floor_of_its_table() -> None:
    """Older rows leave it and do not come back; newer ones, and other tables, stay."""
    truncate = change("truncate", None, 5)
    writes = [change(), change(key=2, sequence=6), change(table="u")]
    tables, result = applied(placed(*writes, truncate), apply_truncates=True)
    assert (rows(tables), rows(tables, "u")) == ([{"id": 2}], [{"id": 1}])
    assert result.counts == {"inserted": 2}
    applied(placed(change(sequence=4), start=9), tables=tables)
    assert rows(tables) == [{"id": 2}]
    again = placed(change("truncate", None, 7), start=10)
    assert applied(again, tables=tables, apply_truncates=True)[1].counts == {"deleted": 1}
    assert (rows(tables), rows(tables, "u")) == ([], [{"id": 1}])


def test_truncate_without_sequence_is_refused() -> None:
    """Nothing says which rows are older."""
    (truncate,) = placed(change("truncate", None, None))
    _, result = applied([truncate], apply_truncates=True)
    assert result.refused == [(truncate, "truncate-without-sequence")]


@steady
@given(st.data())
def test_truncates_in_any_history(data: Any) -> None:
    """Tables with truncates are those of the model, in any order of changes."""
    history = data.draw(histories(("full", "patch", "keys")))
    for number in data.draw(st.lists(st.integers(1, 40), max_size=2, unique=True)):
        truncate = change("truncate", None, (number, 2), table=data.draw(st.sampled_from("tu")))
        history.append(PositionedChange(truncate, ChangePosition("z", 0, number, 0)))
    tables, _ = applied(*data.draw(deliveries(history)), apply_truncates=True)
    expected = tables_of(history, truncates=True, befores_wait=True)
    assert filled(content(tables)) == filled(expected)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": "YQ=="}, {"a": b"a"}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": [1, {"x": 1, "y": 2}]}, {"a": [1, {"y": 2, "x": 1}]}, True),
        ({"a": [1]}, {"a": [1.0]}, False),
    ],
)
def test_keys_name_one_row(one: dict[str, Any], other: dict[str, Any], *, is_same: bool) -> None:
    """Keys are compared by name and value; a type of its own is a row of its own."""
    assert (identity_of(one) == identity_of(other)) is is_same
    assert is_one_row(one, other) is is_same
    assert not is_one_row(one, None)
