"""Rows of one table by their changes: as JSON text, or as columns of a type. They pickle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa
from msgspec import UNSET
from msgspec.structs import replace

from changewire.engines.changelog.effects import EFFECT, Effect, no_object, place_text
from changewire.engines.changelog.keys import parsed
from changewire.engines.changelog.logged import Row
from changewire.engines.effects import mutation_of
from changewire.engines.errors import OutputError
from changewire.engines.json_rows import KEY, ROW, packed, unpacked
from changewire.engines.typed.cells import Cells, RowCells
from changewire.engines.typed.fitted import (
    Fitted,
    TypedColumns,
    built,
    fitted_texts,
    key_cells,
    row_cells,
)
from changewire.engines.typed.types import without_metadata
from changewire.tables.mutations import RowMutation

GROUP: Final = "group"
"""Column of effects: text that is equal for keys that name one row."""

KEYED: Final = EFFECT.append(pa.field(GROUP, pa.string()))
"""Columns of effects with `GROUP`."""


class JsonRows:
    """Rows of JSON text.

    Attributes:
        columns: Columns of rows.
    """

    columns = pa.schema([(KEY, pa.string()), (ROW, pa.string())])

    def keyed(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        """Yield effects with `GROUP`."""
        for one in effects:
            yield {**one, GROUP: one["key"]}

    def mutations(self, effects: Sequence[Effect]) -> tuple[dict[str, Any], list[RowMutation]]:
        """Return the columns of a key, and what changes do to its row.

        Raises:
            OutputError: A row is not a JSON object.
        """
        key = effects[0][GROUP]
        names = unpacked(key)
        return {KEY: key}, [self._mutation(one, names) for one in effects]

    def row(self, named: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of a row, by those of its key and the others."""
        return {**named, ROW: packed(named[KEY], values)}

    @staticmethod
    def _mutation(one: Effect, names: dict[str, Any]) -> RowMutation:
        try:
            values = {} if one["after"] is None else unpacked(one["after"])
        except (ValueError, msgspec.MsgspecError):
            raise no_object(one) from None
        return mutation_of(one, {name: v for name, v in values.items() if name not in names})


class TypedRows:
    """Rows that are columns of a type; columns of the key that it lacks are text.

    It has the attributes and methods of `JsonRows`.
    """

    def __init__(self, row: pa.Schema, keys: Sequence[str]) -> None:
        """Remember the columns of rows, and which of them are the key."""
        self._columns = TypedColumns(row, keys)
        self.columns = without_metadata([*row, *self._columns.key_only])

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the constructor was given."""
        return {"row": self._columns.row, "keys": self._columns.key.names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the rest again."""
        TypedRows.__init__(self, **state)

    def keyed(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        """Yield effects with `GROUP`.

        Raises:
            OutputError: A key does not fit its columns.
        """
        for one in effects:
            found = fitted_texts(one["key"], None, *self._cells)
            if found.failure is not None:
                raise _misfit(one, found)
            yield {**one, GROUP: found.key}

    def mutations(self, effects: Sequence[Effect]) -> tuple[dict[str, Any], list[RowMutation]]:
        """Return the columns of a key, and what changes do to its row.

        Raises:
            OutputError: A row does not fit its columns.
        """
        fitted = [fitted_texts(one["key"], one["after"], *self._cells) for one in effects]
        failures = [one.failure for one in fitted]
        key, row = self._types
        named = _held([one.named for one in fitted], key, failures)[0]
        contents = _held([one.content for one in fitted], row, failures)
        for one, found, failure in zip(effects, fitted, failures, strict=True):
            if failure is not None:
                raise _misfit(one, found._replace(failure=failure))
        pairs = zip(effects, contents, strict=True)
        return named, [self._mutation(one, content or {}) for one, content in pairs]

    def row(self, named: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        """Return the columns of a row, by those of its key and the others."""
        return {**values, **named}

    @cached_property
    def _cells(self) -> tuple[Cells, RowCells]:
        return key_cells(self._columns.key), row_cells(self._columns.row)

    @cached_property
    def _types(self) -> tuple[pa.DataType, pa.DataType]:
        both = (self._columns.key, self._columns.row)
        key, row = (pa.struct([*without_metadata(one)]) for one in both)
        return key, row

    def _mutation(self, one: Effect, content: dict[str, Any]) -> RowMutation:
        """Return a mutation; columns that are NULL are not there."""
        keys, named = self._columns.key.names, self._cells[1]
        values = {n: v for n, v in content.items() if v is not None and n not in keys}
        found = mutation_of({**one, "names": ()}, values)
        if one["kind"] != "patch":
            return replace(found, values=values)
        columns = [name for name in map(named.column, one["names"]) if name not in keys]
        return replace(found, values={name: values.get(name, UNSET) for name in columns})


Shape: TypeAlias = JsonRows | TypedRows


def shape_of(row: pa.Schema | None, keys: Sequence[str] | None, changes: Sequence[Row]) -> Shape:
    """Return how rows are given.

    Args:
        row: Columns of a type; None for JSON text.
        keys: Columns of the key; None for those of any change.
        changes: Changes of the table.

    Raises:
        OutputError: No change has a key.
    """
    if row is None:
        return JsonRows()
    return TypedRows(row, keys or keys_of(one["key"] for one in changes))


def keys_of(keys: Iterable[str | None]) -> list[str]:
    """Return the columns of the key of the first change that has one.

    Raises:
        OutputError: None has.
    """
    first = next((key for key in keys if key is not None), None)
    if first is None:
        raise OutputError("no change of the table has a key; name its columns by `keys`")
    try:
        return [*parsed(first)]
    except ValueError:
        raise OutputError("a key is not a JSON object: no log?") from None


def _held(values: list[Any], kind: pa.DataType, failures: list[Any]) -> list[Any]:
    """Return values as columns of a type give them back; `failures` takes what these refuse."""
    found: list[Any] = built(values, kind, failures).to_pylist(maps_as_pydicts="strict")
    return found


def _misfit(one: Effect, found: Fitted) -> OutputError:
    why = found.failure
    text = "" if why is None else f"{why.pointer}: {why.message}"
    return OutputError(f"the change at {place_text(one)}: {text}")
