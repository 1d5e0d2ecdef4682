"""Many tables: which one a change goes to, and which names do not go together."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.tables.histories import (
    NOW,
    applied,
    change,
    content,
    deliveries,
    histories,
    placed,
    rows,
    steady,
)
from tests.runtime.tables.model import tables_of

from changewire.tables import (
    ChangePosition,
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    template_of,
)


def test_one_topic_may_feed_many_tables() -> None:
    """Each table has its own rows, the same keys among them."""
    tables, result = applied(placed(change(a=1), change(table="u", a=2)))
    assert (rows(tables), rows(tables, "u")) == ([{"id": 1, "a": 1}], [{"id": 1, "a": 2}])
    assert result.counts == {"applied": 2}


def test_a_delete_without_set_goes_to_every_table_of_its_namespace() -> None:
    """It reaches the tables of its database, and no other database's."""
    writes = [change(), change(table="u"), change(table="v", database="other")]
    tables, result = applied(placed(*writes, change("delete", sequence=2, table=None)))
    assert [rows(tables, name) for name in "tuv"] == [[], [], [{"id": 1}]]
    assert result.counts == {"applied": 5}


def test_a_delete_without_set_holds_for_tables_that_come_later() -> None:
    """A late write to an unknown table does not bring the row back."""
    tables, _ = applied(placed(change("delete", sequence=5, table=None)))
    _, result = applied(placed(change(sequence=4), change(key=2), start=1), tables=tables)
    assert (rows(tables), result.counts) == ([{"id": 2}], {"applied": 1, "stale": 1})


@steady
@given(st.data())
def test_deletes_without_set_in_any_history(data: Any) -> None:
    """MemoryTables with deletes that name none are those of the model, in any order of changes."""
    history = data.draw(histories(("full", "patch")))
    for number in data.draw(st.lists(st.integers(41, 50), max_size=2, unique=True)):
        gone = change("delete", data.draw(st.integers(1, 3)), number % 45, table=None)
        history.append(PositionedChange(gone, ChangePosition("z", 0, number, 0)))
    tables, _ = applied(*data.draw(deliveries(history)))
    assert content(tables) == tables_of(history)


def test_a_write_without_set_goes_to_null_set() -> None:
    """It goes to the table that is named for it; where none is, it is a dead letter."""
    write = placed(change(table=None))
    assert rows(applied(write)[0], "null") == [{"id": 1}]
    tables = MemoryTables()
    result = apply_changes(tables, write, Routing(template_of("{table}")), NOW)
    assert (result.counts, result.dead_letters) == (
        {"table-missing": 1},
        [(write[0], "table-missing")],
    )
    assert not tables.tables


def test_names_that_differ_only_in_case_collide() -> None:
    """The first one keeps the name; changes for the other are dead letters, and applied nowhere."""
    both = placed(change(a=1), change(table="T", a=2))
    tables, result = applied(both)
    assert rows(tables) == [{"id": 1, "a": 1}]
    assert result.dead_letters == [(both[1], "name-collision")]
    assert result.counts == {"applied": 1, "name-collision": 1}


def test_names_that_run_together_collide() -> None:
    """Two sources are never one table because of how their names are joined."""
    routing = Routing(template_of("{database}_{table}"))
    both = placed(change(database="a_b", table="c"), change(database="a", table="b_c"))
    result = apply_changes(MemoryTables(), both, routing, NOW)
    assert result.counts == {"applied": 1, "name-collision": 1}


def test_sources_may_share_a_table_if_the_template_says_so() -> None:
    """Shards go to one table if no field of the template distinguishes them."""
    shards = placed(change(key=1, database="s1"), change(key=2, database="s2"))
    assert rows(applied(shards)[0]) == [{"id": 1}, {"id": 2}]
