"""Many tables: which one a change goes to, and which names do not go together."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.runtime.tables.histories import (
    ROUTING,
    applied,
    change,
    content,
    deliveries,
    histories,
    placed,
    rows,
    steady,
    truncate,
)
from tests.runtime.tables.model import filled, tables_of

from changewire.tables import (
    ChangePosition,
    MemoryTables,
    PositionedChange,
    Routing,
    apply_changes,
    template_of,
)
from changewire.tables.merge import merged
from changewire.tables.mutations import mutations
from changewire.tables.routing import (
    APPLY_FAILED,
    WRITE,
    KnownTables,
    Refusal,
    apply_failed,
    find_routes,
    route,
)


def test_one_topic_may_feed_many_tables() -> None:
    """Each table has its own rows, the same keys among them."""
    tables, result = applied(placed(change(a=1), change(table="u", a=2)))
    assert (rows(tables), rows(tables, "u")) == ([{"id": 1, "a": 1}], [{"id": 1, "a": 2}])
    assert result.counts == {"inserted": 2}


def test_a_delete_without_set_goes_to_every_table_of_its_namespace() -> None:
    """It reaches the tables of its database, and no other database's."""
    writes = [change(), change(table="u"), change(table="v", database="other")]
    tables, result = applied(placed(*writes, change("delete", sequence=2, table=None)))
    assert [rows(tables, name) for name in "tuv"] == [[], [], [{"id": 1}]]
    assert result.counts == {"inserted": 1}
    _, result = applied(
        placed(change("delete", sequence=2, database="other", table=None)), tables=tables
    )
    assert (rows(tables, "v"), result.counts) == ([], {"deleted": 1})


def test_a_delete_without_set_holds_for_tables_that_come_later() -> None:
    """A late write to an unknown table does not bring the row back."""
    tables, _ = applied(placed(change("delete", sequence=5, table=None)))
    _, result = applied(placed(change(sequence=4), change(key=2), start=1), tables=tables)
    assert (rows(tables), result.counts) == ([{"id": 2}], {"inserted": 1})


def test_a_delete_without_set_holds_for_a_table_that_a_delete_brings() -> None:
    """A table that its batch brings by a delete alone has the deletes without set as well."""
    tables, _ = applied(
        placed(change("delete", sequence=6), change("delete", sequence=9, table=None))
    )
    applied(placed(change(sequence=8), start=2), tables=tables)
    assert rows(tables) == []


@steady
@given(st.data())
def test_deletes_without_set_in_any_history(data: Any) -> None:
    """Tables with deletes that name none are those of the model, in any order of changes."""
    history = data.draw(histories(("full", "patch")))
    for number in data.draw(st.lists(st.integers(41, 50), max_size=2, unique=True)):
        gone = change("delete", data.draw(st.integers(1, 3)), number % 45, table=None)
        history.append(PositionedChange(gone, ChangePosition("z", 0, number, 0)))
    tables, _ = applied(*data.draw(deliveries(history)))
    assert filled(content(tables)) == filled(tables_of(history, befores_wait=True))


def test_a_write_without_set_goes_to_the_default_table() -> None:
    """It goes to the table that is named for it; where none is, it is refused."""
    write = placed(change(table=None))
    assert rows(applied(write)[0], "null") == [{"id": 1}]
    tables = MemoryTables()
    result = apply_changes(tables, write, Routing(template_of("{table}")))
    assert (result.counts, result.refused) == ({"refused": 1}, [(write[0], "table-missing")])
    assert not tables.tables


def test_names_that_differ_only_in_case_collide() -> None:
    """The first one keeps the name; changes for the other are refused, and applied nowhere."""
    first, other = placed(change(a=1), change(table="T", a=2))
    tables, result = applied([first], [other, first])
    assert rows(tables) == [{"id": 1, "a": 1}]
    assert result.refused == [(other, "name-collision")]
    assert result.counts == {"refused": 1}


def test_names_that_run_together_collide() -> None:
    """Two sources are never one table because of how their names are joined."""
    routing = Routing(template_of("{database}_{table}"))
    both = placed(change(database="a_b", table="c"), change(database="a", table="b_c"))
    result = apply_changes(MemoryTables(), both, routing)
    assert result.counts == {"inserted": 1, "refused": 1}
    assert [code for _, code in result.refused] == ["name-collision"]


def test_sources_may_share_a_table_if_the_template_says_so() -> None:
    """Shards go to one table if no field of the template distinguishes them."""
    shards = placed(change(key=1, database="s1"), change(key=2, database="s2"))
    assert rows(applied(shards)[0]) == [{"id": 1}, {"id": 2}]


def test_a_target_without_table_takes_one_source() -> None:
    """Changes of any other table are refused, whatever they do, in later batches too."""
    routing, tables = Routing(template_of("all_{system}")), MemoryTables()
    nameless = change("delete", 2, 9, table=None)
    first = placed(
        change(a=1),
        change(key=2, a=1),
        change(table="u", a=2),
        change(database="e", a=2),
        change(table=None, a=2),
    )
    later = placed(
        change("delete", sequence=5, table="u"),
        change("delete", 1, 6, table=None, database="e"),
        truncate(9, "u"),
        replace(nameless, source=replace(nameless.source, database=None)),
        change(sequence=3, a=3),
        start=10,
    )
    result = apply_changes(tables, first, routing, apply_truncates=True)
    assert result.refused == [(one, "second-source") for one in first[2:]]
    result = apply_changes(tables, later, routing, apply_truncates=True)
    assert result.refused == [(one, "second-source") for one in (later[0], later[2])]
    (table,) = tables.tables.values()
    assert [*table.content()] == [{"id": 1, "a": 3}]


def test_the_source_of_a_target_is_the_one_that_writes_to_it() -> None:
    """Neither a delete nor a truncate says it, and writes without a table have the default one."""
    routing, tables = Routing(template_of("all"), default_table="no_set"), MemoryTables()
    both = placed(change("delete", table="a"), truncate(1, "a"), change(table=None, a=1))
    first = apply_changes(tables, both, routing, apply_truncates=True)
    assert first.refused == [(one, "second-source") for one in both[:2]]
    named, other = placed(change(key=2, table="no_set"), change(key=3, table="t"), start=10)
    assert apply_changes(tables, [named, other], routing).refused == [(other, "second-source")]


def test_several_sources_feed_one_table_if_that_is_asked_for() -> None:
    """Then rows with the same key are one."""
    routing, tables = Routing(template_of("all"), one_table=True), MemoryTables()
    both = placed(change(a=1), change(sequence=2, table="u", a=2))
    assert apply_changes(tables, both, routing).counts == {"inserted": 1}
    (table,) = tables.tables.values()
    assert [*table.content()] == [{"id": 1, "a": 2}]


def faulty(real: Any, bad: str) -> Any:
    """Return a function that raises if its arguments have a text in them."""

    def function(*arguments: Any) -> Any:
        if bad in str(arguments):
            raise ZeroDivisionError("a value of a message")
        return real(*arguments)

    return function


def test_a_change_that_fails_is_refused_as_a_whole() -> None:
    """One that moves a row leaves it where it was; the others are applied."""
    history = placed(
        change(key=1, sequence=1, a="valid"),
        change("update", 2, 2, old=1, before={"id": 1}, a="bad"),
        change(key=3, sequence=3, a="valid"),
    )
    with patch("changewire.tables.apply.merged", faulty(merged, "bad")):
        tables, result = applied(history)
    assert rows(tables) == [{"id": 1, "a": "valid"}, {"id": 3, "a": "valid"}]
    assert result.refused == [(history[1], "apply-failed")]
    assert result.counts == {"inserted": 2, "refused": 1}


def test_a_change_that_cannot_be_read_is_refused() -> None:
    """The other changes are applied."""
    history = placed(change(a=1), change(key=2, a="bad"))
    with patch("changewire.tables.apply.mutations", faulty(mutations, "bad")):
        tables, result = applied(history)
    assert rows(tables) == [{"id": 1, "a": 1}]
    assert result.refused == [(history[1], "apply-failed")]


def test_a_source_whose_routing_fails_is_refused_alone() -> None:
    """The tables of other sources get their changes."""
    history = placed(change(a=1), change(table="u", a=1))
    sources = {(one.change.source, WRITE) for one in history}
    with patch("changewire.tables.routing.route", faulty(route, "table='u'")):
        tables, result = applied(history)
        refused = find_routes(sources, ROUTING, KnownTables()).refused
    assert [*tables.tables] == ["`t`"]
    assert result.refused == [(history[1], "apply-failed")]
    why = Refusal(APPLY_FAILED, "/source", "routing raised ZeroDivisionError")
    assert refused == {(history[1].change.source, WRITE): why}


def test_a_refusal_does_not_have_the_text_of_the_error() -> None:
    """It has the place, the step and the type of the error; errors of the machine are raised."""
    refusal = apply_failed(ValueError("a value of a message"), "/after/a", "merging")
    assert refusal == Refusal(APPLY_FAILED, "/after/a", "merging raised ValueError")
    with pytest.raises(MemoryError):
        apply_failed(MemoryError(), "/after/a", "merging")


def test_deletes_without_set_of_one_key_are_joined() -> None:
    """The newest of them decides which writes are late, in whatever order they arrive."""
    deletes = [change("delete", sequence=number, table=None) for number in (5, 3)]
    for order in (deletes, deletes[::-1]):
        tables, _ = applied(placed(*order))
        applied(placed(change(sequence=4), start=2), tables=tables)
        assert rows(tables) == []


def test_a_batch_may_bring_so_many_tables() -> None:
    """Changes of other tables are refused, and a later batch takes them."""
    routing = Routing(template_of("{table}"), max_new_tables=1)
    tables, both = MemoryTables(), placed(change(), change(table="u"))
    result = apply_changes(tables, both, routing)
    assert result.refused == [(both[1], "too-many-tables")]
    assert apply_changes(tables, both, routing).counts == {"inserted": 1}
    assert [rows(tables, name) for name in "tu"] == [[{"id": 1}], [{"id": 1}]]
