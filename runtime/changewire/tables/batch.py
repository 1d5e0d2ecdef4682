"""The changes of a batch in the memory of one process: where each goes, and what it does."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from changewire.changes.pairs import pair_placed
from changewire.tables.merge import Stored, decided_row
from changewire.tables.mutations import RowMutation, mutations
from changewire.tables.order import OLDEST, ChangePosition, Order, PositionedChange
from changewire.tables.planner import BatchSummary
from changewire.tables.routing import (
    REFUSALS,
    TRUNCATE,
    Refusal,
    RouteKey,
    Routes,
    apply_failed,
    goes_to_all,
    in_order,
)
from changewire.tables.state import State


class KeyedMutation(NamedTuple):
    """What a change of a batch does to a row.

    Attributes:
        key: What is equal for keys that name one row of the store.
        mutation: What it does.
        number: Number of the change in the batch; None for a change of an earlier batch.
    """

    key: Any
    mutation: RowMutation
    number: int | None


TableMutations = dict[Any, list[KeyedMutation]]
"""What a batch does to the rows of a table, by their keys."""


class BatchChange(Struct, frozen=True):
    """A change of a batch, or a truncate of a table.

    Attributes:
        index: Its number in the batch.
        route: Where it comes from, and what it does.
        has_key: Whether it names a row.
        order: Its sequence, empty if it has none, and where it was read.
        mutations: What it does to rows, or why that cannot be read.
    """

    index: int
    route: RouteKey
    has_key: bool
    order: Order
    mutations: list[KeyedMutation] | Refusal

    @property
    def is_truncate(self) -> bool:
        """Whether it is a truncate."""
        return self.route[1] == TRUNCATE

    @property
    def is_routed(self) -> bool:
        """Whether it concerns tables."""
        return self.has_key or self.is_truncate

    @property
    def is_for_all(self) -> bool:
        """Whether it is a delete that goes to all tables of its database."""
        return goes_to_all(self.route[1], self.route[0])


class PairedUpdate(NamedTuple):
    """An update whose images were paired.

    Attributes:
        position: Of its after-image.
        mutations: What it does to rows, or why the images cannot be joined.
    """

    position: ChangePosition
    mutations: list[RowMutation] | Refusal


def paired_updates(images: Iterable[PositionedChange]) -> Iterator[PairedUpdate]:
    """Yield the updates of which both images came, by the rule of `changewire.pair`.

    Each image is an update that has only the row before it, or only the row after.
    """
    found = sorted(images, key=lambda one: one.position)
    changes = ((one.position, one.change) for one in found)
    for position, change in pair_placed(changes, size=len(found) or 1):
        if change.before is None or change.after is None:
            continue
        try:
            yield PairedUpdate(position, mutations(change, position))
        except Exception as error:  # noqa: BLE001 - one update must not end the stream
            step = "joining the images of the update"
            yield PairedUpdate(position, apply_failed(error, "", step))


Repaired = tuple[int, list[KeyedMutation] | Refusal]
"""Number of an after-image in its batch, and what it does together with its before-image."""

_NONE_REFUSED: Final[Mapping[int, Refusal]] = {}


class RowBatch(Struct, frozen=True):
    """A batch as `changewire.tables.planner` plans it.

    Attributes:
        changes: All changes, and the truncates that are applied.
        pairs: Returns the updates among changes of the batch whose images can be paired.
        refused: Why changes cannot be applied, by their numbers.
    """

    changes: list[BatchChange]
    pairs: Callable[[list[BatchChange]], Iterable[Repaired]]
    refused: Mapping[int, Refusal] = _NONE_REFUSED

    def summary(
        self, ordered: Callable[[Iterable[RouteKey]], list[RouteKey]] = in_order
    ) -> BatchSummary:
        """Return where the changes come from, in the order in which they find their tables."""
        routed = dict.fromkeys(one.route for one in self.changes if one.is_routed)
        found = [one for one in self.changes if not one.is_truncate]
        return BatchSummary(
            route_keys=ordered(routed),
            changes=len(found),
            key_missing=sum(not one.has_key for one in found),
            lone_before_unused=sum(one.has_key and one.mutations == [] for one in found),
        )

    def routed(self, routes: Routes) -> "RowBatch":
        """Return the batch in which changes are refused that no table can take."""
        refused = dict(self.refused)
        for one in self.changes:
            if one.is_routed and one.route in routes.refused:
                refused[one.index] = routes.refused[one.route]
            elif one.is_truncate and not one.order.sequence:
                refused[one.index] = REFUSALS["truncate-without-sequence"]
            elif isinstance(one.mutations, Refusal):
                refused[one.index] = one.mutations
        return replace(self, refused=refused)

    def paired(self) -> tuple["RowBatch", int]:
        """Return the batch with the images of updates paired, and how many updates had both."""
        found = dict(self.pairs([*self.accepted()]))
        refused = {index: why for index, why in found.items() if isinstance(why, Refusal)}
        changes = [
            replace(one, mutations=found[one.index]) if one.index in found else one
            for one in self.changes
        ]
        positions = {one.order.position for one in changes if one.index in found}
        return replace(self.without(refused), changes=changes), len(positions)

    def without(self, *failures: Mapping[int, Refusal]) -> "RowBatch":
        """Return the batch in which more changes are refused."""
        refused = dict(self.refused)
        for more in failures:
            refused.update(more)
        return replace(self, refused=refused)

    def accepted(self) -> Iterator[BatchChange]:
        """Yield the changes that are not refused."""
        return (one for one in self.changes if one.index not in self.refused)

    def mutations_of(
        self, keys: Collection[RouteKey], earlier: Iterable[KeyedMutation] = ()
    ) -> TableMutations:
        """Return what the batch does to the rows of a table, by where its changes come from.

        `earlier` are deletes that came before the table was known.
        """
        found: TableMutations = {}
        for change in self.accepted():
            if change.route in keys and not isinstance(change.mutations, Refusal):
                for one in change.mutations:
                    found.setdefault(one.key, []).append(one)
        for one in earlier:
            found.setdefault(one.key, []).append(one)
        return found

    def newest_truncate(self, keys: Collection[RouteKey]) -> Order:
        """Return the order of the newest truncate that comes from some sources."""
        truncates = (one for one in self.changes if one.is_truncate and one.order.sequence)
        return max((one.order for one in truncates if one.route in keys), default=OLDEST)


def without_changes(found: TableMutations, failures: Mapping[int, Refusal]) -> TableMutations:
    """Return what is left of the mutations of a table without some changes of the batch."""
    left = {
        key: [one for one in of_key if one.number not in failures] for key, of_key in found.items()
    }
    return {key: of_key for key, of_key in left.items() if of_key}


def decide_rows(
    stored: Mapping[Any, Stored],
    found: TableMutations,
    floor: Order,
    take: Callable[[Any, Stored, State | None], None],
) -> tuple[Counter[str], dict[int, Refusal]]:
    """Decide what the rows of a table become.

    Args:
        stored: What the table has of each key that mutations, or a truncate, concern.
        found: The mutations.
        floor: Order of the newest truncate of the table.
        take: Takes each key whose row changes, what is stored of it, and what it becomes.

    Returns:
        What became of the changes, and why some cannot be applied, by their numbers.
    """
    counts: Counter[str] = Counter()
    failures: dict[int, Refusal] = {}
    for key, held in stored.items():
        batch = found.get(key, ())
        rows = (one.mutation for one in batch)
        refusal = decided_row(held, rows, floor, counts, partial(take, key, held))
        if refusal is not None:
            numbers = (one.number for one in batch if one.number is not None)
            failures |= dict.fromkeys(numbers, refusal)
    return +counts, failures
