"""The checks of a chaos run find what is lost, double or wrong, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.chaos.checks import outcome
from tests.chaos.driver import OWNED, run
from tests.chaos.messages import KNOWN, PARTITIONS, History
from tests.chaos.plan import Job
from tests.support.topics import create, produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.long
def test_what_is_wrong_is_found(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """A query ends well, another one is refused, and each fault that is put in is counted."""
    job = Job(str(tmp_path), kafka, "checked", "delta", 200)
    create(kafka, job.topic, partitions=PARTITIONS)
    history, sent = History(1, has_refused=True), []
    for _ in range(2):
        sent += produce(kafka, history.records(KNOWN, job.topic))
        assert run(job) == 0
    assert run(replace(job, query="_other")) == OWNED
    good = outcome(spark, job, sent)
    assert not good.is_bad
    assert good.elements == len(sent)
    assert good.refused > 0

    log, table = (f"delta.`{place}`" for place in (job.log, job.target.format(table="Users")))
    first, second, *_ = spark.sql(
        f"SELECT partition, offset FROM {log} WHERE kind = 'change' AND source.table = 'orders'"  # noqa: S608
    ).collect()
    is_first, is_second = (
        f"WHERE partition = {row['partition']} AND offset = {row['offset']}"
        for row in (first, second)
    )
    for statement in (
        f"DELETE FROM {log} {is_first}",  # noqa: S608 - our own names
        f"INSERT INTO {log} SELECT * FROM {log} {is_second}",  # noqa: S608
        f"DELETE FROM {log} WHERE kind = 'refused'",  # noqa: S608
        f"UPDATE {table} SET row = '{{}}'",  # noqa: S608
    ):
        spark.sql(statement)
    bad = outcome(spark, job, sent)
    assert (bad.lost, bad.double, bad.refused) == (1 + good.refused, 1, 0)
    assert bad.wrong == spark.sql(f"SELECT * FROM {table}").count()  # noqa: S608
    assert bad.unlike_the_log >= bad.wrong > 0
