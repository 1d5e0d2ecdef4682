"""The pages about tables that something else made, erasing and migrating run, block by block."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from tests.docs.pages import all_blocks, in_sections, tutorial_messages
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake as LocalLake

import changewire.arrow as cwa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


FROM_JSON = "docs/guides/spark.md"
ADOPT = "docs/guides/rebuild.md"
ERASE = "docs/operate/security.md"


def run(page: str, names: dict[str, Any], *sections: str) -> None:
    """Run the Python of a page, or of some sections of it, from top to bottom."""
    for block in in_sections(page, *sections) if sections else all_blocks(page):
        if block.language == "python" and block.reason is None:
            exec(block.code, names)  # noqa: S102 - our own text


def test_a_job_is_migrated(spark: SparkSession, tmp_path: Path) -> None:
    """The old job and the query read the tutorial's messages, and differ as the page says."""
    topic = tmp_path / "topic"
    topic.mkdir()
    (topic / "topic.jsonl").write_text("\n".join(tutorial_messages()), encoding="utf-8")
    names: dict[str, Any] = {"spark": spark, "topic": str(topic), "lake": str(tmp_path)}
    run(FROM_JSON, names, "Replace a from_json job")
    new = DeltaTable(f"{tmp_path}/tables/shop/users").to_pyarrow_table()
    assert new.select(["name", "age"]).to_pylist() == [{"name": "Ann", "age": 42}]


def test_a_table_is_adopted(spark: SparkSession, tmp_path: Path) -> None:
    """A table of another program gets the changes of a topic, then another owner."""
    lake = Lake(tmp_path)
    rows = pa.table({"id": [1, 2], "name": ["old", "kept"]})
    write_deltalake(f"{lake.tables}/customers", rows)
    new = message("UPDATE_AFTER", 1, {"id": 1, "name": "new"}, table="customers")
    lake.send_records(records(new))
    names = {"spark": spark, "lake": str(tmp_path), "stream": lake.read(spark)}
    run(ADOPT, names, "Adopt a table")
    found = {row["id"]: row["name"] for row in lake.rows(spark, "customers")}
    assert found == {1: "new", 2: "kept"}


def test_a_person_is_erased(spark: SparkSession, tmp_path: Path) -> None:
    """Neither table nor log keeps a value of the person; other rows and counts stay."""
    lake = LocalLake(tmp_path)
    ann = message("INSERT", 1, {"id": 1, "name": "ann@example.com"}, table="users")
    ben = message("INSERT", 2, {"id": 2, "name": "ben@example.com"}, table="users")
    sent = records(ann, ben, ann.replace(b'"0.0.1"', b"1"))
    lake.apply_records(sent, row_schema="embedded")
    assert len(cwa.dead_letters(f"{tmp_path}/log")) == 1
    run(ERASE, {"spark": spark, "lake": str(tmp_path)})
    assert [json.loads(row["key"]) for row in lake.log()] == [{"id": 2}]
    assert [row["id"] for row in lake.rows("users")] == [2]
