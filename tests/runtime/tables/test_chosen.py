"""Some tables of the source: which ones globs choose, and what becomes of changes of others."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runtime.tables.histories import change, content, placed, rows, truncate

from changewire.changes.sources import matches
from changewire.tables import Chosen, MemoryTables, Routing, apply_changes, template_of
from changewire.tables.chosen import SeenTables, chosen_tables

NAMES = ["shop.orders", "shop.tmp_1", "shop.tmp_22", "crm.orders", "Shop.orders", "shop.a\nb"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("shop.orders", {"shop.orders"}),
        ("shop.*", {"shop.orders", "shop.tmp_1", "shop.tmp_22", "shop.a\nb"}),
        ("*.orders", {"shop.orders", "crm.orders", "Shop.orders"}),
        ("shop.tmp_?", {"shop.tmp_1"}),
        ("?hop.orders", {"shop.orders", "Shop.orders"}),
        ("shop", set()),
        ("shop.[o]*", set()),
        ("shop.%", set()),
        ("*", {*NAMES}),
    ],
)
def test_globs(glob: str, found: set[str]) -> None:
    """They match whole names, in their case; brackets and signs of SQL stand for themselves."""
    assert {name for name in NAMES if matches(glob, name)} == found


def test_what_is_chosen_and_left_out() -> None:
    """Without globs all tables are; one that is left out is not chosen by another glob."""
    assert all(Chosen().has(name) for name in NAMES)
    both = Chosen(("shop.*",), ("shop.tmp_*", "*\n*"))
    assert [name for name in NAMES if both.has(name)] == ["shop.orders"]
    assert [name for name in NAMES if not Chosen((), ("shop.*",)).has(name)] == [
        name for name in NAMES if name.startswith("shop.")
    ]


@pytest.mark.parametrize(
    ("globs", "error", "sentence"),
    [
        (["a", ""], ValueError, "the name of a table is not empty"),
        (["a.*", "b", "a.*"], ValueError, r"'a\.\*' is given twice"),
        ([], ValueError, "has no name; leave it out to apply all tables"),
        ("shop.*", TypeError, "is a list of names such as"),
    ],
)
def test_globs_that_are_refused(globs: Any, error: type[Exception], sentence: str) -> None:
    """The option is named."""
    with pytest.raises(error, match=f"only_tables:? {sentence}"):
        chosen_tables(globs, None)
    with pytest.raises(error, match=f"except_tables:? {sentence}"):
        chosen_tables(None, globs)


def test_globs_that_no_table_matched() -> None:
    """They are known, with the first names that there were."""
    seen = SeenTables(Chosen(("shop.*", "crm"), ("tmp*",)))
    assert (seen.unmatched_only, seen.names) == (["shop.*", "crm"], [])
    seen.add(["shop.orders", "crm.orders"])
    assert (seen.unmatched_only, seen.unmatched_excepted) == (["crm"], ["tmp*"])
    assert seen.names == ["crm.orders", "shop.orders"]
    seen.add(f"tmp_{number:02}" for number in range(30))
    assert (len(seen.names), seen.unmatched_excepted) == (20, [])


def applied(*changes: Any, chosen: Chosen, **options: Any) -> tuple[MemoryTables, dict[str, int]]:
    """Apply changes of some tables; return the tables and the counts."""
    tables = MemoryTables()
    template, apply_truncates = template_of("{table}"), options.pop("apply_truncates", False)
    routing = Routing(template, chosen=chosen, **options)
    result = apply_changes(tables, placed(*changes), routing, apply_truncates=apply_truncates)
    assert not result.refused
    return tables, result.counts


def test_changes_of_other_tables_are_left_out() -> None:
    """They make no table, and are neither refused nor counted as changes without a key."""
    sent_changes = [change(table="t"), change(table="u"), change(key=None, table="u")]
    tables, counts = applied(*sent_changes, chosen=Chosen(("d.t",)))
    assert (rows(tables), [*content(tables)]) == ([{"id": 1}], ["t"])
    assert counts == {"inserted": 1, "left_out": 2}
    tables, counts = applied(*sent_changes, chosen=Chosen((), ("*.t",)), default_table="t")
    assert ([*content(tables)], counts) == (["u"], {"inserted": 1, "left_out": 1, "key_missing": 1})


def test_a_write_without_table_has_the_default_one() -> None:
    """Globs match the name that it gets."""
    sent_changes = change(table=None), change(key=2)
    for glob, expected in (("d.t", 2), ("d.null", 1)):
        name = "null" if glob == "d.null" else "t"
        tables, counts = applied(*sent_changes, chosen=Chosen((glob,)), default_table=name)
        assert ([*content(tables)], counts["inserted"]) == ([name], expected)


def test_what_names_no_table_is_not_left_out() -> None:
    """A delete of all tables reaches those that are chosen; a truncate of another one does not."""
    sent_changes = [change(), change(table="u"), change(table="u", key=2)]
    gone = change("delete", sequence=5, table=None)
    tables, counts = applied(*sent_changes, gone, chosen=Chosen(("d.u",)))
    assert (rows(tables, "u"), [*content(tables)]) == ([{"id": 2}], ["u"])
    assert counts == {"inserted": 1, "left_out": 1}
    emptied = truncate(9), change(sequence=2)
    _, counts = applied(*emptied, chosen=Chosen((), ("d.t",)), apply_truncates=True)
    assert counts == {"left_out": 1}


def test_a_target_of_one_source_takes_the_one_that_is_chosen() -> None:
    """Without the choice it is the first by name."""
    tables = MemoryTables()
    sent_changes = placed(change(a=1), change(table="u", a=2))
    for _ in range(2):
        result = apply_changes(
            tables, sent_changes, Routing(template_of("one"), chosen=Chosen(("*.u",)))
        )
        (table,) = tables.tables.values()
        assert ([*table.content()], result.refused) == ([{"id": 1, "a": 2}], [])
