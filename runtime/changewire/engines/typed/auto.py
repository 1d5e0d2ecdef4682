"""The columns of a table by what its messages declare of their rows, or show by their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from changewire.engines.declared import VOID, field_of, kind_of
from changewire.engines.options import SchemaEvolution
from changewire.engines.typed.evolve import folded, joined_type, new_fault
from changewire.engines.typed.readings import JSON
from changewire.engines.typed.there import TableRules
from changewire.engines.typed.types import StructJson, field_json, sql_name, struct_json

MOST_COLUMNS: Final = 1000
"""Columns that a table gets at most; values of others are rescued."""

_INTEGERS: Final = frozenset({"byte", "short", "integer", "long"})
_FLOATS: Final = frozenset({"float", "double"})

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode

_Field = Mapping[str, Any]


class CarriedColumn(NamedTuple):
    """A column of some messages.

    Attributes:
        name: Its name.
        kind: Its type, in the JSON form of a StructType, `JSON` or `VOID`.
        rows: How many rows have it.
        first: Place of the first message that has it, and its number there.
    """

    name: str
    kind: Any
    rows: int
    first: tuple[Any, ...]


def counted_columns(texts: Sequence[tuple[str, int, int]]) -> list[CarriedColumn]:
    """Return the columns that texts of `changewire.engines.declared` have.

    Args:
        texts: Texts, each with the number of its rows, and that of the first one.
    """
    try:
        return _counted(texts, _split)
    except ValueError:  # a name or a type has commas
        return _counted(texts, _parsed)


def _counted(
    texts: Iterable[tuple[str, int, int]], members: Callable[[str], Iterable[str]]
) -> list[CarriedColumn]:
    rows: dict[str, int] = {}
    firsts: dict[str, tuple[int, int]] = {}
    for text, count, row in texts:
        for place, member in enumerate(members(text)):
            rows[member] = rows.get(member, 0) + count
            firsts[member] = min(firsts.get(member, (row, place)), (row, place))
    found: list[CarriedColumn] = []
    for member in filter(None, rows):
        ((name, kind),) = _decode(f"{{{member}}}").items()
        found.append(CarriedColumn(name, kind, rows[member], firsts[member]))
    return found


def _split(text: str) -> list[str]:
    """Return the members of a text, if no name and no type has a comma."""
    return text[1:-1].split(",")


def _parsed(text: str) -> Iterator[str]:
    for name, kind in _decode(text).items():
        yield msgspec.json.encode({name: kind}).decode()[1:-1]


def auto_columns(
    there: StructJson | None,
    carried: Iterable[CarriedColumn],
    how: SchemaEvolution,
    rules: TableRules[Any],
    given: Mapping[str, Any],
) -> StructJson:
    """Return the columns of a table after a batch.

    New columns come in the order of their first messages. The type of a new column is that of most
    of its rows, or a wider one that has the values of others too, so the order of messages does
    not matter. A column keeps its type, unless the table can widen it.

    Args:
        there: The table's columns; None if it does not exist.
        carried: Columns of the messages of the batch.
        how: Whether a table that exists gets other columns.
        rules: Types and names of columns that tables of the format can have.
        given: Types that a user gave, by names of columns, whatever messages declare or show.
    """
    found: dict[str, _Field] = {one["name"]: one for one in (there or struct_json([]))["fields"]}
    if there is not None and how == "strict":
        return struct_json([*found.values()])
    names = folded(found)
    for name, kinds in _by_name(carried, given):
        if name in found:
            found[name] = _widened(found[name], kinds, rules)
        elif len(found) < MOST_COLUMNS and (field := _new(name, kinds, found, names, rules)):
            found[name] = field
            names[name.lower()] = name
    return struct_json([*found.values()])


def _by_name(
    carried: Iterable[CarriedColumn], given: Mapping[str, Any]
) -> Iterable[tuple[str, list[_Field]]]:
    """Return the types of each column as columns, the most frequent first."""
    rows: dict[str, Counter[bytes]] = {}
    for one in sorted(carried, key=lambda one: one.first):
        kind = given.get(one.name, one.kind)
        if kind != VOID:
            rows.setdefault(one.name, Counter())[msgspec.json.encode(kind)] += one.rows
    for name, kinds in rows.items():
        ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
        yield name, [field_of(name, msgspec.json.decode(text)) for text, _ in ordered]


def _new(
    name: str,
    kinds: list[_Field],
    found: Mapping[str, _Field],
    names: Mapping[str, str],
    rules: TableRules[Any],
) -> _Field | None:
    """Return a new column; None if a table cannot have one of this name or type.

    `found` are its columns, and `names` their `folded` names.
    """
    first = kinds[0]
    if kind_of(first) != JSON:
        kind = first["type"]
        for other in kinds[1:]:
            kind = kind if kind_of(other) == JSON else _mixed(kind, other["type"]) or kind
        first = field_json(name, kind)
    (kept,) = rules.kept(struct_json([first]))["fields"]
    field = {**first, "type": kept["type"]}
    # Iceberg knows columns by their paths: only these names and types may clash.
    others = found.values() if "." in name or not isinstance(kept["type"], str) else ()
    fault = new_fault(names, name, kept["type"]) or rules.fault(struct_json([*others, field]))
    return field if fault is None else None


def _widened(there: _Field, kinds: Iterable[_Field], rules: TableRules[Any]) -> _Field:
    """Return a column that has the values of other types too, if the table can widen it."""
    for one in kinds:
        wider = joined_type(there["type"], one["type"])
        is_new = wider is not None and sql_name(wider) != sql_name(there["type"])
        if is_new and rules.widens(there["type"], wider):
            field = field_json(there["name"], wider, there["metadata"])
            there = there if rules.fault(struct_json([field])) else field
    return there


def _mixed(kind: Any, other: Any) -> Any:
    """Return the type of values of two; integers and fractions are doubles. None without one."""
    kinds = {one for one in (kind, other) if isinstance(one, str)}
    if kinds & _INTEGERS and kinds & _FLOATS:
        return "double"
    return joined_type(kind, other)
