"""What a change does to rows: none, one, or two where it moved a row to another key."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct

from changewire.tables.keys import Identity, identity_of
from changewire.tables.order import Order, Placed, Position, Sequence, sequence_of
from changewire.tables.state import State, full_image, patch, tombstone
from changewire_messages.change import Change

WRITES: Final = frozenset({"insert", "update", "upsert", "read"})
"""Operations that leave a row; they apply alike."""

DELETE: Final = "delete"

Kind = Literal["full", "patch", "delete"]


class Effect(Struct, frozen=True):
    """What a change does to one row.

    Attributes:
        key: Columns that name the row.
        identity: The same, to be compared.
        kind: ``full``: `values` are the whole row. ``patch``: they are set in it, UNSET removes a
            column. ``delete``: the row goes.
        values: Columns but the key's.
        sequence: Sequence of the change; empty where it has none.
        position: Where it was read.
    """

    key: Mapping[str, Any]
    identity: Identity
    kind: Kind
    values: Mapping[str, Any]
    sequence: Sequence
    position: Position

    def state(self, sequence: Sequence) -> State:
        """Return what the row is by this change alone.

        Args:
            sequence: Its own sequence, or the one that it inherits.
        """
        order = Order(sequence, self.position)
        if self.kind == "delete":
            return tombstone(order)
        return (full_image if self.kind == "full" else patch)(order, self.values)


def is_lone_before(change: Change) -> bool:
    """Whether a change is the row before an update, whose row after comes by itself."""
    return (
        change.op == "update"
        and change.after is None
        and change.before is not None
        and (change.sequence is None or change.sequence.minor == 0)
    )


def effects(placed: Placed) -> list[Effect]:
    """Return what a change with a key does to rows, that of its old key first.

    A row that moved is deleted at (major, 0), before anything that its old key is given in the
    same transaction. The row after keeps the sequence of the change: where formats have no halves
    of updates, a later change of the same millisecond must still be newer.

    Args:
        placed: A write or a delete.
    """
    change, position = placed.change, placed.position
    key, sequence = change.key, sequence_of(change.sequence)
    if key is None:
        return []
    found: list[Effect] = []
    if change.before_key is not None:
        found.append(_effect(change.before_key, "delete", {}, _before(sequence), position))
    if is_lone_before(change):
        if change.attributes.get("image", "full") == "full":
            found.append(_effect(key, "delete", {}, _before(sequence), position))
        return found
    kind, values = _content(change, key)
    return [*found, _effect(key, kind, values, sequence, position)]


def _before(sequence: Sequence) -> Sequence:
    return (*sequence[:1], 0) if sequence else sequence


def _effect(
    key: Mapping[str, Any],
    kind: Kind,
    values: Mapping[str, Any],
    sequence: Sequence,
    position: Position,
) -> Effect:
    return Effect(key, identity_of(key), kind, values, sequence, position)


def _content(change: Change, key: Mapping[str, Any]) -> tuple[Kind, Mapping[str, Any]]:
    """Return what a change does, and with which columns."""
    if change.op == DELETE:
        return "delete", {}
    image = change.attributes.get("image", "full")
    if image == "keys" or change.after is None:
        return "patch", {}
    after = {name: value for name, value in change.after.items() if name not in key}
    if image == "full":
        return "full", after
    gone = {name for name in change.before or () if name not in key and name not in after}
    gone |= {name for name, value in after.items() if value is None}
    return "patch", {**after, **dict.fromkeys(gone, UNSET)}
