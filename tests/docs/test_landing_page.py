"""The code of docs/guides/spark.md runs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.docs.pages import ROOT, blocks
from tests.runtime.engines.stream.streams import TYPE, stream

from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE
from changewire.engines.log import CLOSED, LOG_COLUMNS, MESSAGE_LOG_COLUMNS, REFUSED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = "docs/guides/spark.md"
SECTION = ROOT.joinpath(PAGE).read_text(encoding="utf-8").partition("## The log")[2]


def test_the_page_runs(spark: SparkSession, tmp_path: Path) -> None:
    """The query lands every element, and a batch job the same ones, once."""
    made = stream(tmp_path, 1)
    names: dict[str, Any] = {
        "spark": spark,
        "columns": TYPE,
        "messages": str(tmp_path / "messages"),
        "lake": str(tmp_path),
    }
    for block in blocks(PAGE):
        exec(block, names)  # noqa: S102 - our own text
    expected = Counter(kind for kind, _, _ in made.expected().elements())
    for log in ("log", "again"):
        rows = spark.read.format("delta").load(str(tmp_path / log)).select("kind").collect()
        assert Counter(row["kind"] for row in rows) == expected
    assert names["letters"].count() == expected[DEAD_LETTER]


def test_the_log_is_described() -> None:
    """The page names each kind of row, and each column, of both kinds of logs."""
    kinds, columns = SECTION.partition("| columns | of | meaning |")[::2]
    listed = re.findall(r"^\| `([a-z_]+)` \|", kinds, re.MULTILINE)
    assert {*listed} - {"kind"} == {CHANGE, CONTROL, DEAD_LETTER, REFUSED, CLOSED, MESSAGE}
    rows = re.findall(r"^\| (`[^|]+`) \|", columns.partition("\n\n")[0], re.MULTILINE)
    named = {name for row in rows for name in re.findall("`([a-z_]+)`", row)}
    assert named == {*LOG_COLUMNS, *MESSAGE_LOG_COLUMNS} - {"kind"}
