"""The schema files of one folder to one Family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from changewire_codegen.envelopes import check_envelopes
from changewire_codegen.errors import SchemaError
from changewire_codegen.keywords import ROOT
from changewire_codegen.names import KEPT, UNCARRIABLE, python_name, snake, title_problem
from changewire_codegen.nodes import (
    Alias,
    AnyDefinition,
    Choice,
    Family,
    Object,
    Property,
    RefTo,
    Row,
    Scalar,
    Tag,
    Union,
    not_null,
    with_arms,
)
from changewire_codegen.order import in_order
from changewire_codegen.row_unions import check_open_rows, check_rows, resolve_row_unions
from changewire_codegen.types import LOOSE, Node, Place, build_type, is_by_any_key, is_loose
from changewire_codegen.unions import resolve_unions

LENIENT = frozenset({"x-leniency"})
TIME = frozenset({"x-unit", "x-unknown"})
MEANING = TIME | {"x-op", "x-values"}
PROPERTY = LENIENT | MEANING | {"x-repeated", "x-alone", "x-flat"}
POSITION = LENIENT | MEANING | {"not"}

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
        place = Place(file, pointer, titles, meta["encoding"], exact)
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
        kind=meta.get("kind", "messages"),
        format=meta.get("format"),
        encoding=meta["encoding"],
        exact=exact,
        roles=_roles(folder, meta.get("roles", {}), documents, definitions),
        definitions=in_order(definitions),
        meta=meta,
        schemas=documents,
        variants={file.removesuffix(".json"): node["title"] for file, node in documents.items()},
    )
    check_envelopes(family)
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
                raise definition.refusal(f"{reason} in Python")


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
    own = frozenset() if place.pointer else ROOT
    is_object = node.get("type") == "object" and "properties" in node
    is_row = node.get("type") == "array" and "prefixItems" in node
    place.check_keywords(node, own | LENIENT if is_object or is_row else own)
    if is_object:
        return _object(node, head, place)
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
    # The tag of an open arm is the property that takes every value but the known ones.
    excluding = {wire: child["not"] for wire, child in node["properties"].items() if "not" in child}
    tags = [Tag(wire, known=tuple(known["enum"])) for wire, known in excluding.items()]
    properties = _properties(node["properties"], required, place.at("properties"))
    return Object(*head, properties, node.get("x-leniency", {}), tags[0] if tags else None)


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
    return Row(*head, positions, node.get("x-leniency", {}), is_open)


def _properties(
    children: Mapping[str, Node],
    required: set[str],
    place: Place,
    steps: Mapping[str, str] | None = None,
) -> tuple[Property, ...]:
    found: list[Property] = []
    taken: dict[str, str] = {}
    ours = KEPT | {f"@{wire}" for wire, node in children.items() if "not" in node}
    for wire, node in children.items():
        below = place.at((steps or {}).get(wire, wire))
        if UNCARRIABLE.search(wire):
            rule = "must not contain quotes, backslashes or control characters"
            below.refuse(f"a property name {rule}")
        if wire in ours:
            below.refuse(f"the property name {wire!r} is one that models use themselves")
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
        _check_meanings(prop, below, is_listed=bool(node.keys() & {"const", "enum"}))
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


def _check_meanings(prop: Property, place: Place, *, is_listed: bool) -> None:
    """Refuse keywords of a property that do not fit its type."""
    if prop.repeated and not isinstance(not_null(prop.type), RefTo):
        reason = "a repeated property must be a reference to a definition, or null"
        place.at("x-repeated").refuse(reason)
    if prop.op and not is_listed:
        place.at("x-op").refuse("only a const or an enum may name an operation")
    options = prop.type.options if isinstance(prop.type, Scalar | Choice) else ()
    kinds = {option.kind for option in options}
    if prop.unit and kinds - {"null"} != {"integer"}:
        place.at("x-unit").refuse("a time in a unit must be an integer, or null")
    types = {{"string": str, "integer": int}.get(kind) for kind in kinds}
    for i, known in enumerate(prop.values):
        if type(known["value"]) not in types:
            place.at("x-values", i).refuse("the property has no values of this type")
        others = ((other["value"], other.get("of")) for other in prop.values[:i])
        if (known["value"], known.get("of")) in others:
            place.at("x-values", i).refuse(f"{known['value']!r} has two meanings")


def _roles(
    folder: str,
    roles: Mapping[str, str],
    documents: Mapping[str, Node],
    definitions: Definitions,
) -> dict[str, str]:
    for role, stem in roles.items():
        title = documents.get(f"{stem}.json", {}).get("title", "")
        found = definitions.get(title)
        is_arm = isinstance(found, Object) and found.tag is not None
        if found is None or is_arm:
            other = f"{title} is an arm of a union: name the file of the union"
            reason = other if is_arm else f"there is no file {stem}.json"
            raise SchemaError(f"{folder}/family.json", f"/roles/{role}", reason)
    return {role: documents[f"{stem}.json"]["title"] for role, stem in roles.items()}
