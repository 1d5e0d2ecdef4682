"""A log and tables that one query feeds; its source is a folder of Parquet files, one a batch."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from tests.runtime.engines.accounts import assert_all_are_explained
from tests.runtime.tables.model import Content, key_of
from tests.support.session import need

import changewire as cw
import changewire.arrow as cwa
import changewire.delta as cwd
import changewire.spark as cws
from changewire.changes.change_row import row_of
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.log import log_schema
from changewire.engines.merge.appended import AppendedLog
from changewire.engines.merge.land import Landing, landed
from changewire.engines.merge.tally import Tally
from changewire.engines.options import AVAILABLE_NOW, StreamListener, asked
from changewire.engines.spark.log.place import STREAMED, LogPlace
from changewire.engines.spark.merge.options import ApplyOptions, apply_options
from changewire.engines.spark.merge.query import existing, start, start_applying
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

    A log of Delta is landed without Spark unless a test asks for it, as that takes a fraction of
    the time; any engine can apply it.

    Attributes:
        root: Holds messages, checkpoint, log and tables.
        table_format: Table format.
        folder: Folder of the tables.
        namespace: Namespace of the tables in the catalog ``ice``; empty for paths.
        lands_in_spark: Whether Spark lands the messages, as it must in Iceberg.
        files: Number of files so far.
        landed: How many of them each log has, if they landed without Spark.
    """

    root: Path
    table_format: str = "delta"
    folder: Path | None = None
    namespace: str = ""
    lands_in_spark: bool = False
    files: int = 0
    landed: Counter[str] = field(default_factory=Counter)

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
        given = {"format": "dataworks-json", "default_table": "null", "row_schema": "json"}
        decoder = ChangeDecoder(DecodeOptions("dataworks-json"))
        with one_by_one(self.table_format):
            self._apply(spark, decoder, {**given, **options})

    def apply_messages(self, spark: SparkSession, **options: Any) -> list[dict[str, Any]]:
        """Apply the messages that were sent, as `apply_changes` does; return counts of tables."""
        lines = self._apply(spark, None, {"row_schema": "json", **options})
        batches = map(json.loads, lines)
        return [batch["tables"] for batch in batches if "tables" in batch]

    def _apply(
        self, spark: SparkSession, decoder: Decoder | None, options: dict[str, Any]
    ) -> list[str]:
        """Apply what was sent; return the metrics of batches, unless a test takes them."""
        lines: list[str] = []
        metrics = options.pop("metrics", None) or lines.append
        listener = StreamListener(options.pop("notice", None), metrics)
        places = {name: options.pop(name, place) for name, place in self.places.items()}
        log = LogPlace(places["log"], places["table_format"])
        given: Any = {name: one for name, one in options.items() if name != "format"}
        decode, tables = asked(options["format"], places["target"], given)
        how = apply_options(decode, tables, log=log, checkpoint=places["checkpoint"])
        decoder = decoder or Decoder(decode)
        if self.lands_in_spark:
            query = start(self.read(spark), how, decoder, listener, AVAILABLE_NOW)
            cws.await_termination(query)
        else:
            self.land(how, decoder)
            begun = existing(spark, how)
            cws.await_termination(start_applying(spark, how, begun, listener, AVAILABLE_NOW))
        check_accounts(lines)
        return lines

    def land(self, how: ApplyOptions, decoder: Decoder) -> None:
        """Append the files that a log lacks to it, a commit each, without Spark."""
        log = AppendedLog(how.log.target, log_schema(decoder.schema()))
        landing = Landing(log, decoder.decode_options, routing=how.routing)
        files = sorted((self.root / "messages").glob("*.parquet"))
        for file in files[self.landed[log.path] :]:
            landed(landing, pq.read_table(file), Tally(decoder), shape="auto")
        self.landed[log.path] = len(files)

    def replay(self, spark: SparkSession, **options: Any) -> Replayed:
        """Decode dead letters again, and apply refused changes again."""
        given: dict[str, Any] = {"row_schema": "json", **self.places, **options}
        return replay(spark, **given)

    def faults(self, spark: SparkSession, **options: Any) -> list[dict[str, Any]]:
        """Return the rows that differ from the log; without Spark in Delta, which is quicker."""
        places = {name: one for name, one in self.places.items() if name != "checkpoint"} | options
        if self.table_format == "delta":
            del places["table_format"]
            found: list[dict[str, Any]] = cwd.verify(**places).to_pylist()
            return found
        return [row.asDict() for row in cws.verify(spark, **places).collect()]

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
        return {
            name: {key_of({"id": row["id"]}): row for row in self.json_rows(spark, name)}
            for name in self.names()
        }

    def rows(self, spark: SparkSession, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table; without Spark in Delta, which is quicker."""
        if self.table_format == "delta":
            found: list[Any] = DeltaTable(str(self.tables / name)).to_pyarrow_table().to_pylist()
            return found
        return [one.asDict(recursive=True) for one in self.table(spark, name).collect()]

    def json_rows(self, spark: SparkSession, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table of JSON text that are not deleted."""
        rows = self.rows(spark, name)
        return [msgspec.json.decode(r["row"]) for r in rows if not r["_changewire"]["deleted"]]

    def refusals(self, spark: SparkSession) -> list[dict[str, Any]]:
        """Return the refused changes of the log, in their order; without Spark in Delta."""
        log = self.places["log"]
        if self.table_format == "delta":
            rows = cwa.refused(log).to_pylist()
        else:
            found = cws.refused(spark, log, table_format=self.table_format)
            rows = [one.asDict() for one in found.collect()]
        return sorted(rows, key=lambda row: int(row["offset"]))


@contextmanager
def one_by_one(table_format: str) -> Generator[None, None, None]:
    """Let queries on a log take its files one by one, also those of one commit."""
    limits = {"delta": "maxFilesPerTrigger", "iceberg": "streaming-max-files-per-micro-batch"}
    with patch.dict(STREAMED[table_format], {limits[table_format]: "1"}):
        yield


def lake_in(
    table_format: str, spark: SparkSession, root: Path, *, lands_in_spark: bool = False
) -> Lake:
    """Return a lake of a table format; the catalog of Iceberg keeps tables in folders too."""
    need(table_format)
    if table_format != "iceberg":
        return Lake(root, table_format, lands_in_spark=lands_in_spark)
    folder = Path(str(spark.conf.get("spark.sql.catalog.ice.warehouse")), root.name)
    return Lake(root, table_format, folder, root.name, lands_in_spark=True)
