"""Rows of changes as columns of a type, made while they are decoded.

What a task knows of a row it need not parse a second time from JSON text: that of a change with one
effect, which writes or deletes a whole row, whose key is written as `key_text` writes it, and whose
numbers are not rounded. `changewire.engines.typed.fitted` takes all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.effects import EFFECTS
from changewire.engines.elements import Elements
from changewire.engines.native import Form, Made
from changewire.engines.places import Places
from changewire.engines.typed.cells import Cells, RowCells
from changewire.engines.typed.decode import CheckedEffectsDecoder
from changewire.engines.typed.fitted import fitted_texts, key_cells, row_cells
from changewire.tables.mutations import DELETE, FULL

IMAGE: Final = "typed_image"
"""Column of decoded rows next to `EFFECTS`: the row that a change writes or deletes; NULL if it is
not known, or if there is more to know of the effects."""

_names: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_ESCAPED: Final = r'["\\]'


class ImagesDecoder(CheckedEffectsDecoder):
    """Adds the column `IMAGE`."""

    form: ClassVar[Form] = "both"

    @cached_property
    def _fit(self) -> tuple[Cells, RowCells]:
        """What fits keys and rows into their columns."""
        return key_cells(self._row), row_cells(self._row)

    def _native_columns(
        self, batch: pa.RecordBatch, made: Made, places: Places | None
    ) -> dict[str, pa.Array]:
        found = super()._native_columns(batch, made, places)
        return {**found, IMAGE: typed_images(made, self._kind)}

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        found = super()._columns(batch, elements, places)
        effects, befores, afters = (found[n].to_pylist() for n in (EFFECTS, "before", "after"))
        rows = zip(effects, befores, afters, strict=True)
        images = [_fitted_image(*row, self._fit) for row in rows]
        return {**found, IMAGE: pa.array(images, self._kind)}


def _fitted_image(
    effects: list[dict[str, Any]] | None,
    before: str | None,
    after: str | None,
    fit: tuple[Cells, RowCells],
) -> dict[str, Any] | None:
    """Return the column `IMAGE` of a change, made of its rows of JSON text; None if not known."""
    of_key, of_row = fit
    if effects is None or len(effects) != 1 or effects[0]["kind"] not in {FULL, DELETE}:
        return None
    (effect,) = effects
    image = after if effect["kind"] == FULL else before
    if image is None or not (names := _names(effect["key"]).keys()) <= of_key.keys():
        return None
    fitted = fitted_texts(effect["key"], image, {n: of_key[n] for n in names}, of_row)
    if fitted.failure is not None or fitted.rounded or fitted.key != effect["key"]:
        return None
    row, named = fitted.content or {}, fitted.named or {}
    return row if all(row.get(name) == value for name, value in named.items()) else None


def typed_images(made: Made, kind: pa.StructType) -> pa.Array:
    """Return the column `IMAGE` of rows of a type that a kernel made in both forms."""
    nothing = pa.nulls(len(made.leniencies), kind)
    key, effect, _, before_key = made.effects
    before, after = made.images
    images = pc.coalesce(after, before)
    first = next((one for one in key if one.is_valid), None)
    names = [] if first is None else sorted(_names(first.as_py()))
    if (text := key_texts(names, images)) is None:
        return nothing
    is_whole = pc.is_in(effect, pa.array([FULL, DELETE]))
    has_image = pc.and_(pc.is_valid(images), pc.is_null(before_key))
    is_known = pc.and_(pc.and_(is_whole, has_image), pc.equal(key, text))
    return pc.if_else(pc.fill_null(is_known, False), images, pa.scalar(None, kind))  # noqa: FBT003


def key_texts(names: Sequence[str], images: pa.StructArray) -> pa.Array | None:
    """Return the keys of rows, by their sorted names, as `key_text` writes them.

    NULL if the columns do not give it at once; None if they say none.
    """
    if not names or not {*names} <= {*images.type.names}:
        return None
    columns = dict(zip(images.type.names, images.flatten(), strict=True))
    parts = [pa.scalar("{")]
    for i, name in enumerate(names):
        if (value := _value_text(columns[name])) is None:
            return None
        parts += [pa.scalar(f"{',' if i else ''}{msgspec.json.encode(name).decode()}:"), value]
    return pc.binary_join_element_wise(*parts, pa.scalar("}"), pa.scalar(""))


def _value_text(column: pa.Array) -> pa.Array | None:
    """Return values as JSON text; NULL if it has escapes, None if it is of another type."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.string())
    if not pa.types.is_string(column.type):
        return None
    has_escapes = pc.match_substring_regex(column, _ESCAPED)
    plain = pc.if_else(has_escapes, pa.scalar(None, pa.string()), column)
    quote = pa.scalar('"')
    return pc.binary_join_element_wise(quote, plain, quote, pa.scalar(""))
