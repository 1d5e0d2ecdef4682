"""What Spark counts of a stream on its way, without a second read of its source.

Both counts are taken in the task that reads and decodes, so a task that is retried counts
on both sides alike: unlike ``numInputRows``, they are equal whenever nothing was lost.
"""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER, MESSAGE

DELIVERED: Final = "changewire_delivered"
"""Begins the names of what is counted below `decode`."""

DECODED: Final = "changewire_decoded"
"""Name of what is counted above it."""


def delivered(messages: DataFrame) -> DataFrame:
    """Let a stream count the ``rows`` that its source delivers; other DataFrames stay as they are.

    The name is drawn, because a query may join what several calls of `decode` made, and Spark
    refuses two observations of one name.
    """
    if not messages.isStreaming:
        return messages
    return messages.observe(f"{DELIVERED}_{uuid4().hex}", F.count(F.lit(1)).alias("rows"))


def decoded(rows: DataFrame) -> DataFrame:
    """Let a stream of decoded rows count what it carries, and report the newest record's time."""
    kinds = {
        "changes": CHANGE,
        "controls": CONTROL,
        "valid": MESSAGE,
        "dead_letters": DEAD_LETTER,
    }
    return rows.observe(
        DECODED,
        F.count_if(F.col("element") == 0).alias("messages"),
        F.coalesce(F.sum("elements"), F.lit(0)).alias("elements"),
        *(F.count_if(F.col("kind") == kind).alias(name) for name, kind in kinds.items()),
        F.unix_millis(F.max("timestamp")).alias("newest"),
    )
