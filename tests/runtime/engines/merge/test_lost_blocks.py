"""Blocks that are lost with an executor: a batch that needs them is written again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from changewire.engines.spark.cause import repeated_if_lost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_batch_is_written_again_if_blocks_of_it_are_lost(spark: SparkSession) -> None:
    """The second try makes its own checkpoints, which are there."""
    tries = []

    def write() -> int:
        rows = spark.range(3).localCheckpoint()
        tries.append(rows)
        if len(tries) == 1:
            forget_blocks(spark)
        return rows.count()

    assert repeated_if_lost(write) == 3
    assert len(tries) == 2


def forget_blocks(spark: SparkSession) -> None:
    """Remove the blocks of all kept rows, as the loss of their executors does."""
    session: Any = spark
    blocks = session._jvm.org.apache.spark.SparkEnv.get().blockManager().master()  # noqa: SLF001
    for number in [*session.sparkContext._jsc.getPersistentRDDs()]:  # noqa: SLF001
        blocks.removeRdd(number, True)  # noqa: FBT003 - wait until they are gone
