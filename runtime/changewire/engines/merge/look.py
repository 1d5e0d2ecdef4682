"""Needs of a batch from its log: images of its updates, and deletes that may be newer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from itertools import chain
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from changewire.engines.arrays import indices_of
from changewire.engines.changelog.effects import LoggedImages, update_of
from changewire.engines.changelog.shapes import Shape
from changewire.engines.effects import with_effects
from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE, EFFECT
from changewire.engines.log import ELEMENT_PLACE, MERGE_COLUMNS
from changewire.engines.merge.facts import facts_of
from changewire.engines.merge.log import LocalLog
from changewire.engines.merge.mutations import MUTATIONS, fitted, mutations_of
from changewire.tables.memory import Update
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.order import Order, position_in
from changewire.tables.row_state import ORDER, order_from
from changewire_messages.change import Source

_IMAGE: Final = ("op", "source", "key", "before", "after", "sequence", EFFECT, *ELEMENT_PLACE)

Deletes: TypeAlias = Mapping[Source, list[dict[str, Any]]]
"""Deletes of keys that updates left, as mutations, by their sources."""


def moved(rows: pa.Table, log: LocalLog, counts: Counter[str]) -> Deletes:
    """Return which keys the updates of a batch left; the log has the rows of the batch too."""
    groups: dict[Update, LoggedImages] = {}
    _add_images(groups, rows)
    unknown = {one for one, images in groups.items() if len(images.befores) != len(images.afters)}
    known: dict[Update, LoggedImages] = {}
    if unknown:
        # All that is known of these updates is in the log, also what the batch has.
        majors = pa.array(sorted({major for _, major in unknown}), pa.int64())
        where = (ds.field("kind") == CHANGE) & (ds.field("op") == "update")
        where &= ds.field("key").is_valid()
        for part in log.rows(MERGE_COLUMNS, where, ds.field("sequence", "major").isin(majors)):
            _add_images(known, with_effects(log.accepted(part)), unknown)
    counts["waiting_before_images"] += sum(one.waiting() for one in known.values())
    return _deletes({**groups, **known})


def _deletes(groups: Mapping[Update, LoggedImages]) -> Deletes:
    found: dict[Source, list[dict[str, Any]]] = {}
    for (source, major), images in groups.items():
        for key, rows in images.gone().items() if images.has_moved else ():
            one = {"key": key, "kind": DELETE, "major": major, "minor": 0}
            deletes = [{**one, **position_in(row)._asdict()} for row in rows]
            found.setdefault(source, []).extend(deletes)
    return found


def _add_images(
    groups: dict[Update, LoggedImages], rows: pa.Table, wanted: Container[Update] | None = None
) -> None:
    """Add the images among rows of a log, of all updates or of those wanted."""
    is_half = pc.not_equal(pc.is_null(rows["before"]), pc.is_null(rows["after"]))
    is_image = pc.and_(pc.equal(rows["op"], "update"), is_half)
    for row in rows.select([*_IMAGE]).filter(is_image).to_pylist():
        update = update_of(row)
        if update is not None and (wanted is None or update in wanted):
            key = None if row[EFFECT] == "none" else row["key"]
            groups.setdefault(update, LoggedImages()).add(row, key)


def logged_deletes(  # noqa: PLR0917 - what is looked for, and where
    log: LocalLog,
    known: KnownLog,
    target: Target,
    shape: Shape,
    wanted: Collection[str],
    least: int | None,
) -> dict[str, Order]:
    """Return the newest delete of each key of a table whose text is wanted.

    Deletes whose first number is less than `least` are left out; with None all are read.
    """
    deletes = (ds.field("op") == DELETE) | ds.field("before_key").is_valid()
    if known.has_befores:
        deletes |= ds.field("op") == "update"
    where = (ds.field("kind") == CHANGE) & ds.field("key").is_valid() & deletes
    # Statistics of the first number let all files but the last be skipped.
    near = None if least is None else ds.field("sequence", "major") >= least
    found: dict[str, Order] = {}
    groups: dict[Update, LoggedImages] = {}

    def take(mutations: pa.Table) -> None:
        # A move that does not fit is refused, so its row stays.
        chosen = fitted(mutations, shape).mutations
        chosen = chosen.filter(pc.equal(chosen["kind"], DELETE))
        for row in chosen.select(["key", *ORDER]).to_pylist():
            if row["key"] in wanted:
                found[row["key"]] = max(order_from(row), found.get(row["key"], order_from(row)))

    for part in log.rows(MERGE_COLUMNS, where, near):
        mine = of_table(with_effects(log.accepted(part)), known, target)
        if known.has_befores:
            _add_images(groups, mine)
        is_whole = pc.or_(pc.equal(mine["op"], DELETE), pc.is_valid(mine["before_key"]))
        take(mutations_of(mine, indices_of(is_whole)))
    take(pa.Table.from_pylist([*_all(_deletes(groups))], MUTATIONS))
    return found


def all_mutations(changes: pa.Table, shape: Shape) -> pa.Table:
    """Return what all changes of a table do, which a log has; images that wait do nothing."""
    groups: dict[Update, LoggedImages] = {}
    _add_images(groups, changes)
    return mutations_of(changes, range(len(changes)), _all(_deletes(groups)), shape)


def _all(deletes: Deletes) -> Iterator[dict[str, Any]]:
    return chain.from_iterable(deletes.values())


def of_table(rows: pa.Table, known: KnownLog, target: Target) -> pa.Table:
    """Return the changes with a key among rows of a log that go to a table."""
    found = facts_of(rows, with_truncates=False).rows.items()
    mine = (numbers for key, numbers in found if target in known.targets(*key))
    return rows.take(pa.array(sorted(chain.from_iterable(mine)), pa.int64()))
