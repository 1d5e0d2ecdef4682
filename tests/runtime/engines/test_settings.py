"""Settings by table: which of them a table has, and which are not settings."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from changewire.engines.options import TableOptions
from changewire.engines.partitions import partition_of, transform_fault
from changewire.engines.settings import SettingsByTable, TableSettings

SETTINGS: dict[str, TableSettings] = {
    "*": {"columns": {"*_at": "timestamp", "price": "double", "note": "string"}},
    "shop.*": {"columns": {"price": "decimal(10,2)", "paid_*": "date"}},
    "shop.order*": {"columns": {"price": "decimal(11,2)"}},
    "shop.orders": {"columns": {"price": "decimal(12,2)"}},
}


@pytest.mark.parametrize(
    ("names", "price"),
    [
        (["shop.orders"], "decimal(12,2)"),
        (["shop.orders_2"], "decimal(11,2)"),
        (["shop.users"], "decimal(10,2)"),
        (["crm.users"], "double"),
        (["crm.users", "shop.orders"], "decimal(12,2)"),
    ],
)
def test_the_most_exact_pattern_counts(names: list[str], price: str) -> None:
    """A name comes before globs, and a longer glob before a shorter one; mappings are merged."""
    found = SettingsByTable(SETTINGS).of(names).types_of(["price", "note", "other"])
    assert found == {"price": price, "note": "string"}


def test_columns_have_globs_too() -> None:
    """The longer glob counts, whichever table names it."""
    found = SettingsByTable(SETTINGS).of(["shop.users"])
    assert found.types_of(["made_at", "paid_at"]) == {"made_at": "timestamp", "paid_at": "date"}
    assert SettingsByTable({"shop.orders": {}}).of(["shop.users"]).columns == {}


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ([], "tables: expected names of tables, or globs, with their settings, found []"),
        ({"": {}}, "tables: a name is text that is not empty, not ''"),
        ({"t": 1}, "tables: 't': expected settings, found 1"),
        ({"t": {"colums": {}}}, "tables: 't': no setting 'colums'; there are: columns, "),
        ({"t": {"columns": ["a"]}}, "tables: 't': columns: expected names of columns with their"),
        ({"t": {"columns": {"a": 5}}}, "tables: 't': columns: 'a': expected a type, found 5"),
        ({"t": {"partition_by": "a"}}, "tables: 't': partition_by: expected a list of columns"),
        ({"t": {"cluster_by": ["a", "a"]}}, "tables: 't': cluster_by: a column is named twice"),
        ({"t": {"deletes": "keep"}}, "tables: 't': deletes: 'keep' is not one of: remove, flag"),
        ({"t": {"misfits": None}}, "tables: 't': misfits: None is not one of: rescue, refuse"),
        ({"t": {"properties": {"a": True}}}, "tables: 't': properties: 'a': expected text"),
        ({"t": {"properties": {"changewire.keys": ""}}}, "are those of changewire"),
        ({"t": {"properties": {"a": "it's"}}}, "a property has no quotes and no backslashes"),
        ({"t": {"columns": {"a": "txt"}}}, "tables: 't': columns: 'a': 'txt' is not a type"),
    ],
)
def test_errors_name_the_place(tables: Any, reason: str) -> None:
    """They say what is known there."""
    with pytest.raises(ValueError, match=r"^tables: ") as error:
        TableOptions("lake/{table}", tables=tables)
    assert reason in str(error.value)


def test_partitions_are_columns_or_transforms() -> None:
    """Text that is not a transform is the name of a column."""
    texts = ["days(made at)", "bucket(16, id)", "hours(x", "bucket(id)"]
    (found,) = SettingsByTable({"t": {"partition_by": texts}}).all_of("partition_by")
    assert found == (
        ("made at", "days", 0),
        ("id", "bucket", 16),
        ("hours(x", "", 0),
        ("bucket(id)", "", 0),
    )


@pytest.mark.parametrize(
    ("text", "taken", "refused"),
    [
        ("days(at)", {"date", "timestamp", "timestamp_ntz"}, {"string", "bigint", "decimal(3,1)"}),
        ("hours(at)", {"timestamp"}, {"date", "string"}),
        ("bucket(16, at)", {"string", "bigint", "decimal(3,1)", "date"}, {"double", "boolean"}),
        ("at", {"string", "double"}, set()),
    ],
)
def test_transforms_take_some_types(text: str, taken: set[str], refused: set[str]) -> None:
    """A transform of a column that it does not take is refused before the table is made."""
    part = partition_of(text)
    assert [*map(partial(transform_fault, part), sorted(taken))] == [None] * len(taken)
    for kind in refused:
        expected = f"column 'at' is {kind}, which {text} does not take"
        assert transform_fault(part, kind) == expected
