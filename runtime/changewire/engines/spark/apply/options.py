"""How the changes of a query are applied: what its user asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from changewire.changes import embedded
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.decode import Decoder
from changewire.engines.effects import EffectsDecoder
from changewire.engines.options import TableOptions
from changewire.engines.spark.apply.effects import with_effects, with_images
from changewire.engines.spark.apply.formats import TableFormat, format_of
from changewire.engines.spark.apply.plain import EffectReports
from changewire.engines.spark.arrow_types import row_columns
from changewire.engines.spark.decode import DecodedFrames, Reported, mapped, struct_of
from changewire.engines.spark.session import is_remote
from changewire.engines.spark.tally import tally_of
from changewire.engines.spark.types import ROWS
from changewire.engines.typed.evolve import SchemaEvolution, evolution_of
from changewire.engines.typed.images import ImagesDecoder
from changewire.tables.names import Template, check_history, template_of
from changewire.tables.routing import Routing
from changewire.tables.version_rows import VersionNames, check_names


@dataclass(frozen=True)
class ApplyOptions:
    """How the changes of a query are applied.

    Attributes:
        routing: How sources find their targets.
        decode_options: How messages are read.
        sink: Table format.
        checkpoint: Folder of the query's checkpoint.
        apply_as_truncates: Whether truncates are applied.
        rows: What tables have their rows as: ``json``; ``embedded``, the columns that the schemas
            in the messages declare; or columns of a type.
        evolution: What tables do with columns that they lack.
        history: How tables of versions are named; None: there are none.
        history_names: How their columns are named.

    Raises:
        ValueError: There is no such format, or its tables have names and the target is a path; or
            tables of versions would be of other sources than tables.
    """

    routing: Routing
    decode_options: DecodeOptions
    sink: str
    checkpoint: str
    apply_as_truncates: bool = False
    rows: Literal["json", "embedded"] | StructType = "json"
    evolution: SchemaEvolution = "add_columns"
    history: Template | None = None
    history_names: VersionNames = "plain"

    def __post_init__(self) -> None:
        """Check that the format can have such tables."""
        check_names(self.history_names)
        self._check(self.routing.template)
        if self.history is None:
            return
        self._check(self.history)
        check_history(self.history, self.routing.template)

    def _check(self, template: Template) -> None:
        if template.is_path and not self.tables.takes_paths:
            raise ValueError(f"tables of {self.sink} have names, and no paths: {template.text}")

    @property
    def tables(self) -> TableFormat:
        """The table format."""
        return format_of(self.sink)

    @property
    def are_typed(self) -> bool:
        """Whether rows are columns of a type."""
        return self.rows != "json"


def apply_options_of(
    decode_options: DecodeOptions, options: TableOptions, sink: str, checkpoint: str
) -> ApplyOptions:
    """Return how changes are applied, by what a user asked for.

    Raises:
        ValueError: An option does not fit.
        ImportError: The rows are a JSON Schema, and the extra ``codegen`` is not installed.
    """
    evolution, rows = evolution_of(options.schema_evolution), options.rows
    if rows == "embedded":
        embedded.dialect(decode_options.format)
    elif rows != "json":
        rows = struct_of(rows, decode_options)
    return ApplyOptions(
        Routing(template_of(options.target), options.null_set),
        decode_options,
        sink,
        checkpoint,
        options.apply_as_truncates,
        rows,
        evolution,
        None if options.history is None else template_of(options.history),
        cast("VersionNames", options.history_names),
    )


def with_effects_of(messages: DataFrame, options: ApplyOptions) -> DecodedFrames:
    """Return decoded messages with what their changes do to rows; what does not fit is refused."""
    columns = with_effects(ROWS)
    decoder: Decoder = EffectsDecoder(options.decode_options)
    if isinstance(options.rows, StructType):
        columns = with_images(ROWS, options.rows)
        decoder = ImagesDecoder(options.decode_options, row_columns(options.rows))
    spark = messages.sparkSession
    tally = tally_of(spark)
    reports = EffectReports(spark) if messages.isStreaming and not is_remote(spark) else None
    rows = mapped(messages, decoder, columns, tally, reports)
    reported = None if reports is None else Reported(rows, reports)
    return DecodedFrames(rows, native=tally, reported=reported)
