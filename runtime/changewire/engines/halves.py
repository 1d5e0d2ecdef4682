"""Halves of updates that came as two messages of one batch: what the two do to rows together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

from changewire.changes.pairs import pair_placed
from changewire.engines.effects import rows_of
from changewire.tables.effects import effects
from changewire.tables.order import NOWHERE, Placed, Position
from changewire.tables.routing import Refusal, apply_failed
from changewire_messages.change import Change, Sequence, Source

READ: Final = ("source", "key", "before", "after", "sequence", "attributes")
"""Columns of decoded rows that tell what a half is, beside its place."""

_decode: Final = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode


class Whole(NamedTuple):
    """An update whose halves met.

    Attributes:
        position: Of the row after it.
        effects: What it does, as columns of `changewire.engines.effects.EFFECT`; None if it failed.
        failure: Why it failed.
    """

    position: Position
    effects: list[dict[str, Any]] | None
    failure: Refusal | None = None


def wholes(halves: Iterable[Mapping[str, Any]]) -> Iterator[Whole]:
    """Yield the updates whose halves met, by the rule of `changewire.pair`.

    Args:
        halves: Updates that have a row before them or a row after, and not both, with the columns
            `READ` and those of `Position`.
    """
    found = sorted(halves, key=_position)
    changes = ((_position(row), _change(row)) for row in found)
    for position, change in pair_placed(changes, size=len(found) or 1):
        if change.before is not None and change.after is not None:
            yield _whole(position, change)


def _whole(position: Position, change: Change) -> Whole:
    try:
        return Whole(position, rows_of(effects(Placed(change, NOWHERE))))
    except Exception as error:  # noqa: BLE001 - one update must not end the stream
        return Whole(position, None, apply_failed(error, "", "joining the images of the update"))


def _position(row: Mapping[str, Any]) -> Position:
    return Position(row["topic"], row["partition"], row["offset"], row["element"])


def _change(row: Mapping[str, Any]) -> Change:
    texts = {name: row[name] for name in ("key", "before", "after", "attributes")}
    found: dict[str, Any] = {name: text and _decode(text) for name, text in texts.items()}
    sequence = row["sequence"]
    return Change(
        op="update",
        source=Source(**row["source"]),
        before_key=None,
        event_time=None,
        sequence=None if sequence is None else Sequence(**sequence),
        ddl=None,
        schema_fingerprint=None,
        **found,
    )
