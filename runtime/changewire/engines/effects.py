"""Decoded rows that say as well what each change does to rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
from msgspec import UNSET

from changewire.changes.change_row import ChangeRow
from changewire.engines.decode import Decoder, Elements
from changewire.engines.layout import CHANGE_OPS
from changewire.engines.places import Places
from changewire.tables.effects import Effect, effects
from changewire.tables.keys import key_text
from changewire.tables.order import NOWHERE, Placed, Position

EFFECTS: Final = "effects"
"""Column of decoded rows."""

SEQUENCE: Final = pa.struct({"major": pa.int64(), "minor": pa.int64()})

EFFECT: Final = pa.struct(
    {
        "key": pa.string(),
        "kind": pa.string(),
        "sequence": SEQUENCE,
        "names": pa.list_(pa.string()),
    }
)
"""What a change does to one row: key of the row as `key_text`, kind and sequence of the effect, and
for a patch the columns that it sets or removes. Their values are those of ``after``."""


class EffectsDecoder(Decoder):
    """Adds the column `EFFECTS`, and keeps the messages of all rows, not of dead letters only."""

    all_have_values = True

    def _columns(
        self, batch: pa.RecordBatch, elements: Elements, places: Places | None
    ) -> dict[str, pa.Array]:
        found = super()._columns(batch, elements, places)
        values = batch.column("value")
        found["value"] = values if places is None else values.take(places.record)
        found[EFFECTS] = pa.array([*map(_of_change, elements.changes)], pa.list_(EFFECT))
        return found


def effect_of(row: Mapping[str, Any], values: Mapping[str, Any]) -> Effect:
    """Return an effect that stands in a row of its own, with the place of its change.

    Args:
        row: Columns of `EFFECT`, and ``topic``, ``partition``, ``offset`` and ``element``. The
            effect gets no key and no identity: its caller groups effects by key.
        values: Columns of the row after the change; None for what is null.
    """
    kind, sequence = row["kind"], row["sequence"]
    if kind == "patch":
        values = {name: _or_unset(values.get(name)) for name in row["names"]}
    return Effect(
        key={},
        identity=(),
        kind=kind,
        values=values,
        sequence=(sequence["major"], sequence["minor"]) if sequence else (),
        position=Position(row["topic"], row["partition"], row["offset"], row["element"]),
    )


def _or_unset(value: Any) -> Any:
    return UNSET if value is None else value


def _of_change(change: ChangeRow | None) -> list[dict[str, Any]] | None:
    if change is None or change.op not in CHANGE_OPS or change.key is None:
        return None
    return rows_of(effects(Placed(change.change(), NOWHERE)))


def rows_of(found: Iterable[Effect]) -> list[dict[str, Any]]:
    """Return effects as columns of `EFFECT`."""
    return [*map(_of_effect, found)]


def _of_effect(effect: Effect) -> dict[str, Any]:
    sequence = effect.sequence
    return {
        "key": key_text(effect.key),
        "kind": effect.kind,
        "sequence": {"major": sequence[0], "minor": sequence[1]} if sequence else None,
        "names": [*effect.values] if effect.kind == "patch" else None,
    }
