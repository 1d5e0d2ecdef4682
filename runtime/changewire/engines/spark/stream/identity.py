"""The identity of a query: an id and its outputs, kept in the checkpoint next to Spark's files."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.engines.errors import CheckpointError

FOLDER: Final = "changewire"
"""Name in the checkpoint; Spark's own are metadata, offsets, commits, sources and state."""


class Identity(msgspec.Struct, frozen=True):
    """What makes two runs the same query: id, format of the outputs, and target of each."""

    id: str
    table_format: str
    outputs: dict[str, str]


def identity(
    spark: SparkSession, checkpoint: str, *, table_format: str, outputs: dict[str, str]
) -> str:
    """Return the id of the query that a checkpoint is of; a new checkpoint gets one.

    A batch job writes it, so the checkpoint may be on any file system that Spark knows.
    """
    text = _read(spark, f"{checkpoint}/{FOLDER}")
    if not text:
        if _read(spark, f"{checkpoint}/metadata"):
            raise CheckpointError(
                f"{checkpoint}: this is the checkpoint of a query that is not of changewire; "
                "choose another"
            )
        new = Identity(str(uuid4()), table_format, outputs)
        frame = spark.range(0, 1, 1, 1).select(F.lit(msgspec.json.encode(new).decode()))
        frame.write.mode("overwrite").text(f"{checkpoint}/{FOLDER}")
        return new.id
    try:
        kept = msgspec.json.decode(text, type=Identity)
    except msgspec.DecodeError as error:
        raise CheckpointError(f"{checkpoint}/{FOLDER} is damaged: {error}") from None
    before, now = (
        {"table_format": kept.table_format, **kept.outputs},
        {"table_format": table_format, **outputs},
    )
    for name in {**now, **before}:
        if before.get(name) != now.get(name):
            raise CheckpointError(
                f"{checkpoint}: this is the checkpoint of another query, with {name} "
                f"{before.get(name)!r} and not {now.get(name)!r}; choose another"
            )
    return kept.id


def _read(spark: SparkSession, path: str) -> str:
    """Return the text of a file or folder; empty if it is missing."""
    try:
        rows = spark.read.text(path, wholetext=True).collect()
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return ""
        raise
    return "".join(row["value"] for row in rows).strip()
