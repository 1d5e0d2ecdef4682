"""Every version of the rows of a table, as a DataFrame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.changelog.keys import parsed
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import KEY, ROW
from changewire.engines.spark.apply.history.columns import with_columns
from changewire.engines.spark.apply.history.effects import effects_in, of_table, truncates_in
from changewire.engines.spark.apply.history.keys import VERSION, fitted, versions_in
from changewire.engines.spark.apply.shape import JsonShape
from changewire.engines.spark.apply.typed_shape import Shape, TypedShape
from changewire.engines.spark.decode import RowsAs, struct_of
from changewire.engines.spark.variant import numbers_as_text
from changewire.engines.typed.schemas import options_of_log
from changewire.tables.version_rows import VersionNames, check_names

_LONG: Final = re.compile(r"\d{39}")
"""What every integer has that VARIANT would round."""

_text: Final = msgspec.json.Encoder(decimal_format="number").encode


def history(
    changes: DataFrame,
    *,
    table: str,
    controls: DataFrame | None = None,
    rows: RowsAs = "json",
    keys: Sequence[str] | None = None,
    format: str | None = None,
    families: Sequence[str] | None = None,
    names: VersionNames = "plain",
) -> DataFrame:
    """Return every version of the rows of a table, by the rules of docs/tables.md.

    A version is what a row was from one change to the next one that made it another. Which change
    is newer its sequence says, so a late change has its place between the versions, and what comes
    twice changes nothing. A task holds the changes of one row in memory.

    Args:
        changes: A change log, whose rows are JSON text: an output of `write_stream` or
            `apply_changes`, or `DecodedFrames.changes`.
        table: The table, as ``database.table`` in the messages, or ``database.schema.table``.
        controls: The control events beside the log: truncates among them end versions. None:
            truncates change nothing, as in tables without ``apply_as_truncates``.
        rows: How rows are given: columns ``key`` and ``row`` of JSON text, the same as VARIANT, or
            columns of a type, as `decode` takes them. Columns that the type lacks are left out, and
            a change of these alone begins no version.
        keys: Columns of the key, for columns of a type; by default those of any change.
        format: Public name of the format of the messages, if `rows` is a schema that stands in
            them; the log does not say it.
        families: Column families of an HBase table, as in `decode`, likewise.
        names: ``plain``: columns ``valid_from`` and ``valid_to``, the times of the changes that
            began and ended the version, ``is_current`` and ``op``. ``auto_cdc``: ``__START_AT`` and
            ``__END_AT``, the sequences of these changes.

    Returns:
        The columns of rows, those of `names`, and ``_changewire``, with the place of the change
        that began the version.

    Raises:
        ValueError: There are no such names, `rows` is something else, or it is the schema of a
            message and `format` is not given.
        OutputError: It is no change log, rows have columns that versions have too, or, when the
            DataFrame is computed, a change does not fit the columns.
        ImportError: `rows` is a JSON Schema, and the extra ``codegen`` is not installed.
    """
    check_names(names)
    decode_options = options_of_log(format, keys, families)
    log = of_table(changes, table)
    truncates = [] if controls is None else truncates_in(of_table(controls, table))
    shape = _shape(log, rows, keys, decode_options)
    versions = versions_in(fitted(effects_in(log), shape), shape, truncates)
    found = with_columns(versions.where(F.col("action") == VERSION), shape, names)
    return _as_variant(found) if isinstance(shape, _VariantShape) else found


class _VariantShape(JsonShape):
    """Rows of JSON text in which VARIANT loses no digit."""

    def pack(self, key: str, values: Mapping[str, Any]) -> str:
        """Return the row with text in place of integers that VARIANT would round."""
        text = super().pack(key, values)
        if _LONG.search(text) is None:
            return text
        columns: dict[str, Any] = {ROW: parsed(text)}
        return _text(columns[ROW]).decode() if numbers_as_text(columns) else text


def _shape(
    log: DataFrame,
    rows: RowsAs,
    keys: Sequence[str] | None,
    decode_options: DecodeOptions | None,
) -> Shape:
    if isinstance(rows, str) and rows in {"json", "variant"}:
        return JsonShape() if rows == "json" else _VariantShape()
    return TypedShape(struct_of(rows, decode_options), keys or _keys_of(log))


def _keys_of(log: DataFrame) -> list[str]:
    """Return the columns of the key of any change; one job, which reads as little as it can."""
    first = log.where(F.col("key").isNotNull()).select(F.json_object_keys("key")).first()
    if first is None:
        raise OutputError("no change of the table has a key; name its columns by `keys`")
    return [*first[0]]


def _as_variant(versions: DataFrame) -> DataFrame:
    """Return versions whose rows of JSON text are VARIANT; text that Spark cannot parse stays."""
    return versions.withColumns(
        {
            name: F.coalesce(F.try_parse_json(name), F.col(name).cast("variant"))
            for name in (KEY, ROW)
        }
    )
