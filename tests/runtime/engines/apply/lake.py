"""A lake that changes are applied to: a folder of Parquet files as the source, one file a batch."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from tests.runtime.engines.version_rows import versions_in
from tests.runtime.tables.model import Content, Key, Version, key_of
from tests.support.session import need

import changewire as cw
import changewire.spark as cws
from changewire.changes.change_row import row_of
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.changelog import find, log_of, stored_row, verdict, wanted_of
from changewire.engines.effects import EffectsDecoder
from changewire.engines.layout import INPUT_COLUMNS
from changewire.engines.options import (
    AVAILABLE_NOW,
    StreamListener,
    StreamOptions,
    StreamOutputs,
)
from changewire.engines.spark.apply.effects import with_effects
from changewire.engines.spark.apply.options import ApplyOptions
from changewire.engines.spark.apply.plain import EffectReports
from changewire.engines.spark.apply.query import start_applying
from changewire.engines.spark.decode import DecodedFrames, Reported, mapped
from changewire.engines.spark.session import is_remote
from changewire.engines.spark.types import ROWS
from changewire.tables import PositionedChange, Routing, template_of
from changewire.tables.history import History, history_of
from changewire.tables.keys import key_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

COLUMNS = {name: INPUT_COLUMNS[name] for name in ("value", "topic", "partition", "offset")}
BESIDE = ("__tombstones", "__history", "__ends")
"""What the names of tables end in that stand beside others."""

TYPE = "value binary, topic string, partition int, offset long"


class ChangeDecoder(EffectsDecoder):
    """Takes changes themselves for messages, so that any history can be told."""

    def _elements(self, value: bytes | None, key: bytes | None) -> list[Any]:
        del key
        assert value is not None
        return [(row_of(msgspec.json.decode(value, type=cw.Change)), [])]


@dataclass
class Lake:
    """Tables that one query feeds, and what was sent.

    Attributes:
        root: Holds messages, checkpoint, outputs and tables.
        sink: Table format.
        applies_truncates: Whether truncates are applied.
        lake: Folder of the tables, where it is not that of the root.
        files: Number of files so far.
        namespace: Where the tables are that have names, in a catalog ``ice``.
        given: Type of rows; None for rows of JSON text.
        log: Format of the outputs of `apply`; empty for that of the tables, as users have it. A
            batch in Parquet takes a third of the time.
        history: How tables of versions are named; empty without any.
        decoder: Makes rows of the messages.
    """

    root: Path
    sink: str = "delta"
    applies_truncates: bool = False
    lake: Path | None = None
    files: int = 0
    namespace: str = ""
    log: str = ""
    given: StructType | None = None
    history: str = ""
    decoder: type[ChangeDecoder] = ChangeDecoder

    def __post_init__(self) -> None:
        """Skip the test where the table format was not run with this Spark."""
        need(self.sink)

    def send(self, batch: Sequence[PositionedChange]) -> None:
        """Add a file, which the query reads as one batch."""
        rows = [(msgspec.json.encode(one.change), *one.position[:3]) for one in batch]
        self.send_records(rows)

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

    def read(self, spark: SparkSession) -> Any:
        """Return the messages as a stream."""
        source = spark.readStream.schema(TYPE).option("maxFilesPerTrigger", 1)
        return source.parquet(str(self.root / "messages"))

    def outputs(self) -> dict[str, str]:
        """Return where the outputs are."""
        names = ("changes", "controls", "dead_letters")
        if self.namespace and not self.log:
            return {name: f"ice.{self.namespace}_log.{name}" for name in names}
        return {name: str(self.root / name) for name in names}

    def apply(self, spark: SparkSession, **options: Any) -> None:
        """Apply the changes that were sent, to their end."""
        cws.await_end(self.start(spark, **options))

    def start(self, spark: SparkSession, **options: Any) -> Any:
        """Start a query that applies the changes that were sent."""
        checkpoint = str(self.root / "checkpoint")
        routing = Routing(template_of(self.template), "null")
        decode_options = DecodeOptions("dataworks-json")
        how = ApplyOptions(
            routing,
            decode_options,
            self.sink,
            checkpoint,
            self.applies_truncates,
            history=template_of(self.history) if self.history else None,
        )
        how = how if self.given is None else replace(how, rows=self.given)
        decoder = self.decoder(decode_options)
        reports = None if is_remote(spark) else EffectReports(spark)
        rows = mapped(self.read(spark), decoder, with_effects(ROWS), reports=reports)
        reported = None if reports is None else Reported(rows, reports)
        decoded = DecodedFrames(rows, reported=reported)
        outputs = StreamOutputs(**self.outputs())
        listener = StreamListener(**options)
        stream_options = StreamOptions(
            outputs, checkpoint, self.log or self.sink, AVAILABLE_NOW, listener=listener
        )
        return start_applying(decoded, how, stream_options)

    @property
    def template(self) -> str:
        """How the tables are named."""
        return f"ice.{self.namespace}.{{table}}" if self.namespace else f"{self.folder}/{{table}}"

    @property
    def folder(self) -> Path:
        """Where the tables are."""
        return self.lake or self.root / "tables"

    def traced(self, table: str, key: Any) -> History:
        """Return the history of a row in a table of a database ``d``, without Spark."""
        found = find(log_of(str(self.root)), wanted_of([json.dumps({"id": key})]), f"d.{table}")
        assert found.key is not None
        return history_of(
            found.key,
            found.changes,
            refused=found.refused,
            apply_as_truncates=self.applies_truncates,
        )

    def verdict(self, table: str, key: Any) -> str:
        """Return whether a table of a database ``d`` holds what the change log says of a row."""
        kept = stored_row(str(self.folder / table), key_text({"id": key}))
        return verdict(self.traced(table, key).state, kept)

    def tables(self) -> list[str]:
        """Return the names of the tables, without those beside them."""
        names = [path.name for path in self.folder.iterdir()] if self.folder.exists() else []
        return sorted(name for name in names if not name.endswith(BESIDE))

    def rows(self, spark: SparkSession, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        found = spark.read.format(self.sink).load(str(self.folder / name)).collect()
        return [msgspec.json.decode(row["row"]) for row in found]

    def versions(self, name: str) -> dict[Key, list[Version]]:
        """Return the versions of the rows of a Delta table."""
        return versions_in(self.history_rows(name))

    def history_rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of the table of versions beside a Delta table."""
        found = DeltaTable(str(self.folder / f"{name}__history")).to_pyarrow_table()
        return list(found.to_pylist(maps_as_pydicts="strict"))

    def content(self, spark: SparkSession) -> Content:
        """Return the rows of every table, as the model has them."""
        return {
            name: {key_of({"id": row["id"]}): row for row in self.rows(spark, name)}
            for name in self.tables()
        }


def lake_in(sink: str, spark: SparkSession, root: Path, **options: Any) -> Lake:
    """Return a lake of a table format; the catalog of Iceberg keeps tables in folders too."""
    need(sink)
    if sink != "iceberg":
        return Lake(root, sink, **options)
    folder = Path(str(spark.conf.get("spark.sql.catalog.ice.warehouse")), root.name)
    return Lake(root, sink, lake=folder, namespace=root.name, **options)
