"""What became of the changes of each table, and that nothing is left over."""

from __future__ import annotations

from tests.runtime.engines.accounts import assert_all_are_explained

from changewire.engines.by_table import (
    MOST_NAMES,
    OTHER_COLUMNS,
    ChangesByTable,
    FirstRefusal,
    MergedRows,
    TableChanges,
    changes_by_table,
)
from changewire.engines.counts import OTHER_TABLES
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.routing import WRITE, RouteKey
from changewire_messages.change import Source

WHY = FirstRefusal("schema-mismatch", "/key/id: expected bigint, found string", ["id"])
ORDERS = Source(system="dataworks", database="shop", schema=None, table="orders")
USERS = Source(system="dataworks", database="shop", schema=None, table="users")
ALL = Source(system="aerospike", database="shop", schema=None, table=None)


def target(name: str) -> Target:
    """Return a target with the name of a table."""
    return Target(name, ("shop", name))


def name_of(one: Target, keys: list[RouteKey]) -> str:
    """Return the name of a table as a log of one source a table has it."""
    assert keys
    return ".".join(filter(None, one.origin))


def test_changes_are_the_sum_of_what_became_of_them() -> None:
    """Of changes that changed no row, some were replaced in their batch."""
    changes = {
        (ORDERS, WRITE): TableChanges(10, 1, 2, WHY, moved=1, before_images=1),
        (ORDERS, DELETE): TableChanges(3),
        (USERS, WRITE): TableChanges(5, 5, first_refusal=WHY),
    }
    done = {"inserted": 2, "updated": 1, "deleted": 3}
    rows = MergedRows(done, asked=7, rescued={"price": 4})
    merged = {target("orders"): ([(ORDERS, WRITE), (ORDERS, DELETE)], rows)}
    found = changes_by_table(changes, merged, name_of)
    assert found["shop.orders"].numbers() == {
        "changes": 13,
        "moved": 1,
        "inserted": 2,
        "updated": 1,
        "deleted": 3,
        "replaced": 3,
        "not_newer": 1,
        "before_images": 1,
        "refused": 1,
        "key_missing": 2,
        "rescued": {"price": 4},
    }
    assert found["shop.users"].numbers() == {"changes": 5, "refused": 5}
    assert found["shop.users"].first_refusal == WHY
    assert found["shop.users"].is_lost
    assert_all_are_explained({name: one.numbers() for name, one in found.items()})


def test_a_delete_of_all_tables_is_among_the_changes_of_each() -> None:
    """A refusal by one of them is counted for its database."""
    changes = {(ALL, DELETE): TableChanges(2, 1, first_refusal=WHY)}
    rows = {"inserted": 0, "updated": 0, "deleted": 2}
    keys = [(ALL, DELETE)]
    merged = {target(name): (keys, MergedRows(rows)) for name in ("orders", "users")}
    found = changes_by_table(changes, merged, name_of)
    assert {name: one.numbers() for name, one in found.items()} == {
        "shop": {"changes": 1, "refused": 1},
        "shop.orders": {"changes": 2, "deleted": 2},
        "shop.users": {"changes": 2, "deleted": 2},
    }


def test_a_format_may_not_say_what_a_merge_did() -> None:
    """Then changes that were neither refused nor without a key were merged."""
    found = TableChanges(9, 1, 1).as_merged(MergedRows(None))
    assert found.numbers() == {"changes": 9, "refused": 1, "key_missing": 1, "merged": 7}


def test_a_format_may_not_say_how_many_rows_it_was_asked_for() -> None:
    """Then changes that were replaced are among those that were not newer."""
    found = TableChanges(9).as_merged(MergedRows({"updated": 2}))
    assert found.numbers() == {"changes": 9, "updated": 2, "not_newer": 7}


def test_rows_that_no_change_explains_are_told() -> None:
    """A table has a row twice; a truncate may change rows that no change of its batch names."""
    rows = {"updated": 2}
    found = TableChanges(1).as_merged(MergedRows(rows))
    assert found.numbers() == {"changes": 1, "updated": 2, "unexplained": 1}
    found = TableChanges(1).as_merged(MergedRows(rows, is_truncated=True))
    assert found.numbers() == {"changes": 1, "updated": 1}


def test_names_are_bounded() -> None:
    """A hostile stream has as many tables and columns as it likes."""
    found = ChangesByTable()
    for number in range(MOST_NAMES + 5):
        one = TableChanges(2, rescued={f"column {number}": 1})
        found.add(f"table {number}", one)
        found.add("table 0", one)
    assert len(found) == MOST_NAMES + 1
    assert found[OTHER_TABLES].changes == 10
    rescued = found["table 0"].rescued
    assert len(rescued) == MOST_NAMES + 1
    assert rescued[OTHER_COLUMNS] == 5
    renamed = found.renamed(lambda _: "t")
    assert renamed["t"].changes == sum(one.changes for one in found.values())
