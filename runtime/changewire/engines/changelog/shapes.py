"""How rows of a table are given: as JSON text, or as columns of a type. Shapes pickle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from changewire.changes.decode_options import DecodeOptions
from changewire.engines.arrays import as_array
from changewire.engines.changelog.effects import EFFECT, Effect, place_text
from changewire.engines.changelog.keys import parsed
from changewire.engines.effects import mutation_of
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import COMMENTS, KEY, ROW, packed, unpacked, with_key
from changewire.engines.layout import DECLARED
from changewire.engines.typed.fit import Fit, Texts, built, fitted_texts
from changewire.engines.typed.own import USUAL, RowOptions
from changewire.engines.typed.schemas import RowsAs, given_columns
from changewire.engines.typed.types import without_metadata
from changewire.tables.keys import key_text
from changewire.tables.mutations import RowMutation
from changewire.tables.routing import Refusal
from changewire.tables.row_state import Rescued, rescued_values

GROUP: Final = "group"
"""Column of effects: text that is equal for keys that name one row."""

RESCUED: Final = "rescued"
"""Column of mutations that fit a table: JSON text of the values that do not."""

KEYED: Final = EFFECT.append(pa.field(GROUP, pa.string()))
"""Columns of effects with `GROUP`."""

_NO_OBJECT: Final = Refusal("schema-mismatch", "/after", "a row is not a JSON object: no log?")


class FittedRows(NamedTuple):
    """Changes as rows of a table.

    Attributes:
        keys: Texts that are equal for equal keys.
        rows: The rows; those of deletes have their keys alone.
        rescued: JSON text of the values of each row that do not fit; NULL without any.
        failures: Why changes do not fit, by their indexes.
        rounded: How many numbers were rounded.
    """

    keys: Texts
    rows: pa.StructArray
    rescued: pa.Array
    failures: Mapping[int, Refusal]
    rounded: int = 0


class JsonRows:
    """Rows of JSON text: the columns ``key`` and ``row``, in tables and in what queries return."""

    keys: tuple[str, ...] = (KEY,)
    schema: Any = pa.schema(
        [pa.field(n, pa.string(), metadata={"comment": COMMENTS[n]}) for n in (KEY, ROW)]
    )
    columns: Any = without_metadata(schema)
    how: RowOptions = USUAL
    is_typed = False

    def fitted(self, keys: Texts, afters: Texts, columns: Texts | None = None) -> FittedRows:
        """Return the rows of changes, by the texts of their keys, rows and columns."""
        del columns
        rows: list[str | None] = []
        failures: dict[int, Refusal] = {}
        texts = zip(keys.to_pylist(), afters.to_pylist(), strict=True)
        for index, (key, after) in enumerate(texts):
            row = None
            try:
                row = None if after is None else with_key(key, after)
            except (ValueError, msgspec.MsgspecError):
                failures[index] = _NO_OBJECT
            rows.append(row)
        found = pa.StructArray.from_arrays(
            [as_array(keys), pa.array(rows, pa.string())], [KEY, ROW]
        )
        return FittedRows(keys, found, pa.nulls(len(rows), pa.string()), failures)

    def key_of(self, row: Mapping[str, Any]) -> str:
        """Return the text of the key of a row of the table."""
        return str(row[KEY])

    def names_in(self, key: Mapping[str, Any]) -> Iterable[str]:
        """Return the columns of rows that are of a key, by its columns in the table."""
        return unpacked(key[KEY])

    def column(self, name: str) -> str:
        """Return the name that the table has for a column."""
        return name

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a row of the table: JSON texts, None for null; or its columns."""
        return {} if row[ROW] is None else unpacked(row[ROW])

    def row(self, named: Mapping[str, Any], values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a row of the table, by the columns of its key and others; None if deleted."""
        return {**named, ROW: None if values is None else packed(named[KEY], values)}

    def keyed(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        """Yield effects with `GROUP`; a key that does not fit raises an OutputError."""
        for one in effects:
            yield {**one, GROUP: one["key"]}

    def mutation(self, one: Mapping[str, Any], row: Mapping[str, Any]) -> RowMutation:
        """Return the effect of a change, by its row as the table would have it."""
        rescued = rescued_values(one.get(RESCUED))
        names = one["names"]
        if names is not None:
            names = [name if name in rescued else self.column(name) for name in names]
        return mutation_of({**one, "names": names}, {**self.values(row), **rescued})

    def whole_mutations(
        self, effects: Sequence[Effect]
    ) -> tuple[dict[str, Any], list[RowMutation]]:
        """Return the columns of a key, and the effects of changes on its whole row."""
        rows = self._rows(effects)
        named = {name: rows[0][name] for name in self.keys}
        return named, [self._fitted(one, row) for one, row in zip(effects, rows, strict=True)]

    def _fitted(self, one: Effect, row: Mapping[str, Any]) -> RowMutation:
        try:
            return self.mutation(one, row)
        except (ValueError, msgspec.MsgspecError):
            raise _misfit(one, _NO_OBJECT) from None

    def mutations(self, effects: Sequence[Effect]) -> tuple[dict[str, Any], list[RowMutation]]:
        """Return the columns of a key, and the effects of changes on the others of its row."""
        named, found = self.whole_mutations(effects)
        names = {*self.names_in(named)}
        others = ({name: v for name, v in one.values.items() if name not in names} for one in found)
        pairs = zip(found, others, strict=True)
        return named, [replace(one, values=values) for one, values in pairs]

    def _rows(self, effects: Sequence[Effect]) -> list[dict[str, Any]]:
        return [{KEY: one["key"], ROW: one["after"]} for one in effects]


class TypedRows(JsonRows):
    """Rows that are columns of a type; columns of the key that it lacks are text."""

    is_typed = True

    def __init__(
        self,
        row: pa.Schema,
        keys: Sequence[str],
        how: RowOptions = USUAL,
    ) -> None:
        """Remember the columns of rows, and which of them are the key; see also `Fit`."""
        fields = {field.name: field for field in row}
        key_only = [pa.field(name, pa.string()) for name in keys if name not in fields]
        self._row = row
        self.keys: tuple[str, ...] = tuple(keys)
        self.schema: Any = pa.schema([*key_only, *row])
        self.columns: Any = without_metadata([*row, *key_only])
        self._type: pa.DataType = pa.struct([*without_metadata(self.schema)])
        self.how: RowOptions = how
        self.fit: Fit = Fit((self.schema.field(name) for name in keys), row, how)

    def fitted(self, keys: Texts, afters: Texts, columns: Texts | None = None) -> FittedRows:
        """Return the rows of changes; their keys are written again from their columns."""
        found = self.fit(keys, afters, columns)
        content, named = (
            dict(zip(part.type.names, part.flatten(), strict=True))
            for part in (found.content, found.named)
        )
        arrays = {**content, **named}
        rows = pa.StructArray.from_arrays(
            [arrays[name] for name in self.schema.names], self.schema.names
        )
        rounded = pc.sum(found.rounded).as_py() or 0
        return FittedRows(found.key, rows, found.rescued, found.failures, rounded)

    def key_of(self, row: Mapping[str, Any]) -> str:
        """Return the text of the key of a row of the table."""
        return key_text({name: row[name] for name in self.keys})

    def names_in(self, key: Mapping[str, Any]) -> Iterable[str]:
        """Return the columns of the key."""
        return key

    def column(self, name: str) -> str:
        """Return the name that the table has for a column; it may differ in case."""
        return self.fit.cells.row.column(name)

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a row of the table that are not NULL."""
        return {name: row[name] for name in self._row.names if row[name] is not None}

    def row(self, named: Mapping[str, Any], values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return a row of the table; one that is deleted has its key alone."""
        found = {name: one for name, one in (values or {}).items() if type(one) is not Rescued}
        return {**found, **named}

    def keyed(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        """Yield effects with `GROUP`, the text of the key that is made of its columns."""
        for one in effects:
            found = fitted_texts(one["key"], None, self.fit.cells)
            if found.failure is not None:
                raise _misfit(one, found.failure)
            yield {**one, GROUP: found.key}

    def _rows(self, effects: Sequence[Effect]) -> list[dict[str, Any]]:
        # Those of one key are few: columns of them are made in less time without `Fit`.
        cells = self.fit.cells
        each = [fitted_texts(one["key"], one["after"], cells, one.get(DECLARED)) for one in effects]
        failures = [one.failure for one in each]
        rows = [{**(one.content or {}), **(one.named or {})} for one in each]
        found = built(rows, self._type, failures)
        for one, why in zip(effects, failures, strict=True):
            if why is not None:
                raise _misfit(one, why)
        made: list[dict[str, Any]] = found.to_pylist(maps_as_pydicts="strict")
        return made


Shape: TypeAlias = JsonRows


def given_shape(
    row_schema: RowsAs,
    decode_options: DecodeOptions | None,
    key_columns: Sequence[str] | None,
    keys: Iterable[str | None],
) -> Shape:
    """Return how queries give rows; of `keys`, those of changes, no more are read than needed."""
    if isinstance(row_schema, str) and row_schema == "json":
        return JsonRows()
    return TypedRows(given_columns(row_schema, decode_options), key_columns or keys_of(keys))


def keys_of(keys: Iterable[str | None]) -> list[str]:
    """Return the columns of the key of the first change that has one.

    Without any change they are not missing: the table has no row, whatever its columns are.
    """
    first: str | None = "{}"
    for first in keys:
        if first is not None:
            break
    if first is None:
        raise OutputError("no change of the table has a key; name its columns by `key_columns`")
    try:
        return [*parsed(first)]
    except ValueError:
        raise OutputError("a key is not a JSON object: no log?") from None


def _misfit(one: Effect, why: Refusal) -> OutputError:
    return OutputError(f"the change at {place_text(one)}: {why.pointer}: {why.message}")
