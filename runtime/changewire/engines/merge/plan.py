"""Which columns a table has, and which changes of a batch no table can take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from changewire.engines.carried import with_key_columns
from changewire.engines.changelog.shapes import JsonRows, Shape, TypedRows
from changewire.engines.layout import DECLARED, EFFECT
from changewire.engines.merge.constraints import is_miswritten
from changewire.engines.merge.facts import Facts
from changewire.engines.merge.options import LocalOptions
from changewire.engines.merge.table import LocalTable
from changewire.engines.partitions import delta_fault
from changewire.engines.typed.auto import CarriedColumn, counted_columns
from changewire.engines.typed.own import RowOptions
from changewire.engines.typed.plan import RefusedRows
from changewire.engines.typed.sources import BatchSources
from changewire.engines.typed.there import reserved_fault
from changewire.engines.typed.types import (
    StructJson,
    columns_of,
    has_unsafe_names,
    parts,
    struct_json,
)
from changewire.tables.routing import REFUSALS, Refusal, RouteKey, Routes, in_order

_VALUE: Final = r'(?:"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null)'
"""A scalar in JSON text."""

_ROW: Final = "row"
"""Column: number of a row."""

_key: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class DeltaRsRules(NamedTuple):
    """What tables of delta-rs can have; see `changewire.engines.typed.there.TableRules`.

    Attributes:
        names: The columns that the table has.
    """

    names: Collection[str] = ()

    def kept(self, columns: StructJson) -> StructJson:
        """Return columns as they are: Delta has all types that rows have."""
        return columns

    def fault(self, columns: StructJson) -> str | None:
        """Return why a table cannot have some columns; None if it can."""
        for column in columns["fields"]:
            name, kind = column["name"], struct_json([column])
            if has_unsafe_names(kind):
                return f"column {name!r} needs column mapping, which delta-rs does not write"
            if _has_nul(kind):
                return f"column {name!r} has a NUL in its name, by which delta-rs cuts it off"
        return reserved_fault("delta", columns, self.names)

    def widens(self, there: Any, wider: Any) -> bool:
        """Whether a column's type can become a wider one: Spark does that."""
        del there, wider
        return False

    def compares(self, kind: Any) -> bool:
        """Whether values of a type can be compared: a merge by lists or structs fails."""
        return isinstance(kind, str)

    def part_fault(self, name: str, kind: Any, *, is_key: bool) -> str | None:
        """Return why a table cannot be partitioned by a column; None if it can."""
        fault = delta_fault(name, kind, is_key=is_key)
        if fault is None and is_miswritten(kind):
            return f"column {name!r} is {kind}, which delta-rs writes wrongly as a partition"
        return fault

    def shape(self, columns: StructJson | None, keys: tuple[str, ...], how: RowOptions) -> Shape:
        """Return how a table has its rows."""
        return JsonRows() if columns is None else TypedRows(columns_of(columns), keys, how)


def shape_of(table: LocalTable | None) -> Shape:
    """Return how a table has the rows of changes that it has taken.

    One that does not exist has JSON text.
    """
    if table is None:
        return JsonRows()
    if table.has_text:
        return JsonRows()
    fields, keys, named = table.columns()["fields"], table.keys or (), table.named
    kept = {field["name"] for field in fields} if named is None else {*named, *keys}
    written = struct_json([field for field in fields if field["name"] in kept])
    return TypedRows(columns_of(written), keys, table.how._replace(were_applied=True))


def _has_nul(kind: Any) -> bool:
    """Whether a name inside of a type has a NUL."""
    return any("\0" in name or _has_nul(part) for name, part in parts(kind))


def sources_of(rows: pa.Table, facts: Facts, options: LocalOptions) -> BatchSources:
    """Return where the changes of a batch come from, with what typed tables need to be planned."""
    keys: dict[RouteKey, Counter[tuple[str, ...]]] = {}
    for route, numbers in facts.rows.items() if options.are_typed else ():
        part = rows.select(["key", EFFECT]).take(pa.array(numbers, pa.int64()))
        names = _names(part.filter(pc.not_equal(part[EFFECT], "none"))["key"])
        if names:
            keys[route] = names
    columns = _carried(rows, facts) if options.are_auto else {}
    of_keys = partial(_of_keys, rows, facts)
    return BatchSources(in_order(facts.rows), keys, columns, of_keys)


def _names(keys: pa.ChunkedArray) -> Counter[tuple[str, ...]]:
    """Return the columns of keys, and how many have them.

    Most keys have the columns of the first one, in the same order: Arrow finds these.
    """
    found: Counter[tuple[str, ...]] = Counter()
    if len(keys):
        first = tuple(sorted(_key(keys[0].as_py())))
        columns = (re.escape(msgspec.json.encode(name).decode()) for name in first)
        pattern = r"^\{" + ",".join(f"{name}:{_VALUE}" for name in columns) + r"\}$"
        is_alike = pc.match_substring_regex(keys, pattern)
        found[first] += pc.sum(is_alike).as_py()
        keys = keys.filter(pc.invert(is_alike))
    found.update(tuple(sorted(_key(key))) for key in keys.to_pylist())
    return +found


def _carried(rows: pa.Table, facts: Facts) -> dict[RouteKey, list[CarriedColumn]]:
    """Return the columns that messages of routes declare or show."""
    said = rows.select([DECLARED])
    return {route: _columns_in(said, chosen) for route, chosen in facts.rows.items()}


def _of_keys(rows: pa.Table, facts: Facts, routes: Iterable[RouteKey]) -> list[CarriedColumn]:
    """Return the columns that the keys of changes from routes show."""
    shown = with_key_columns(rows.select(["key", "attributes", EFFECT, DECLARED]))
    return _columns_in(shown, [n for route in routes for n in facts.rows[route]])


def _columns_in(rows: pa.Table, chosen: Sequence[int]) -> list[CarriedColumn]:
    """Return the columns that chosen rows have in `DECLARED`."""
    numbers = pa.array(chosen, pa.int64())
    part = pa.table({DECLARED: rows[DECLARED].take(numbers), _ROW: numbers})
    part = part.filter(pc.is_valid(part[DECLARED]))
    grouped = part.group_by(DECLARED).aggregate([(_ROW, "count"), (_ROW, "min")])
    each = (grouped[name].to_pylist() for name in (DECLARED, f"{_ROW}_count", f"{_ROW}_min"))
    return counted_columns([*zip(*each, strict=True)])


def refused_in(
    rows: pa.Table, facts: Facts, routes: Routes, reasons: Iterable[RefusedRows]
) -> dict[int, Refusal]:
    """Return why changes are refused, the first reason of several, by their numbers."""
    found = dict.fromkeys(facts.lost, REFUSALS["truncate-without-sequence"])
    for route, why in routes.refused.items():
        found |= dict.fromkeys(facts.rows[route], why)
    for reason in reasons:
        for route in reason.routes:
            numbers = [one for one in facts.rows.get(route, ()) if one not in found]
            part = rows.select(["key"])
            each = part.take(pa.array(numbers, pa.int64())).to_pylist()
            for number, row in zip(numbers, each, strict=True):
                if reason.takes(row):
                    found[number] = reason.why
    return found
