"""A stream that carries JSON and flat JSON ends in one table."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import records
from tests.runtime.engines.two_forms import BATCHES, ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.long
def test_a_stream_of_both_forms_is_one_table(spark: SparkSession, tmp_path: Path) -> None:
    """Rows have the last version, of either form; what is rejected is a dead letter."""
    lake, start = Lake(tmp_path, lands_in_spark=True), 0
    for batch in BATCHES:
        lake.send_records(records(*batch, start=start))
        start += len(batch)
    lake.apply_messages(spark, format="auto")
    found = lake.table(spark, "users").where("NOT _changewire.deleted").collect()
    rows = [json.loads(row["row"]) for row in found]
    digests = {b64encode(bytes([number] * 20)).decode(): row for number, row in ROWS.items()}
    assert {row.pop("aerospike_digest"): row for row in rows} == digests
    assert lake.names() == ["users"]
    kinds = lake.log(spark).groupBy("kind").count().collect()
    assert {row["kind"]: row["count"] for row in kinds} == {"change": 11, "dead_letter": 1}
