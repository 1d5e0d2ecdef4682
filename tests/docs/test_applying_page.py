"""The code of docs/guides/spark.md runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.docs.pages import ROOT, blocks
from tests.runtime.engines.stream.streams import TYPE, Stream
from tests.samples import MIXED_COUNTS, mixed_messages

from changewire.engines.layout import CHANGE
from changewire.tables.routing import APPLY_FAILED, REFUSALS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/guides/spark.md"


def test_the_page_runs(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The queries of the page land every element and make tables that are as their log says."""
    Stream(tmp_path).send([value and of_two_tables(value) for value in mixed_messages()])
    names: dict[str, Any] = {
        "spark": spark,
        "columns": TYPE,
        "messages": str(tmp_path / "messages"),
        "lake": str(tmp_path),
    }
    for block in blocks(PAGE):
        exec(block, names)  # noqa: S102 - our own text
    assert "9 changes" in capsys.readouterr().out
    log = spark.read.format("delta").load(str(tmp_path / "log"))
    assert log.where(f"kind = '{CHANGE}'").count() == MIXED_COUNTS["changes"]
    table = str(tmp_path / "tables" / "test" / "no_set")
    assert spark.read.format("delta").load(table).columns[:2] == [
        "aerospike_digest",
        "aerospike_user_key",
    ]
    assert names["replayed"][:3] == (1, 0, 0)  # still rejected
    flagged = spark.read.format("delta").load(names["table"])
    assert (
        flagged.where("NOT _changewire.deleted").count()
        == spark.read.format("delta").load(table).count()
    )


def of_two_tables(message: bytes) -> bytes:
    """Return a message of one namespace with one set: the page makes each table many times."""
    return message.replace(b'["ns", "set"', b'["test", "demo"').replace(b'["ns"', b'["test"')


def test_codes_of_refused_changes_are_listed() -> None:
    """The page explains each reason why no table takes a change."""
    section = ROOT.joinpath(PAGE).read_text(encoding="utf-8").partition("## What is refused")[2]
    listed = re.findall(r"^\| `([a-z-]+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    assert {*REFUSALS, APPLY_FAILED} < {*listed}
