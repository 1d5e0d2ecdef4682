"""How the columns of a table follow the schemas of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from changewire.engines.options import SchemaEvolution
from changewire.engines.typed.types import (
    DECIMAL,
    MOST_DIGITS,
    StructJson,
    field_json,
    parts,
    sql_name,
    struct_json,
)
from changewire.tables.row_state import COLUMN

_WIDER: Final = (("byte", "short", "integer", "long"), ("float", "double"))
"""Types that have every value of those before them and that Delta widens these to:
https://docs.delta.io/latest/delta-type-widening.html"""


Widens = Callable[[Any, Any], bool]
"""Whether a column of a type can get a wider one."""


class Evolved(NamedTuple):
    """A table's columns after it followed some schemas, and why a schema does not fit, by name."""

    columns: dict[str, Any]
    refused: dict[str, str]


def _any(there: Any, wider: Any) -> bool:  # noqa: ARG001 - a new table takes all
    return True


def evolved(
    columns: StructJson | None,
    schemas: Iterable[tuple[str, StructJson]],
    how: SchemaEvolution = "add_columns",
    widens: Widens = _any,
) -> Evolved:
    """Return what a table's columns become by the schemas of messages, which have names.

    A missing table (None) takes any column. `widens` is of the table's format.
    """
    found = {} if columns is None else {field["name"]: field for field in columns["fields"]}
    names, refused = folded(found), dict[str, str]()
    takes = _any if columns is None else None if how == "strict" else widens
    for name, schema in schemas:
        after, its_names = dict(found), dict(names)
        reasons = [_take(after, its_names, field, takes) for field in schema["fields"]]
        if any(reasons):
            refused[name] = "; ".join(filter(None, reasons))
        else:
            found, names = after, its_names
    return Evolved(struct_json([*found.values()]), refused)


def key_fault(
    keys: Sequence[str], columns: StructJson, compares: Callable[[Any], bool]
) -> str | None:
    """Return why a table cannot name its rows by some columns; None if it can.

    A column of the key that the table does not have yet is text. `compares` says whether tables of
    the format compare values of a type; none compares maps.
    """
    there = {field["name"]: field["type"] for field in columns["fields"]}
    for number, name in enumerate(keys):
        if name in there and (_has_map(there[name]) or not compares(there[name])):
            return f"column {name!r} is {sql_name(there[name])}, which cannot be compared"
        same = _same_but_for_case(name, [*keys[:number], *there])
        if same is not None:
            return f"column {name!r} of the key differs from {same!r} in case only"
        if name.lower() == COLUMN:
            return f"column {name!r} of the key has the name of the table's own column {COLUMN}"
    return None


def _has_map(kind: Any) -> bool:
    """Whether a type is a map, or has one."""
    is_map = not isinstance(kind, str) and kind["type"] == "map"
    return is_map or any(_has_map(part) for _, part in parts(kind))


def _same_but_for_case(name: str, names: Iterable[str]) -> str | None:
    folded = name.lower()
    return next((one for one in names if one != name and one.lower() == folded), None)


def folded(names: Iterable[str]) -> dict[str, str]:
    """Return names by their lower case; of names that differ in case only, the first."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(name.lower(), name)
    return found


def _fault(kind: Any) -> str | None:
    """Return why no table has a column of a type, or None."""
    if not isinstance(kind, str) and kind["type"] == "struct":
        names = [name for name, _ in parts(kind)]
        if not names:
            return "it is a struct without fields"
        first = folded(names)
        for name in names:
            if (same := first[name.lower()]) != name:
                return f"its field {name!r} differs from {same!r} in case only"
    return next((why for _, part in parts(kind) if (why := _fault(part)) is not None), None)


def new_fault(names: Mapping[str, str], name: str, kind: Any) -> str | None:
    """Return why a table cannot have a new column, or None; `names` are `folded` ones of others."""
    if name.lower() == COLUMN:
        return f"column {name!r} has the name of the table's own column {COLUMN}"
    if (same := names.get(name.lower())) is not None:
        return f"column {name!r} differs from {same!r} in case only"
    fault = _fault(kind)
    return None if fault is None else f"column {name!r} cannot be in a table: {fault}"


def _take(
    found: dict[str, Mapping[str, Any]],
    names: dict[str, str],
    field: Mapping[str, Any],
    takes: Widens | None,
) -> str | None:
    """Add a column, or widen it; return why it does not fit.

    `names` are `folded` ones of the columns. `takes` says which wider types a column may get; None
    if columns stay as they are.
    """
    name, kind = field["name"], field["type"]
    there = found.get(name)
    if there is None:
        not_there = f"column {name!r} {sql_name(kind)} is missing" if takes is None else None
        reason = new_fault(names, name, kind) or not_there
        if reason is None:
            found[name] = field
            names[name.lower()] = name
        return reason
    has = there["type"]
    wider = joined_type(has, kind)
    is_new = wider is not None and sql_name(wider) != sql_name(has)
    if wider is None or (is_new and (takes is None or not takes(has, wider))):
        return f"column {name!r} is {sql_name(has)}, the message has {sql_name(kind)}"
    found[name] = field_json(name, wider, there["metadata"])
    return None


def joined_type(one: Any, other: Any) -> Any:
    """Return the narrower type that has all values of two, one of them or decimals; or None.

    It is the first of two that differ in the order of fields alone: rows name fields.
    """
    if _in_order(one) == _in_order(other):
        return one
    if not isinstance(one, str) or not isinstance(other, str):
        return None
    for kinds in _WIDER:
        if one in kinds and other in kinds:
            return max(one, other, key=kinds.index)
    digits = [DECIMAL.fullmatch(kind) for kind in (one, other)]
    found = [(int(match[1]), int(match[2])) for match in digits if match is not None]
    if len(found) < len(digits):
        return None
    scale = max(scale for _, scale in found)
    precision = max(precision - scale for precision, scale in found) + scale
    return f"decimal({precision},{scale})" if precision <= MOST_DIGITS else None


def _in_order(kind: Any) -> Any:
    """Return a type's name and parts, those of structs in the order of their names."""
    inner = sorted(((name, _in_order(part)) for name, part in parts(kind)), key=itemgetter(0))
    return (kind["type"], inner) if inner else sql_name(kind)
