"""What is known of the changes of a batch, or of a log, by one pass over their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from changewire.engines.applied import source_in
from changewire.engines.arrow.groups import is_lone_before
from changewire.engines.by_table import FirstRefusal, TableChanges
from changewire.engines.changelog.keys import parsed
from changewire.engines.changelog.logged import table_names
from changewire.engines.known import KnownLog, SourceFacts
from changewire.engines.layout import CHANGE, CONTROL, EFFECT
from changewire.engines.log import EFFECTIVE, ELEMENT_PLACE
from changewire.engines.merge.delta import STORE_OPTIONS, opened, reported
from changewire.engines.merge.log import LocalLog
from changewire.tables.mutations import APPLIED, DELETE, WRITES
from changewire.tables.names import Target
from changewire.tables.order import Order, position_in
from changewire.tables.routing import NAMES, TRUNCATE, WRITE, Refusal, RouteKey, Routing
from changewire_messages.change import Source

_TRUNCATE: Final = ("kind", "op", "source", "sequence", *ELEMENT_PLACE)
_HAS_KEY: Final = "has_key"


@dataclass
class Facts:
    """What is known of some changes; `rows` and `lost` have numbers of rows with a key."""

    of: dict[RouteKey, SourceFacts] = field(default_factory=dict)
    rows: dict[RouteKey, list[int]] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    keyless: int = 0
    controls: Counter[str] = field(default_factory=Counter)


def facts_of(rows: pa.Table, *, with_truncates: bool) -> Facts:
    """Return what is known of rows of a log."""
    is_change = pc.equal(rows["kind"], CHANGE)
    numbers = pa.array(range(len(rows)), pa.int64())
    said = pa.table({**_said(rows), "row": numbers}).filter(is_change)
    controls = rows.filter(pc.equal(rows["kind"], CONTROL))["op"].value_counts().to_pylist()
    found = Facts(keyless=len(said) - (pc.sum(said[_HAS_KEY]).as_py() or 0))
    found.controls.update({one["values"]: one["counts"] for one in controls})
    for key, one, group in _groups(said):
        found.of[key], found.rows[key] = one, group["row_list"]
    if with_truncates:
        is_truncate = pc.and_kleene(pc.equal(rows["kind"], CONTROL), pc.equal(rows["op"], TRUNCATE))
        chosen = rows.select([*_TRUNCATE]).append_column("row", numbers).filter(is_truncate)
        for key, one, row in _truncates(chosen):
            found.of[key] = found.of.get(key, SourceFacts()).plus(one)
            found.rows.setdefault(key, []).append(row["row"])
            found.lost += [] if row["sequence"] else [row["row"]]
    return found


def changes_in(rows: pa.Table, refused: Mapping[int, Refusal]) -> dict[RouteKey, TableChanges]:
    """Return how many changes rows of a log have, some of which are refused, by their numbers."""
    said, counted = _said(rows), {"rows": pa.repeat(pa.scalar(1), len(rows)), **_counted(rows)}
    is_change = pc.equal(rows["kind"], CHANGE)
    by = {name: said[name] for name in (*NAMES, "route")}
    numbers = {name: pc.cast(values, pa.int64()) for name, values in counted.items()}
    grouped = pa.table({**by, **numbers}).filter(is_change).group_by([*by], use_threads=False)
    found: dict[RouteKey, TableChanges] = {}
    for one in grouped.aggregate([(name, "sum") for name in numbers]).to_pylist():
        sums = (one[f"{name}_sum"] for name in ("rows", "keyless", "before_images", "moved"))
        changes, keyless, before_images, moved = sums
        found[_route(one)] = TableChanges(
            changes, key_missing=keyless, before_images=before_images, moved=moved
        )
    chosen = pa.array(sorted(refused), pa.int64())
    named = pa.table({**by, **numbers, "kind": rows["kind"], "key": rows["key"]}).take(chosen)
    for number, one in zip(sorted(refused), named.to_pylist(), strict=True):
        why, key = refused[number], _route(one)
        found[key] = found.get(key, TableChanges()).plus(
            TableChanges(
                int(one["kind"] != CHANGE),
                refused=1,
                first_refusal=FirstRefusal(why.code, why.text, _names_in(one["key"])),
                moved=-one["moved"],
                before_images=-one["before_images"],
            )
        )
    return found


def _counted(rows: pa.Table) -> dict[str, Any]:
    """Return which changes have no key, which do nothing to a row, and which move it."""
    has_key, is_applied = pc.is_valid(rows["key"]), pc.is_in(rows[EFFECT], pa.array([*APPLIED]))
    return {
        "keyless": pc.invert(has_key),
        "before_images": pc.and_(has_key, pc.invert(is_applied)),
        "moved": pc.and_(pc.and_(has_key, is_applied), pc.is_valid(rows["before_key"])),
    }


def _route(group: Mapping[str, Any]) -> RouteKey:
    return Source(**{name: group[name] for name in NAMES}), group["route"]


def _names_in(text: str | None) -> list[str]:
    """Return the columns of a key or row of a log; none if it is not a JSON object."""
    try:
        return [] if text is None else [*parsed(text)]
    except ValueError:
        return []


def columns_of(changes: pa.Table) -> set[str]:
    """Return the columns of the rows of changes."""
    texts = (text for name in ("before", "after") for text in changes[name].to_pylist())
    return {name for text in texts for name in _names_in(text)}


def applied_names(rows: pa.Table, routing: Routing) -> Any:
    """Return the `dotted` names of the tables of rows; writes that name none have the default."""
    source = rows["source"].combine_chunks()
    parts = {name: source.field(name) for name in NAMES}
    if routing.default_table is not None:
        is_write = pc.is_in(rows["op"].combine_chunks(), pa.array(sorted(WRITES)))
        is_unnamed = pc.and_(is_write, pc.is_null(parts["table"]))
        parts["table"] = pc.if_else(is_unnamed, routing.default_table, parts["table"])
    return table_names(pa.StructArray.from_arrays(parts.values(), parts))


def chosen_rows(rows: pa.Table, routing: Routing) -> pa.Table:
    """Return rows of a log, or decoded rows, without those of tables that are left out."""
    if routing.chosen.are_all:
        return rows
    names = applied_names(rows, routing)
    chosen = pa.array(filter(routing.chosen.has, pc.unique(names).to_pylist()), pa.string())
    is_write = pc.is_in(rows["op"], pa.array(sorted(WRITES)))
    has_no_table = pc.is_null(pc.struct_field(rows["source"], "table"))
    is_for_others = pc.and_(pc.invert(is_write), has_no_table)
    return rows.filter(pc.or_(pc.is_in(names, chosen), is_for_others))


def known_log(log: LocalLog, routing: Routing, *, with_truncates: bool) -> KnownLog:
    """Return the content of a log that tables have, read once; a table is known if it exists."""
    found: dict[RouteKey, SourceFacts] = {}
    # Of texts no more is kept than whether they are there: Arrow does that while it reads.
    read = {name: ds.field(name) for name in (*EFFECTIVE, EFFECT)}
    said = {"kind": ds.field("kind"), **_said(read)}
    for part in log.merged_rows(said, ds.field("kind") == CHANGE):
        for key, one, _ in _groups(part):
            found[key] = found.get(key, SourceFacts()).plus(one)
    is_truncate = (ds.field("kind") == CONTROL) & (ds.field("op") == TRUNCATE)
    for part in log.merged_rows(_TRUNCATE, is_truncate) if with_truncates else ():
        for key, one, _ in _truncates(part):
            found[key] = found.get(key, SourceFacts()).plus(one)
    known = KnownLog(routing, found, exists, source_of)
    # What was refused is in the log too, and its source must not become known by that.
    there = {target for target in known.tables.names.values() if exists(target)}
    known.tables.names = {n: one for n, one in known.tables.names.items() if one in there}
    for members in known.tables.members.values():
        members[:] = [target for target in members if target in there]
    sources = known.tables.sources
    known.tables.sources = {one: source for one, source in sources.items() if one in there}
    return known


def source_of(target: Target) -> Source | None:
    """Return the source that a table remembers; None without a table, or a source."""
    table = opened(target.name)
    return None if table is None else source_in(table.metadata().configuration)


def exists(target: Target) -> bool:
    """Whether there is a table."""
    with reported(target.name):
        return DeltaTable.is_deltatable(target.name, STORE_OPTIONS)


def _said(rows: Any) -> dict[str, Any]:
    """Return properties of changes; `rows` has columns, or expressions of them, by their names."""
    op, effect = rows["op"], rows[EFFECT]
    # Rows that were landed before logs had effects: no JSON is parsed for what they may do.
    is_old, is_half = pc.is_null(effect), is_lone_before(rows)
    is_before = pc.if_else(is_old, is_half, pc.equal(effect, "before"))
    deletes = pc.or_kleene(
        pc.equal(op, DELETE), pc.or_kleene(pc.is_valid(rows["before_key"]), is_before)
    )
    major = pc.struct_field(rows["sequence"], "major")
    is_patch = pc.if_else(is_old, pc.invert(is_half), pc.is_in(effect, pa.array(["keys", "patch"])))
    return {
        **{name: pc.struct_field(rows["source"], name) for name in NAMES},
        "route": pc.if_else(pc.is_in(op, value_set=pa.array(sorted(WRITES))), WRITE, op),
        "deleted": pc.if_else(deletes, major, pa.scalar(None, pa.int64())),
        "befores": is_before,
        "patches": pc.and_kleene(pc.not_equal(op, DELETE), is_patch),
        _HAS_KEY: pc.is_valid(rows["key"]),
    }


def _groups(said: pa.Table) -> Iterator[tuple[RouteKey, SourceFacts, dict[str, Any]]]:
    """Yield what changes with a key say, by where they come from."""
    sums: list[Any] = [(name, "max") for name in ("deleted", "befores", "patches")]
    sums += [("row", "list")] if "row" in said.column_names else []
    keyed = said.filter(said[_HAS_KEY])
    grouped = keyed.group_by([*NAMES, "route"], use_threads=False).aggregate(sums)
    for group in grouped.to_pylist():
        one = SourceFacts(
            deleted=group["deleted_max"],
            has_befores=group["befores_max"],
            has_patches=group["patches_max"],
        )
        yield _route(group), one, group


def _truncates(rows: pa.Table) -> Iterator[tuple[RouteKey, SourceFacts, dict[str, Any]]]:
    """Yield the properties of truncates; one without a sequence says nothing."""
    for row in rows.to_pylist():
        sequence, one = row["sequence"], SourceFacts()
        if sequence is not None:
            order = Order((sequence["major"], sequence["minor"]), position_in(row))
            one = SourceFacts(truncated=order)
        yield (Source(**row["source"]), TRUNCATE), one, row
