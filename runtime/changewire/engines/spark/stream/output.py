"""The three outputs of a stream: which rows each takes, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, DataFrameWriter
from pyspark.sql import functions as F  # noqa: N812 - the name that everybody knows it by
from pyspark.sql.types import StructType

from changewire.engines.layout import CHANGE, CONTROL, DEAD_LETTER
from changewire.engines.spark.decode import Decoded
from changewire.tables.names import is_path

KINDS: Final = {"change_log": CHANGE, "controls": CONTROL, "dead_letters": DEAD_LETTER}
"""Kind of row of each output, in the order in which a batch is written.

Dead letters come last: if a batch that a crash cut off has more of them when it is retried,
they are in two outputs, and never in none."""


@dataclass(frozen=True)
class Output:
    """An output of a stream.

    Attributes:
        name: One of `KINDS`.
        target: A path, or the name of a table.
    """

    name: str
    target: str

    @property
    def kind(self) -> str:
        """The kind of row that it takes."""
        return KINDS[self.name]

    @property
    def is_path(self) -> bool:
        """Whether the target is a path."""
        return is_path(self.target)

    def save(self, writer: DataFrameWriter) -> None:
        """Let a writer save its rows there."""
        if self.is_path:
            writer.save(self.target)
        else:
            writer.saveAsTable(self.target)

    def rows(self, decoded: Decoded) -> DataFrame:
        """Return its rows, with the columns that the output has.

        Dead letters have ``time``, when they were refused.
        """
        found = decoded.of_kind(self.kind)
        if self.kind != DEAD_LETTER:
            return found
        return found.withColumn("time", F.current_timestamp())

    def schema(self, decoded: Decoded) -> StructType:
        """Return the columns of its rows."""
        return self.rows(decoded).schema
