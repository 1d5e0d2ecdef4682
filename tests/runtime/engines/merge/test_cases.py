"""Examples of the page of tables, and drawn histories: in any order and any batches."""

from __future__ import annotations

import shutil
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from docs.making.histories import histories
from tests.runtime.engines.merge.cases import Batches, delivered, deliveries
from tests.runtime.engines.merge.lake import Lake, lake_in
from tests.runtime.engines.merge.test_histories import cut
from tests.runtime.engines.merge_local.lake import Lake as LocalLake
from tests.runtime.tables.histories import in_tables
from tests.runtime.tables.model import Content, filled, tables_of

import changewire.delta as cwd
import changewire.spark as cws
from changewire.engines.options import AVAILABLE_NOW
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = 1000
"""Number of the first delivery of an example; drawn histories have smaller ones."""

HISTORIES = 20

CASES = [
    pytest.param(("delta", "remove", 2), id="delta, removed"),
    pytest.param(("delta", "flag", 3), id="delta, flagged", marks=pytest.mark.long),
    pytest.param(("iceberg", "remove", 3), id="iceberg, removed", marks=pytest.mark.long),
]
"""Table format, what deletes do, and the number of batches: each MERGE of each takes its time.

More are delivered by the tests without Spark.
"""


class Ended(NamedTuple):
    """Tables that one query made.

    Attributes:
        lake: Where they are.
        options: How they are written.
        content: Their rows.
        page: The rows that the page has, by their ids.
        drawn: The changes of drawn histories.
    """

    lake: Lake
    options: dict[str, Any]
    content: Content
    page: dict[str, dict[str, Any]]
    drawn: list[PositionedChange]


def examples(most: int) -> tuple[Batches, dict[str, dict[str, Any]]]:
    """Return all deliveries of all examples, side by side, and the rows that the page has."""
    expected: dict[str, dict[str, Any]] = {}
    sent: list[Batches] = []
    for history in histories():
        for batches in deliveries(history, most).values():
            number = FIRST + len(sent)
            sent.append(delivered(history.name, batches, number))
            for row in history.rows:
                cells = {name: int(cell) for name, cell in row.items() if cell}
                expected[f"{number}-{cells['id']}"] = {**cells, "id": f"{number}-{cells['id']}"}
    together = zip_longest(*sent, fillvalue=())
    return [[one for part in batch for one in part] for batch in together], expected


@pytest.fixture(scope="module", params=CASES)
def ended(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Ended:
    """Tables after all batches of a query, which is started again amid them."""
    table_format, deletes, most = request.param
    options = {"deletes": deletes, "apply_truncates": True}
    batches, expected = examples(most)
    # In one table, which that of the examples is too.
    drawn = [in_tables(batch, {"u": "t"}) for batch in cut(HISTORIES, most)]
    lake = lake_in(table_format, spark, tmp_path_factory.mktemp("cases"), lands_in_spark=True)
    for at, (one, other) in enumerate(zip_longest(batches, drawn, fillvalue=())):
        lake.send([*one, *other])
        if at in {0, len(batches) - 1}:
            lake.apply(spark, **options)
    sent = [one for batch in drawn for one in batch]
    return Ended(lake, options, lake.content(spark), expected, sent)


def rows(content: Content, *, are_drawn: bool) -> Content:
    """Return the rows of drawn histories, or those of examples."""
    return {
        name: {
            key: row
            for key, row in table.items()
            if (int(row["id"].partition("-")[0]) < FIRST) == are_drawn
        }
        for name, table in content.items()
    }


def test_examples_end_as_the_page_says(ended: Ended) -> None:
    """Forwards, backwards, one by one and as one batch they give the rows below."""
    found = rows(ended.content, are_drawn=False).values()
    assert {row["id"]: row for table in found for row in table.values()} == ended.page


def test_tables_end_as_the_model_says(ended: Ended) -> None:
    """Tables depend on the set of their changes alone, whatever the batches and restarts."""
    expected = tables_of(ended.drawn, befores_wait=True)
    assert filled(rows(ended.content, are_drawn=True)) == filled(expected)


ROWS: dict[str, Any] = {"row_schema": "json", "default_table": "null"}


def test_another_target_gets_the_same_rows_without_spark(ended: Ended) -> None:
    """The log that Spark landed says all of them."""
    if ended.lake.table_format != "delta":
        pytest.skip("logs of Iceberg are for Spark")
    ours = LocalLake(ended.lake.root / "ours")
    places = {"log": ended.lake.places["log"], "target": ours.places["target"]}
    cwd.apply_log(**places, **ROWS, **ended.options)
    assert ours.content() == ended.content


@pytest.mark.long
def test_all_of_the_log_is_applied_once_more(spark: SparkSession, ended: Ended) -> None:
    """Rows stay as they are."""
    lake = ended.lake
    shutil.rmtree(lake.root / "checkpoint" / "tables")
    given: dict[str, Any] = {**lake.places, **ROWS, **ended.options}
    cws.await_termination(cws.apply_log(spark, trigger=AVAILABLE_NOW, **given))
    assert lake.content(spark) == ended.content
