"""A log and tables that one query feeds; its source is a folder of Parquet files, one a batch."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from tests.runtime.engines.accounts import assert_all_are_explained
from tests.runtime.tables.model import Content, key_of
from tests.support.session import need

import changewire as cw
import changewire.spark as cws
from changewire.changes.change_row import row_of
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.options import AVAILABLE_NOW, StreamListener, TableOptions
from changewire.engines.spark.log.place import STREAMED, LogPlace
from changewire.engines.spark.merge.options import apply_options
from changewire.engines.spark.merge.query import apply_changes, start
from changewire.engines.spark.merge.replay import replay
from changewire.tables import PositionedChange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from changewire.engines.applied import Replayed

COLUMNS = {name: INPUT_COLUMNS[name] for name in ("value", "topic", "partition", "offset")}
TYPE = "value binary, topic string, partition int, offset long"


class ChangeDecoder(Decoder):
    """Takes changes themselves for messages, so that any history can be recorded."""

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Any]:
        del key
        assert value is not None
        return [(row_of(msgspec.json.decode(value, type=cw.Change)), [])]


def check_accounts(metrics: Sequence[str]) -> None:
    """Check that each batch says what became of the changes of each table."""
    for line in map(json.loads, metrics):
        assert_all_are_explained(line.get("changes_by_table", {}))


@dataclass
class Lake:
    """A log and its tables, and what was sent.

    Tables have rows of JSON text, unless a test gives a `row_schema`.

    Attributes:
        root: Holds messages, checkpoint, log and tables.
        table_format: Table format.
        folder: Folder of the tables.
        namespace: Namespace of the tables in the catalog ``ice``; empty for paths.
        files: Number of files so far.
    """

    root: Path
    table_format: str = "delta"
    folder: Path | None = None
    namespace: str = ""
    files: int = 0

    def send(self, batch: Sequence[PositionedChange]) -> None:
        """Add a file, which the query reads as one batch."""
        self.send_records([(msgspec.json.encode(one.change), *one.position[:3]) for one in batch])

    def send_records(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add a file of records: value, topic, partition and offset."""
        folder = self.root / "messages"
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {
            name: pa.array([row[i] for row in rows], kind)
            for i, (name, kind) in enumerate(COLUMNS.items())
        }
        place = folder / f"{self.files:08}.parquet"
        begun = place.with_name(f".{place.name}")
        pq.write_table(pa.table(arrays), begun)
        os.utime(begun, (self.files, self.files))  # files are read in the order of their age
        begun.replace(place)
        self.files += 1

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the messages as a stream."""
        source = spark.readStream.schema(TYPE).option("maxFilesPerTrigger", 1)
        return source.parquet(str(self.root / "messages"))

    @property
    def places(self) -> dict[str, Any]:
        """Where log, tables and checkpoint are, as `apply_changes` takes it."""
        named = f"ice.{self.namespace}"
        return {
            "log": f"{named}_log.log" if self.namespace else str(self.root / "log"),
            "target": f"{named}.{{table}}" if self.namespace else f"{self.tables}/{{table}}",
            "checkpoint": str(self.root / "checkpoint"),
            "table_format": self.table_format,
        }

    @property
    def tables(self) -> Path:
        """Where the tables are."""
        return self.folder or self.root / "tables"

    def apply(self, spark: SparkSession, **options: Any) -> None:
        """Apply the changes that were sent, to their end, in a batch for each file of the log."""
        lines: list[str] = []
        metrics = options.pop("metrics", None)
        listener = StreamListener(options.pop("notice", None), metrics or lines.append)
        places = self.places
        log = LogPlace(places["log"], places["table_format"])
        target, checkpoint = places["target"], places["checkpoint"]
        decode = DecodeOptions("dataworks-json")
        given: dict[str, Any] = {"default_table": "null", "row_schema": "json", **options}
        how = apply_options(decode, TableOptions(target, **given), log=log, checkpoint=checkpoint)
        with one_by_one(self.table_format):
            query = start(self.read(spark), how, ChangeDecoder(decode), listener, AVAILABLE_NOW)
            cws.await_termination(query)
        check_accounts(lines)

    def apply_messages(self, spark: SparkSession, **options: Any) -> list[dict[str, Any]]:
        """Apply the messages that were sent, by what users call; return the counts of tables."""
        lines: list[str] = []
        ends = {"trigger": AVAILABLE_NOW, "metrics": lines.append}
        given: dict[str, Any] = {"row_schema": "json", **ends, **self.places, **options}
        query = apply_changes(self.read(spark), **given)
        cws.await_termination(query)
        check_accounts(lines)
        batches = map(json.loads, lines)
        return [batch["tables"] for batch in batches if "tables" in batch]

    def replay(self, spark: SparkSession, **options: Any) -> Replayed:
        """Decode dead letters again, and apply refused changes again."""
        given: dict[str, Any] = {"row_schema": "json", **self.places, **options}
        return replay(spark, **given)

    def log(self, spark: SparkSession) -> DataFrame:
        """Return the log."""
        return LogPlace(self.places["log"], self.table_format).read(spark)

    def table(self, spark: SparkSession, name: str) -> DataFrame:
        """Return a table."""
        return spark.read.format(self.table_format).load(str(self.tables / name))

    def names(self) -> list[str]:
        """Return the names of the tables."""
        return sorted(path.name for path in self.tables.iterdir()) if self.tables.exists() else []

    def content(self, spark: SparkSession) -> Content:
        """Return the rows of every table that are not deleted, as the model has them."""
        found: Content = {}
        for name in self.names():
            rows = self.table(spark, name).where("NOT _changewire.deleted").collect()
            decoded = [msgspec.json.decode(row["row"]) for row in rows]
            found[name] = {key_of({"id": row["id"]}): row for row in decoded}
        return found


@contextmanager
def one_by_one(table_format: str) -> Generator[None, None, None]:
    """Let queries on a log take its files one by one, also those of one commit."""
    limits = {"delta": "maxFilesPerTrigger", "iceberg": "streaming-max-files-per-micro-batch"}
    with patch.dict(STREAMED[table_format], {limits[table_format]: "1"}):
        yield


def lake_in(table_format: str, spark: SparkSession, root: Path) -> Lake:
    """Return a lake of a table format; the catalog of Iceberg keeps tables in folders too."""
    need(table_format)
    if table_format != "iceberg":
        return Lake(root, table_format)
    folder = Path(str(spark.conf.get("spark.sql.catalog.ice.warehouse")), root.name)
    return Lake(root, table_format, folder, root.name)
