"""The messages of files as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from changewire.engines.arrow.batches import batches
from changewire.engines.spark.python import check_python
from changewire.engines.spark.types import INPUT
from changewire.framing import expand
from changewire.framing.shapes import read_together

_FILES: Final = "path string, modificationTime timestamp, length long, content binary"
"""Columns of https://spark.apache.org/docs/latest/sql-data-sources-binaryFile.html; the content is
not read."""


def read_files(spark: SparkSession, paths: Sequence[str], *, shape: str = "auto") -> DataFrame:
    """Return the messages of files, each with its path and number.

    Args:
        spark: The session.
        paths: Files or folders that every worker can open.
        shape: Shape of the files, see `changewire.framing.SHAPES`.

    Raises:
        FramingError: A path does not exist. What cannot be read later fails the job.
    """
    files = expand(paths)
    table = spark.createDataFrame(list(enumerate(files)), "task long, path string")
    # By range, because hashing could give two files to one task.
    return _read(table.repartitionByRange(max(len(files), 1), "task"), shape)


def stream_files(spark: SparkSession, folder: str, *, shape: str = "auto") -> DataFrame:
    """Return the messages of the files in a folder as a stream, each with its path and number.

    A file is read when it has come to the folder, and must be whole then: rename it into place.
    Files whose names begin with ``_`` or ``.`` are left out.

    Args:
        spark: The session.
        folder: Folder that every worker can open.
        shape: Shape of the files, see `changewire.framing.SHAPES`.
    """
    files = spark.readStream.format("binaryFile").schema(_FILES).load(folder).select("path")
    return _read(files, shape)


def _read(files: DataFrame, shape: str) -> DataFrame:
    def each(paths: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in paths:
            # As Python opens them: Spark puts a scheme before a path, and escapes nothing.
            plain = (
                path.removeprefix("file://").removeprefix("file:")
                for path in batch.column("path").to_pylist()
            )
            records = (read_together(path, shape=shape) for path in plain)
            yield from batches(chain.from_iterable(records))

    check_python(files.sparkSession)
    return files.mapInArrow(each, INPUT)
