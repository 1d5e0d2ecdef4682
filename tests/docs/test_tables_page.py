"""The histories on the page of tables end in the rows that stand below them."""

import re
from pathlib import Path

import pytest
from docs.making.histories import History, change, histories
from tests.runtime.tables.histories import applied, placed, rows

from changewire.engines.applied import COUNTED, NOT_APPLIED
from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.log import CLOSED, LOG_COLUMNS, MESSAGE_LOG_COLUMNS, REFUSED
from changewire_messages.tables.arrow import ROW_STATE

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "tables.md"
TEXT = PAGE.read_text(encoding="utf-8")
HISTORIES = list(histories())


@pytest.mark.parametrize("history", HISTORIES, ids=[history.name for history in HISTORIES])
def test_histories(history: History) -> None:
    """Forwards, backwards, one by one and as one batch they give the rows below."""
    expected = [{name: int(cell) for name, cell in row.items() if cell} for row in history.rows]
    read = placed(*map(change, history.changes))
    one_by_one = [[one] for one in read]
    deliveries = [[read], one_by_one]
    if all(row["sequence"] for row in history.changes):
        deliveries += [[read[::-1]], one_by_one[::-1]]
    for batches in deliveries:
        assert rows(applied(*batches, apply_truncates=True)[0]) == expected


def test_every_history_is_drawn() -> None:
    """Below the rows of each stands its picture."""
    drawn = re.findall(r"\]\(\.\./pictures/tables-(.+)\.svg\)", TEXT)
    assert drawn == [history.name for history in HISTORIES]


def test_every_rule_has_a_history() -> None:
    """No section about rows is without one."""
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    without = [text.partition("\n")[0] for text in sections if "\n| op |" not in text]
    others = ["The log", "Many tables", "Columns", "Counts", "Row metadata"]
    others += ["How tables are merged"]
    assert without == others


def test_the_log_is_described() -> None:
    """The page names each kind of row, and each column, of both kinds of logs."""
    section = TEXT.partition("\n## The log\n")[2].partition("\n## ")[0]
    kinds, columns = section.partition("| columns | of | meaning |")[::2]
    listed = re.findall(r"^\| `([a-z_]+)` \|", kinds, re.MULTILINE)
    assert {*listed} - {"kind"} == {CHANGE, CONTROL, DEAD_LETTER, REFUSED, CLOSED, MESSAGE}
    rows = re.findall(r"^\| (`[^|]+`) \|", columns.partition("\n\n")[0], re.MULTILINE)
    named = {name for row in rows for name in re.findall("`([a-z_]+)`", row)}
    assert named == {*LOG_COLUMNS, *MESSAGE_LOG_COLUMNS} - {"kind"}


def test_counts_are_listed() -> None:
    """The page names what is counted of changes in tables, in the words of reports."""
    counted = TEXT.partition("\n## Counts\n")[2].partition("\n#")[0]
    listed = dict(re.findall(r"^\| `([a-z_]+)` \| (.+) \|$", counted, re.MULTILINE))
    assert listed == COUNTED
    assert [*listed][-len(NOT_APPLIED) :] == [*NOT_APPLIED]


def test_fields_of_the_metadata_are_listed() -> None:
    """The page names each field of the column of metadata."""
    section = TEXT.partition("## Row metadata")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", section, re.MULTILINE)
    assert [n for row in rows for n in re.findall("`([a-z]+)`", row)] == [f.name for f in ROW_STATE]
