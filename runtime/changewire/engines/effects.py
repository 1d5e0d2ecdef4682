"""Decoded rows that say as well what each change does to rows of tables: the column ``effects``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET

from changewire.changes.change_row import ChangeRow
from changewire.engines.decode import Decoder
from changewire.engines.elements import Elements
from changewire.engines.layout import CHANGE_OPS
from changewire.engines.native import Kernel, Made, kernel_of
from changewire.engines.places import Places
from changewire.tables.keys import key_text
from changewire.tables.mutations import RowMutation, mutations
from changewire.tables.order import ChangePosition
from changewire_messages.tables.arrow import ROW_MUTATION as EFFECT

EFFECTS: Final = "effects"
"""Column of decoded rows."""

_decode: Final = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


def parsed(text: str | None) -> dict[str, Any] | None:
    """Return a row or key of JSON text; None for NULL."""
    return None if text is None else _decode(text)


class EffectsDecoder(Decoder):
    """Adds the column `EFFECTS`, and keeps the messages of all rows, not of dead letters only."""

    all_have_values = True

    @cached_property
    def kernel(self) -> Kernel | None:
        """What decodes most messages quickly; None if there is no such, or not for these rows."""
        if type(self) not in {EffectsDecoder, LeanEffectsDecoder}:
            return None
        return kernel_of(self.decode_options, effects=True)

    def _native_columns(
        self, batch: pa.RecordBatch, made: Made, places: Places | None
    ) -> dict[str, pa.Array]:
        found = super()._native_columns(batch, made, places)
        return {**found, **self._values(batch, places), EFFECTS: _effects(made)}

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        found = super()._columns(batch, elements, places)
        effects = pa.array([*map(_of_change, elements.rows)], pa.list_(EFFECT))
        return {**found, **self._values(batch, places), EFFECTS: effects}

    def _values(self, batch: pa.RecordBatch, places: Places | None) -> dict[str, pa.Array]:
        """Return the message of each row, if all rows have theirs."""
        if not self.all_have_values:
            return {}
        values = batch.column("value")
        return {"value": values if places is None else values.take(places.record)}


class LeanEffectsDecoder(EffectsDecoder):
    """Adds the column `EFFECTS`, and keeps the messages of dead letters only."""

    all_have_values = False


def _effects(made: Made) -> pa.Array:
    """Return the column `EFFECTS` of rows that a kernel made: NULL, or a list of two at most."""
    key, kind, names, before_key = made.effects
    sequence = made.change["sequence"]
    items = _items(key, kind, sequence, names)
    is_there = pc.is_valid(key)
    counts = is_there.cast(pa.int32())
    if before_key.null_count < len(before_key):
        size, had_other = len(key), pc.is_valid(before_key)
        counts = pc.add(counts, had_other.cast(pa.int32()))
        deleted = pa.array(["delete"] * size, pa.string())
        moved = _items(before_key, deleted, _first(sequence), pa.nulls(size, names.type))
        places = pa.array(chain.from_iterable(zip(range(size), range(size, 2 * size), strict=True)))
        items = pa.concat_arrays([moved, items]).take(places)
        is_item = pa.concat_arrays([had_other, is_there]).take(places)
    else:
        is_item = is_there
    ends = pc.cumulative_sum(counts)
    offsets = pc.if_else(pc.is_valid(kind), pc.subtract(ends, counts), None)
    items = items.filter(is_item)
    last = pa.array([len(items)], pa.int32())
    return pa.ListArray.from_arrays(pa.concat_arrays([offsets, last]), items, pa.list_(EFFECT))


def _items(*parts: pa.Array) -> pa.Array:
    """Return effects of their columns."""
    fields = [EFFECT.field(i) for i in range(EFFECT.num_fields)]
    columns = [part.cast(field.type) for part, field in zip(parts, fields, strict=True)]
    return pa.StructArray.from_arrays(columns, fields=fields)


def _first(sequence: pa.Array) -> pa.Array:
    """Return sequences with 0 as their minor number, as the old key of a row is deleted at."""
    is_there = pc.is_valid(sequence)
    major = pc.struct_field(sequence, "major")
    minor = pc.if_else(is_there, pa.scalar(0, pa.int64()), None)
    return pa.StructArray.from_arrays([major, minor], ["major", "minor"], mask=pc.invert(is_there))


def _of_change(change: ChangeRow | None) -> list[dict[str, Any]] | None:
    if change is None or change.op not in CHANGE_OPS or change.key is None:
        return None
    return rows_of(mutations(change))


def rows_of(found: Iterable[RowMutation]) -> list[dict[str, Any]]:
    """Return mutations as columns of `EFFECT`."""
    return [effect_row(one, key_text(one.key)) for one in found]


def effect_row(mutation: RowMutation, key: str) -> dict[str, Any]:
    """Return a mutation of the row of a key as columns of `EFFECT`."""
    sequence = mutation.sequence
    return {
        "key": key,
        "kind": mutation.kind,
        "sequence": {"major": sequence[0], "minor": sequence[1]} if sequence else None,
        "names": [*mutation.values] if mutation.kind == "patch" else None,
    }


def mutation_of(row: Mapping[str, Any], values: Mapping[str, Any]) -> RowMutation:
    """Return a mutation that stands in a row of its own, with the position of its change.

    Args:
        row: Columns of `EFFECT`, and ``topic``, ``partition``, ``offset`` and ``element``. The
            mutation gets no key and no identity: its caller groups mutations by key.
        values: Columns of the row after the change; None for what is null.
    """
    kind, sequence = row["kind"], row["sequence"]
    if kind == "patch":
        given = {name: values.get(name) for name in row["names"]}
        values = {name: UNSET if one is None else one for name, one in given.items()}
    return RowMutation(
        key={},
        identity=(),
        kind=kind,
        values=values,
        sequence=(sequence["major"], sequence["minor"]) if sequence else (),
        position=_position(row),
    )


def _position(row: Mapping[str, Any]) -> ChangePosition:
    return ChangePosition(row["topic"], row["partition"], row["offset"], row["element"])
