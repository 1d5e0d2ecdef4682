"""What the changes of a batch make of the versions of one row that a table has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from changewire.tables.metadata import fields_of
from changewire.tables.mutations import RowMutation
from changewire.tables.order import Order
from changewire.tables.state import Row, State, tombstone
from changewire.tables.version_rows import (
    ChangeNote,
    Notes,
    note_of_end,
    noted_states,
    order_of,
    states_from,
    version_metadata,
)
from changewire.tables.versions import Version, versions_of

NotedOrder: TypeAlias = tuple[Order, ChangeNote]
"""A delete or a truncate, which leaves nothing of a row but this."""

Metadata: TypeAlias = Mapping[str, Any]
"""The column ``_changewire`` of a version, as dictionaries."""

VersionEffect = Literal["begun", "ended", "split", "removed"]
"""``begun``: the version is new. ``ended``: it was current. ``split``: a late change ends it
earlier. ``removed``: a late change leaves nothing of it."""


class VersionWrite(NamedTuple):
    """What becomes of one version.

    Attributes:
        values: Columns of the row but its key; None if the version is no more.
        metadata: The metadata that it gets; of one that is no more, that which it has.
        expected: The metadata that the table has of it; None for a new one.
    """

    values: Row | None
    metadata: Metadata
    expected: Metadata | None

    @property
    def effect(self) -> VersionEffect | None:
        """What it means for the row; None if only later changes of the version are others."""
        if self.values is None:
            return "removed"
        if self.expected is None:
            return "begun"
        before, after = self.expected["ended"], self.metadata["ended"]
        if before == after:
            return None
        return "ended" if before is None else "split"


class VersionChanges(NamedTuple):
    """What becomes of the versions of a row.

    Attributes:
        ends: Deletes to keep, for versions that come later, as dictionaries of `RowEnd`.
        writes: Versions that are not stored as they are, and those that are no more.
    """

    ends: list[Metadata]
    writes: list[VersionWrite]


def version_changes(
    batch: Iterable[tuple[RowMutation, ChangeNote]],
    stored: Iterable[tuple[Metadata, Row]] = (),
    ends: Iterable[NotedOrder] = (),
    truncates: Sequence[NotedOrder] = (),
) -> VersionChanges:
    """Return what becomes of the versions of a row.

    Args:
        batch: What changes do to the row.
        stored: Its versions that the table has, with the columns of the row but its key.
        ends: Its deletes that are kept.
        truncates: Truncates of the table, old and new.

    Raises:
        ValueError: A column ``_changewire`` has another layout.
    """
    notes = dict(truncates)
    there: dict[Order, Metadata] = {}
    held: list[State] = []
    for metadata, values in stored:
        there[order_of(metadata)] = metadata
        known = [*states_from(metadata, values)]
        held += [state for state, _ in known]
        notes |= {state.order: note for state, note in known}
        notes.update(filter(None, [note_of_end(metadata)]))
    for order, note in ends:
        held.append(tombstone(order))
        notes[order] = note
    found = noted_states(batch, held)
    notes |= {state.order: note for state, note in found}
    new = [state for state, _ in found]
    deletes = {state.order for state in new if state.values is None}
    kept = deletes - {state.order for state in held}
    gone = [tombstone(order) for order, _ in truncates]
    return VersionChanges(
        [{**fields_of(order), **notes[order]._asdict()} for order in sorted(kept)],
        [*_writes(versions_of([*gone, *held, *new]), there, notes)],
    )


def _writes(
    versions: Iterable[Version], there: Mapping[Order, Metadata], notes: Notes
) -> Iterator[VersionWrite]:
    """Yield the versions that are not stored as they are, then those that are no more."""
    left = dict(there)
    for version in versions:
        expected = left.pop(version.began, None)
        metadata = version_metadata(version, notes)
        if expected != metadata:
            yield VersionWrite(version.values, metadata, expected)
    yield from (VersionWrite(None, one, one) for one in left.values())
