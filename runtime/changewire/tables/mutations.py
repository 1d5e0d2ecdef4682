"""Row mutations: the effects of a change on rows, two if it moves a row to another key."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct

from changewire.changes.change_row import ChangeRow
from changewire.changes.identity import Identity, identity_of
from changewire.tables.order import NOWHERE, ChangePosition, Order, Sequence, sequence_of
from changewire.tables.state import State, full_image, patch, tombstone
from changewire_messages.change import Change

WRITES: Final = frozenset({"insert", "update", "upsert", "read"})
"""Operations that leave a row; they apply alike."""

DELETE: Final = "delete"
FULL: Final = "full"

Kind = Literal["full", "patch", "delete"]

EffectName = Literal["full", "patch", "keys", "delete", "before", "none"]
"""The effect of a change on its row.

``full`` writes all of it, ``patch`` some columns, ``keys`` only says that the row exists, and
``delete`` removes it. ``before`` is a before image whose after image is another change. ``none``:
the change has no key, or is a before image that says nothing about its row.
"""

APPLIED: Final = frozenset({"full", "patch", "keys", "delete"})
"""Effects of changes that are applied one by one; before images are not, unless they
come with their after images."""


class RowMutation(Struct, frozen=True):
    """The effect of a change on one row.

    Attributes:
        key: Columns that name the row.
        identity: The same, to be compared.
        kind: ``full``: `values` are the whole row. ``patch``: they are set in it, UNSET removes a
            column. ``delete``: the row goes.
        values: Columns but the key's.
        sequence: Sequence of the change; empty if it has none.
        position: Where it was read.
    """

    key: Mapping[str, Any]
    identity: Identity
    kind: Kind
    values: Mapping[str, Any]
    sequence: Sequence
    position: ChangePosition

    def state(self, sequence: Sequence) -> State:
        """Return the row by this change alone, with its sequence or an inherited one."""
        order = Order(sequence, self.position)
        if self.kind == "delete":
            return tombstone(order)
        return (full_image if self.kind == "full" else patch)(order, self.values)


def is_unpaired_before(change: Change | ChangeRow) -> bool:
    """Whether a change is the before-image of an update whose after-image is another change."""
    return (
        change.op == "update"
        and change.after is None
        and change.before is not None
        and (change.sequence is None or change.sequence.minor == 0)
    )


def mutations(change: Change | ChangeRow, position: ChangePosition = NOWHERE) -> list[RowMutation]:
    """Return what a change with a key does to rows; the mutation of its old key comes first.

    A row that moved is deleted at (major, 0), before anything that its old key is given in the
    same transaction. The after-image keeps the sequence of the change: in formats that send no
    unpaired images, a later change of the same millisecond must still be newer.
    """
    key, sequence, effect = change.key, sequence_of(change.sequence), effect_of(change)
    if key is None:
        return []
    found: list[RowMutation] = []
    if change.before_key is not None:
        found.append(_mutation(change.before_key, "delete", {}, _before(sequence), position))
    if effect == "none":
        return found
    if effect == "before":
        return [*found, _mutation(key, "delete", {}, _before(sequence), position)]
    kind: Kind = "patch" if effect == "keys" else effect
    return [*found, _mutation(key, kind, _values(change, key, effect), sequence, position)]


def effect_of(change: Change | ChangeRow) -> EffectName:
    """Return what a change, which is not a control event, does to its row."""
    image = change.attributes.get("row_image", "full")
    if change.key is None:
        return "none"
    if is_unpaired_before(change):
        return "before" if image == "full" else "none"
    if change.op == DELETE:
        return "delete"
    if image == "keys" or change.after is None:
        return "keys"
    return FULL if image == "full" else "patch"


def _before(sequence: Sequence) -> Sequence:
    return (*sequence[:1], 0) if sequence else sequence


def _mutation(
    key: Mapping[str, Any],
    kind: Kind,
    values: Mapping[str, Any],
    sequence: Sequence,
    position: ChangePosition,
) -> RowMutation:
    return RowMutation(key, identity_of(key), kind, values, sequence, position)


def _values(
    change: Change | ChangeRow, key: Mapping[str, Any], effect: EffectName
) -> Mapping[str, Any]:
    """Return the columns that a change writes."""
    if effect not in {FULL, "patch"} or change.after is None:
        return {}
    after = {name: value for name, value in change.after.items() if name not in key}
    if effect == FULL:
        return after
    # Not a set: the order of columns in the text of a row must be the same in every process.
    gone = [name for name in change.before or () if name not in key and name not in after]
    gone += [name for name, value in after.items() if value is None]
    return {**after, **dict.fromkeys(gone, UNSET)}
