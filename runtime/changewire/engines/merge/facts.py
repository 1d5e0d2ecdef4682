"""What is known of the changes of a batch, or of a log, by one pass over their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from changewire.engines.known import KnownLog, SourceFacts
from changewire.engines.layout import CHANGE, CONTROL
from changewire.engines.merge.log import LocalLog
from changewire.engines.python.groups import is_lone_before
from changewire.tables.mutations import DELETE, WRITES
from changewire.tables.names import Target
from changewire.tables.order import Order, position_in
from changewire.tables.routing import NAMES, TRUNCATE, WRITE, RouteKey, Routing
from changewire_messages.change import Source

_PLACE: Final = ("topic", "partition", "offset", "path", "number", "element")
_READ: Final = (
    *("kind", "op", "source", "key", "before_key", "before", "after", "sequence", "attributes"),
    *_PLACE,
)


@dataclass
class Facts:
    """What is known of some changes.

    Attributes:
        of: What is known of each source.
        rows: Numbers of the rows with a key, and of truncates, by where they come from.
        lost: Numbers of truncates without a sequence.
        changes: How many changes there are.
        keyless: How many of them have no key.
        controls: How many control events there are, by their operations.
    """

    of: dict[RouteKey, SourceFacts] = field(default_factory=dict)
    rows: dict[RouteKey, list[int]] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    changes: int = 0
    keyless: int = 0
    controls: Counter[str] = field(default_factory=Counter)

    def add(self, key: RouteKey, facts: SourceFacts, rows: Iterable[int]) -> None:
        """Add what is known of a source, and its rows."""
        self.of[key] = facts.plus(self.of[key]) if key in self.of else facts
        self.rows.setdefault(key, []).extend(rows)


def facts_of(rows: pa.Table, *, with_truncates: bool) -> Facts:
    """Return what is known of decoded rows, or of those of a log."""
    found = Facts()
    is_change = pc.equal(rows["kind"], CHANGE)
    has_key = pc.and_(is_change, pc.is_valid(rows["key"]))
    found.changes = pc.sum(is_change).as_py() or 0
    found.keyless = found.changes - (pc.sum(has_key).as_py() or 0)
    controls = rows.filter(pc.equal(rows["kind"], CONTROL))["op"].value_counts().to_pylist()
    found.controls.update({one["values"]: one["counts"] for one in controls})
    keyed = rows.append_column("row", pa.array(range(len(rows)), pa.int64())).filter(has_key)
    for group in _groups(keyed):
        key = Source(**{name: group[name] for name in NAMES}), group["route"]
        one = SourceFacts(
            deleted=group["deleted_max"],
            has_befores=group["befores_max"],
            has_patches=group["patches_max"],
        )
        found.add(key, one, group["row_list"])
    if with_truncates:
        _add_truncates(found, rows)
    return found


def known_log(log: LocalLog, routing: Routing, *, with_truncates: bool) -> KnownLog:
    """Return what a log has, read once; a table is known if it exists."""
    found: dict[RouteKey, SourceFacts] = {}
    for part in log.rows(_READ, ds.field("kind").isin([CHANGE, CONTROL])):
        for key, one in facts_of(part, with_truncates=with_truncates).of.items():
            found[key] = one.plus(found[key]) if key in found else one
    known = KnownLog(routing, found, _exists)
    # What was refused is in the log too, and its source must not become known by that.
    exists = {target for target in known.tables.names.values() if _exists(target)}
    known.tables.names = {n: one for n, one in known.tables.names.items() if one in exists}
    for members in known.tables.members.values():
        members[:] = [target for target in members if target in exists]
    return known


def _exists(target: Target) -> bool:
    return DeltaTable.is_deltatable(target.name)


def _groups(rows: pa.Table) -> list[dict[str, Any]]:
    """Return rows with a key by where they come from."""
    op, source, after = rows["op"], rows["source"], rows["after"]
    is_before, is_delete = is_lone_before(rows), pc.equal(op, DELETE)
    deletes = pc.or_(pc.or_(is_delete, pc.is_valid(rows["before_key"])), is_before)
    major = pc.struct_field(rows["sequence"], "major")
    is_write = pc.is_in(op, pa.array(sorted(WRITES)))
    table = pa.table(
        {
            **{name: pc.struct_field(source, name) for name in NAMES},
            "route": pc.if_else(is_write, WRITE, op),
            "row": rows["row"],
            "deleted": pc.if_else(deletes, major, pa.scalar(None, pa.int64())),
            "befores": is_before,
            "patches": pc.and_(
                pc.invert(is_delete),
                pc.or_(_says_patch(rows), pc.and_(pc.is_null(after), pc.invert(is_before))),
            ),
        }
    )
    sums: list[Any] = [("row", "list"), *((n, "max") for n in ("deleted", "befores", "patches"))]
    groups = table.group_by([*NAMES, "route"], use_threads=False).aggregate(sums)
    found: list[dict[str, Any]] = groups.to_pylist()
    return found


def _says_patch(rows: pa.Table) -> Any:
    """Return which rows may not have a whole row; no JSON is parsed for it."""
    found = pc.match_substring_regex(rows["attributes"], '"image":"(patch|keys)"')
    return pc.fill_null(found, False)  # noqa: FBT003 - a value of Arrow


def _add_truncates(found: Facts, rows: pa.Table) -> None:
    is_truncate = pc.and_kleene(pc.equal(rows["kind"], CONTROL), pc.equal(rows["op"], TRUNCATE))
    numbers = pc.indices_nonzero(pc.fill_null(is_truncate, False))  # noqa: FBT003 - as above
    columns = rows.select(["source", "sequence", *_PLACE]).take(numbers)
    for number, row in zip(numbers.to_pylist(), columns.to_pylist(), strict=True):
        key = Source(**row["source"]), TRUNCATE
        sequence = row["sequence"]
        if sequence is None:
            found.lost.append(number)
            found.add(key, SourceFacts(), [number])
            continue
        order = Order((sequence["major"], sequence["minor"]), position_in(row))
        found.add(key, SourceFacts(truncated=order), [number])
