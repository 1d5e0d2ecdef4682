"""The rows that changewire makes, made by hand with Spark's own functions.

What a job needs that lands these topics without changewire: messages become rows with the columns
of changes, values keep their types, and what cannot be read is kept. It checks nothing else, and
says of no refusal why. It is written for one table, whose columns it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame

from benchmarks import topics
from benchmarks.by_hand import aerospike, dataworks, lindorm

ROWS: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "aerospike-json": aerospike.rows,
    "dataworks-json": dataworks.rows,
    "lindorm-json": lindorm.rows,
    topics.WITH_SCHEMA: lindorm.rows_by_schema,
}
"""The job of each topic of `benchmarks.topics`."""

PARSED: Mapping[str, Callable[[DataFrame], DataFrame]] = {
    "aerospike-json": aerospike.parsed,
    "dataworks-json": dataworks.parsed,
    "lindorm-json": lindorm.parsed,
    topics.WITH_SCHEMA: lindorm.parsed_by_schema,
}
"""A bare `from_json` for each topic, which stops at typed fields."""
