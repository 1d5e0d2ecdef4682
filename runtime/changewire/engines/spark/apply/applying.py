"""How the changes of a query are applied: what its user asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyspark.sql.types import StructType

from changewire.changes.reading import Reading
from changewire.engines.spark.apply.evolve import SchemaEvolution
from changewire.engines.spark.apply.formats import FORMATS, TableFormat
from changewire.tables.routing import Routing


@dataclass(frozen=True)
class RowTypes:
    """What tables have their rows as.

    Attributes:
        rows: ``json``; ``embedded``, the columns that the schemas in the messages declare; or
            columns of a type.
        reading: How messages are read.
        evolution: What tables do with columns that they lack.
    """

    rows: Literal["json", "embedded"] | StructType
    reading: Reading
    evolution: SchemaEvolution = "add_columns"

    @property
    def are_typed(self) -> bool:
        """Whether rows are columns of a type."""
        return not isinstance(self.rows, str) or self.rows != "json"


@dataclass(frozen=True)
class Applying:
    """How the changes of a query are applied.

    Attributes:
        routing: How sources find their targets.
        types: What tables have their rows as.
        sink: Table format.
        checkpoint: Folder of the query's checkpoint.
        apply_as_truncates: Whether truncates are applied.
    """

    routing: Routing
    types: RowTypes
    sink: str
    checkpoint: str
    apply_as_truncates: bool = False

    @property
    def tables(self) -> TableFormat:
        """The table format."""
        return FORMATS[self.sink]
