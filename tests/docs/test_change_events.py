"""The page of change events names what there is; its examples run with those of other pages."""

import re
from pathlib import Path
from typing import Any

from docs.making import leniencies
from tests.runtime.changes.connect.helpers import NOTES
from tests.runtime.changes.dataworks import change as dataworks_change
from tests.runtime.changes.lindorm import change as lindorm_change
from tests.runtime.changes.lindorm import declared

from changewire.changes.aerospike_digest import MISMATCH
from changewire.changes.leniencies import OF_CHANGES, OF_MESSAGES, OF_ROWS
from changewire.changes.lindorm import FRAMED_KEY
from changewire.changes.values import READ_IN_UTC
from changewire.engines.typed.cells import OTHER_CASE

DOCS = Path(__file__).parents[2] / "docs"

NEVER = {"default-for-absent"}
"""Notes that no change gives: any column may be absent."""


def test_the_page_has_the_meanings_of_the_report() -> None:
    """The page is written from the texts of the report, and names each leniency of them."""
    assert not list(leniencies.differences()), "python -m docs.making"
    listed = set(re.findall(r"^\| `([a-z0-9-]+)` \|", leniencies.page(), re.MULTILINE))
    assert listed == OF_CHANGES.keys() | OF_MESSAGES.keys() | OF_ROWS.keys()


def test_every_leniency_of_a_change_has_a_meaning() -> None:
    """The meanings are those of every leniency that a change can need."""
    types = {"t": "DOUBLE", "n": "DOUBLE", "d": "DATE", "e": "DATE", "l": "LONG", "u": "GEOMETRY"}
    row = {"t": "1.0", "n": "NaN", "d": 10**18, "e": -2208931543000, "l": 2**63, "u": 1, "x": 1}
    given: Any = {"types": types, "primary_key": ["T"], "time_zone": "Asia/Shanghai"}
    used = dataworks_change("INSERT", after=row, **given).attributes["leniencies"]
    cells = {"ROW": "", "a": ""}
    for families in (None, ["f"]):
        used += lindorm_change("c", after=cells, column_families=families).attributes["leniencies"]
    others = {MISMATCH, FRAMED_KEY, OTHER_CASE, READ_IN_UTC}
    assert OF_CHANGES.keys() == {*used, *NOTES, *others} - NEVER


def test_defaults() -> None:
    """A default is taken for the null of a required column, and for no absent one."""
    schema = declared(a={"type": "string", "default": "x"})
    found = lindorm_change("c", schema, after={"a": None})
    assert (found.after, found.attributes["leniencies"]) == ({"a": "x"}, ["default-for-null"])
    found = lindorm_change("c", schema, after={})
    assert (found.after, "leniencies" in found.attributes) == ({}, False)


def test_operations_are_those_of_the_page() -> None:
    """Every operation in the table of DataWorks gives the kind of change that stands beside it."""
    text = DOCS.joinpath("sources", "dataworks.md").read_text(encoding="utf-8")
    table = text.partition("## Messages\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([A-Z_, ]+) \| `([a-z]+)`", table, re.MULTILINE)
    assert len(rows) == 8
    for operations, op in rows:
        for name in operations.split(", "):
            assert dataworks_change(name, before={"id": 1}, after={"id": 1}).op == op
