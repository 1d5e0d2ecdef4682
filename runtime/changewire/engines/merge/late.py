"""Deletes that a log has, for changes that may be older than one of them."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from changewire.engines.known import KnownLog
from changewire.engines.layout import CHANGE
from changewire.engines.merge.befores import Images, Update, add_images, deletes_by_source
from changewire.engines.merge.log import READ, LocalLog, with_effects
from changewire.engines.merge.mutations import MUTATIONS, mutations_of
from changewire.engines.merge.shapes import Shape
from changewire.tables.mutations import DELETE
from changewire.tables.names import Target
from changewire.tables.order import Order
from changewire.tables.routing import NAMES, route_op
from changewire.tables.row_state import ORDER, order_from
from changewire_messages.change import Source


def logged_deletes(  # noqa: PLR0917 - what is looked for, and where
    log: LocalLog,
    known: KnownLog,
    target: Target,
    shape: Shape,
    wanted: Container[str],
    least: int | None,
) -> dict[str, Order]:
    """Return the newest delete of each of some keys of a table.

    Args:
        log: The log.
        known: What is known of it.
        target: The table.
        shape: How it has its rows.
        wanted: Texts of the keys.
        least: First number of a sequence; older deletes are left out. None: all are read.
    """
    op, is_valid = ds.field("op"), ds.field("key").is_valid()
    deletes = (op == DELETE) | ds.field("before_key").is_valid()
    if known.has_befores:
        deletes |= op == "update"
    where = (ds.field("kind") == CHANGE) & is_valid & deletes
    # Statistics of the first number let all files but the last be skipped.
    near = None if least is None else ds.field("sequence", "major") >= least
    found: dict[str, Order] = {}
    groups: dict[Update, Images] = {}
    for part in log.rows(READ, where, near):
        mine = with_effects(_of_table(part, known, target))
        if known.has_befores:
            add_images(groups, mine)
        _take(found, mutations_of(mine, range(len(mine))), shape, wanted)
    moved = [one for of_source in deletes_by_source(groups).values() for one in of_source]
    _take(found, pa.Table.from_pylist(moved, MUTATIONS), shape, wanted)
    return found


def _of_table(rows: pa.Table, known: KnownLog, target: Target) -> pa.Table:
    """Return the rows of a log that go to a table."""

    @lru_cache
    def goes_there(op: str, *names: Any) -> bool:
        return target in known.targets(Source(**dict(zip(NAMES, names, strict=True))), op)

    each = zip(rows["op"].to_pylist(), rows["source"].to_pylist(), strict=True)
    mask = [goes_there(route_op(op), *(source[name] for name in NAMES)) for op, source in each]
    return rows.filter(pa.array(mask, pa.bool_()))


def _take(
    found: dict[str, Order], mutations: pa.Table, shape: Shape, wanted: Container[str]
) -> None:
    fitted = shape.fitted(mutations).mutations
    rows = fitted.select(["key", "kind", *ORDER]).to_pylist()
    for row in rows:
        if row["kind"] == DELETE and row["key"] in wanted:
            order = order_from(row)
            found[row["key"]] = max(order, found.get(row["key"], order))
