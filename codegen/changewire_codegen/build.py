"""The schema files of one folder to one Family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from changewire_codegen.alone import check_alone
from changewire_codegen.errors import SchemaError
from changewire_codegen.flat import check_flat
from changewire_codegen.keywords import ROOT
from changewire_codegen.names import UNCARRIABLE, python_name, snake, title_problem
from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Choice,
    Family,
    Nullable,
    Object,
    Property,
    RefTo,
    Row,
    Scalar,
    Tag,
    Type,
    Union,
    with_arms,
)
from changewire_codegen.open_rows import check_open_rows
from changewire_codegen.order import in_order
from changewire_codegen.row_unions import check_rows, resolve_row_unions
from changewire_codegen.types import LOOSE, Node, Place, build_type, is_by_any_key, is_loose
from changewire_codegen.unions import resolve_unions

LENIENT = frozenset({"x-leniency"})
TIME = frozenset({"x-unit", "x-unknown"})
MEANING = TIME | {"x-op", "x-values"}
PROPERTY = LENIENT | MEANING | {"x-repeated", "x-alone", "x-flat"}
POSITION = LENIENT | MEANING | {"not"}
NOTHING: frozenset[str] = frozenset()

Definitions = dict[str, AnyDefinition]

_RESOLVE: Mapping[str, Callable[[Definitions], None]] = {
    "json": resolve_unions,
    "msgpack": resolve_row_unions,
}
"""How the arms of unions are distinguished: by a property, or by a position."""


def build_family(folder: str, meta: Mapping[str, Any], documents: Mapping[str, Node]) -> Family:
    """Return the family that ``family.json`` and its schema files describe."""
    places = _places(folder, documents)
    titles = {(file, pointer): node["title"] for file, pointer, node in places}
    definitions: Definitions = {}
    exact = meta.get("numbers") == "exact"
    for file, pointer, node in places:
        place = Place(file, pointer, titles, exact=exact)
        definition = _definition(node, place)
        if definition.name in definitions:
            other = definitions[definition.name]
            place.refuse(f"the title {definition.name!r} is taken by {other.file}#{other.pointer}")
        definitions[definition.name] = definition
    _RESOLVE[meta["encoding"]](definitions)
    check_rows(definitions)
    _check_names(definitions)
    family = Family(
        name=folder,
        title=meta["title"],
        description=meta["description"],
        kind=meta.get("kind", "messages"),
        format=meta.get("format"),
        encoding=meta["encoding"],
        exact=exact,
        roles=_roles(folder, meta.get("roles", {}), documents),
        differences=tuple(meta.get("differences", ())),
        more=meta.get("more", ""),
        definitions=in_order(definitions),
        meta=meta,
        schemas=documents,
        variants={file.removesuffix(".json"): node["title"] for file, node in documents.items()},
    )
    check_alone(family)
    check_flat(family)
    check_open_rows(family)
    return family


def _check_names(definitions: Definitions) -> None:
    """Refuse different titles that would give two functions the same name."""
    taken: dict[str, str] = {}
    for definition in with_arms(definitions.values()):
        name = snake(definition.name)
        for function in (name, f"broken_{name}"):
            other = taken.setdefault(function, definition.name)
            if other != definition.name:
                reason = f"name clash: {other!r} and {definition.name!r} are both {function!r}"
                raise SchemaError(definition.file, definition.pointer, f"{reason} in Python")


def _places(folder: str, documents: Mapping[str, Node]) -> list[tuple[str, str, Node]]:
    """List each definition of each file: (file, pointer, node)."""
    found: list[tuple[str, str, Node]] = []
    for file, document in documents.items():
        path = f"{folder}/{file}"
        for key, node in document.get("$defs", {}).items():
            if node["title"] != key:
                raise SchemaError(path, f"/$defs/{key}", f"the title must be {key!r} as in $defs")
            found.append((path, f"/$defs/{key}", node))
        found.append((path, "", document))
    return found


def _definition(node: Node, place: Place) -> AnyDefinition:
    head = (node["title"], node["description"], place.file, place.pointer)
    problem = title_problem(node["title"])
    if problem is not None:
        place.at("title").refuse(problem)
    own = NOTHING if place.pointer else ROOT
    if node.get("type") == "object" and "properties" in node:
        place.check_keywords(node, own | LENIENT)
        return _object(node, head, place)
    is_row = node.get("type") == "array" and "prefixItems" in node
    place.check_keywords(node, own | LENIENT if is_row else own)
    if "oneOf" in node:
        arms = tuple(place.resolve(arm["$ref"]) for arm in node["oneOf"])
        return Union(*head, tag="", arms=arms)
    if is_row:
        return _row(node, head, place)
    kind = build_type(node, place, own)
    if is_loose(kind) or is_by_any_key(kind):
        place.refuse(LOOSE)
    return Alias(*head, kind)


def _object(node: Node, head: tuple[str, str, str, str], place: Place) -> Object:
    required = set(node.get("required", ()))
    unknown = sorted(required - set(node["properties"]))
    if unknown:
        place.at("required").refuse(f"{unknown[0]!r} is required but not among the properties")
    return Object(
        *head,
        properties=_properties(node["properties"], required, place.at("properties")),
        tag=_open_tag(node),
        leniencies=node.get("x-leniency", {}),
    )


def _open_tag(node: Node) -> Tag | None:
    """Return the tag of an open arm: the property that takes every value but the known ones."""
    for wire, child in node["properties"].items():
        if "not" in child:
            return Tag(wire, known=tuple(child["not"]["enum"]))
    return None


def _row(node: Node, head: tuple[str, str, str, str], place: Place) -> Row:
    count = len(node["prefixItems"])
    is_open = not node.keys() & {"items", "maxItems"}
    is_closed = node.get("items") is False and node.get("maxItems") == count
    if node["minItems"] != count or not (is_open or is_closed):
        either = f"items: false and maxItems: {count}, or neither of these"
        place.refuse(f"a positional array needs minItems: {count}, and {either}")
    titles = [child["title"] for child in node["prefixItems"]]
    if len(set(titles)) < count:
        place.at("prefixItems").refuse("two positions have the same title")
    steps = {title: str(i) for i, title in enumerate(titles)}
    children = dict(zip(titles, node["prefixItems"], strict=True))
    positions = _properties(children, set(titles), place.at("prefixItems"), steps)
    for prop, child in zip(positions, node["prefixItems"], strict=True):
        if "not" in child and not (isinstance(prop.type, Scalar) and prop.type.excluded):
            reason = "the keyword 'not' has no meaning here"
            raise SchemaError(place.file, f"{prop.pointer}/not", reason)
    return Row(*head, positions, leniencies=node.get("x-leniency", {}), is_open=is_open)


def _properties(
    children: Mapping[str, Node],
    required: set[str],
    place: Place,
    steps: Mapping[str, str] | None = None,
) -> tuple[Property, ...]:
    found: list[Property] = []
    taken: dict[str, str] = {}
    for wire, node in children.items():
        below = place.at((steps or {}).get(wire, wire))
        if UNCARRIABLE.search(wire):
            below.refuse(
                "a property name must not contain quotes, backslashes or control characters"
            )
        prop = Property(
            wire=wire,
            name=python_name(wire),
            type=build_type(node, below, POSITION if steps else PROPERTY),
            required=wire in required,
            description=node["description"] + _unit(node),
            pointer=below.pointer,
            leniencies=node.get("x-leniency", {}),
            repeated=node.get("x-repeated", False),
            alone=node.get("x-alone", False),
            op=node.get("x-op", ""),
            unit=node.get("x-unit", ""),
            unknown=tuple(map(int, node.get("x-unknown", ()))),
            flat=node.get("x-flat", False),
            values=tuple(node.get("x-values", ())),
        )
        _check_repeated(prop, below)
        if prop.op and not node.keys() & {"const", "enum"}:
            below.at("x-op").refuse("only a const or an enum may stand for an operation")
        if prop.unit and _words(prop.type) - {"null"} != {"integer"}:
            below.at("x-unit").refuse("a time in a unit must be an integer, or null")
        _check_values(prop, below)
        for name in sorted({prop.name, prop.attribute}):
            if name in taken:
                both = f"{wire!r} and {taken[name]!r}"
                below.refuse(f"name clash: {both} are both {name!r} in Python")
            taken[name] = wire
        found.append(prop)
    return tuple(found)


def _unit(node: Node) -> str:
    """Return what the keywords of a time say, as a sentence of its description."""
    if "x-unit" not in node:
        return ""
    unknown = (f"; {value} means {words}" for value, words in node.get("x-unknown", {}).items())
    return f" In {node['x-unit']} since the Unix epoch{''.join(unknown)}."


def _words(kind: Type) -> set[str]:
    """Return the kinds of the scalars that a type allows; empty for other types."""
    options = kind.options if isinstance(kind, Choice) else (kind,)
    return {option.kind if isinstance(option, Scalar) else "" for option in options}


def _check_values(prop: Property, place: Place) -> None:
    """Refuse values that the type does not have, and a value that has two meanings."""
    kinds = {"string": str, "integer": int}
    types = {kinds.get(word) for word in _words(prop.type)}
    for i, known in enumerate(prop.values):
        if type(known["value"]) not in types:
            place.at("x-values", i).refuse("the property has no values of this type")
        others = ((other["value"], other.get("of")) for other in prop.values[:i])
        if (known["value"], known.get("of")) in others:
            place.at("x-values", i).refuse(f"{known['value']!r} has two meanings")


def _check_repeated(prop: Property, place: Place) -> None:
    kind = prop.type.of if isinstance(prop.type, Nullable) else prop.type
    if prop.repeated and not isinstance(kind, RefTo):
        place.at("x-repeated").refuse(
            "a repeated property must be a reference to a definition, or null"
        )


def _roles(folder: str, roles: Mapping[str, str], documents: Mapping[str, Node]) -> dict[str, str]:
    for role, stem in roles.items():
        if f"{stem}.json" not in documents:
            raise SchemaError(
                f"{folder}/family.json", f"/roles/{role}", f"there is no file {stem}.json"
            )
    return {role: documents[f"{stem}.json"]["title"] for role, stem in roles.items()}
