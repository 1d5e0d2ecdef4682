"""Decoded rows with the effects of each change on rows of tables: the column ``effects``."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
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
from changewire_messages.change import Sequence, Source
from changewire_messages.tables.arrow import ROW_MUTATION as EFFECT

EFFECTS: Final = "effects"
"""Column of decoded rows."""

_SEQUENCE: Final = ("major", "minor")

_decode: Final = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


class EffectsDecoder(Decoder):
    """Adds the column `EFFECTS`, and keeps the messages of all rows, not of dead letters only."""

    all_have_values = True

    def _kernel(self) -> Kernel | None:
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
    return pa.StructArray.from_arrays([major, minor], _SEQUENCE, mask=pc.invert(is_there))


def _of_change(change: ChangeRow | None) -> list[dict[str, Any]] | None:
    if change is None or change.op not in CHANGE_OPS or change.key is None:
        return None
    return _rows_of(change)


def effects_of_logged(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the effects of a change on rows, as the column `EFFECTS`, by its row in a log."""
    attributes, sequence = _parsed(row["attributes"]) or {}, row["sequence"]
    # Of a whole row nothing is read here but that it is there.
    read = _is_there if attributes.get("row_image", "full") == "full" else _parsed
    change = ChangeRow(
        op=row["op"],
        source=Source(**row["source"]),
        key=_parsed(row["key"]),
        before_key=_parsed(row["before_key"]),
        before=read(row["before"]),
        after=read(row["after"]),
        sequence=None if sequence is None else Sequence(**sequence),
        attributes=attributes,
    )
    return _rows_of(change)


def _parsed(text: str | None) -> dict[str, Any] | None:
    return None if text is None else _decode(text)


def _is_there(text: str | None) -> dict[str, Any] | None:
    return None if text is None else {}


def _rows_of(change: ChangeRow) -> list[dict[str, Any]]:
    """Return the effects of a change on rows as columns of `EFFECT`."""
    return [
        {
            "key": key_text(one.key),
            "kind": one.kind,
            "sequence": dict(zip(_SEQUENCE, one.sequence, strict=True)) if one.sequence else None,
            "names": [*one.values] if one.kind == "patch" else None,
        }
        for one in mutations(change)
    ]


def mutation_of(row: Mapping[str, Any], values: Mapping[str, Any]) -> RowMutation:
    """Return a mutation that is in a row, without key and identity, by which its caller groups.

    Args:
        row: ``kind``, ``names``, the position of the change, and its ``sequence``, or ``major`` and
            ``minor``.
        values: Columns of the row after the change; None for what is null.
    """
    kind, found = row["kind"], row.get("sequence", row)
    if kind == "patch":
        given = {name: values.get(name) for name in row["names"]}
        values = {name: UNSET if one is None else one for name, one in given.items()}
    sequence = () if found is None or found["major"] is None else (found["major"], found["minor"])
    return RowMutation(
        key={},
        identity=(),
        kind=kind,
        values=values,
        sequence=sequence,
        position=ChangePosition(row["topic"], row["partition"], row["offset"], row["element"]),
    )
