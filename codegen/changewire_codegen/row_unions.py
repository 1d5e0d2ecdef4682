"""Unions of positional arrays: what distinguishes their arms."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product

from changewire_codegen.nodes import (
    INT64,
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Choice,
    Family,
    MapOf,
    Nullable,
    Property,
    RefTo,
    Row,
    RowArm,
    RowUnion,
    Scalar,
    TaggedRow,
    Type,
    Union,
    names_in,
    with_references,
)
from changewire_codegen.order import messages, reached, references
from changewire_codegen.types import is_by_any_key

Definitions = dict[str, AnyDefinition]


def resolve_row_unions(definitions: Definitions) -> None:
    """Find for every union of arrays what distinguishes its arms.

    At the root of a file the arms stay models of their own, which the reader of a message chooses
    from before it decodes. In ``$defs`` they become one model: msgspec decodes no union of arrays
    that it would have to distinguish by a position after the first.
    """
    for union in [d for d in definitions.values() if isinstance(d, Union)]:
        arms = [_arm(union, name, definitions) for name in union.arms]
        if union.pointer:
            definitions[union.name] = _merged(union, arms, definitions)
            for arm in arms:
                del definitions[arm.name]
    for union in [d for d in definitions.values() if isinstance(d, Union)]:
        arms = [_arm(union, name, definitions) for name in union.arms]
        definitions[union.name] = _separate(union, arms, definitions)


def _arm(union: Union, name: str, definitions: Definitions) -> Row:
    arm = definitions.get(name)
    if not isinstance(arm, Row) or isinstance(arm, TaggedRow):
        raise union.refusal(f"ambiguous union: {name} is not an array with its own positions")
    if union.pointer and not arm.pointer:
        reason = f"{name} is a message of its own: the arms of this union must be in $defs"
        raise union.refusal(reason)
    return arm


def _merged(union: Union, arms: list[Row], definitions: Definitions) -> TaggedRow:
    """Return the one model for all arms."""
    names = [prop.wire for prop in arms[0].properties]
    for arm in arms[1:]:
        if [prop.wire for prop in arm.properties] != names:
            reason = f"ambiguous union: {arm.name} has different positions from {arms[0].name}"
            raise union.refusal(reason)
    columns = list(zip(*(arm.properties for arm in arms), strict=True))
    found = [i for i, column in enumerate(columns) if _is_tag(column)]
    if len(found) != 1:
        asked = "one position in common that is a const or an enum of integers"
        reason = f"the arms need exactly {asked}, with different values in each"
        raise union.refusal(f"ambiguous union: {reason}")
    tag = found[0]
    tags = tuple(_integers(arm.properties[tag].type) or () for arm in arms)
    known = tuple(sorted(chain.from_iterable(tags)))
    _check_open_arms(arms, tag, known)
    head = (union.name, union.description, union.file, union.pointer)
    kinds = [_joined([prop.type for prop in column]) for column in columns]
    kinds[tag] = Scalar("integer", *INT64) if () in tags else Scalar("integer", enum=known)
    positions = tuple(_position(i, columns[i], kinds[i], names[tag]) for i in range(len(names)))
    differing = {
        i
        for i, column in enumerate(columns)
        if i != tag and any(prop.type != kinds[i] for prop in column)
    }
    plain = tuple(_plain(arm, differing, definitions) for arm in arms)
    is_open = any(arm.is_open for arm in arms)
    return TaggedRow(*head, positions, is_open=is_open, tag=tag, arms=plain, tags=tags)


def _integers(kind: Type) -> tuple[int, ...] | None:
    """Return the integers that a position may be; none in an open arm; None if not a tag."""
    if not isinstance(kind, Scalar) or kind.kind != "integer":
        return None
    if kind.excluded:
        return ()
    return None if kind.enum is None else tuple(int(value) for value in kind.enum)


def _is_tag(column: tuple[Property, ...]) -> bool:
    tags = [_integers(prop.type) for prop in column]
    known = [tag for tag in tags if tag is not None]
    values = list(chain.from_iterable(known))
    return len(known) == len(tags) and len(values) == len(set(values))


def _check_open_arms(arms: list[Row], tag: int, known: tuple[int, ...]) -> None:
    tags = [(arm, arm.properties[tag]) for arm in arms]
    opened = [(arm, prop) for arm, prop in tags if _integers(prop.type) == ()]
    for arm, prop in opened[1:]:
        raise arm.refusal("ambiguous union: at most one arm may be open", prop.pointer)
    for arm, prop in opened:
        if isinstance(prop.type, Scalar) and {*prop.type.excluded} != {*known}:
            reason = f"an open arm must exclude the tags of the other arms, which are {list(known)}"
            raise arm.refusal(reason, f"{prop.pointer}/not/enum")


def _joined(kinds: list[Type]) -> Type:
    """Return the type of a position in all arms; any value where they differ on it."""
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    scalars = {kind.kind for kind in kinds if isinstance(kind, Scalar)}
    if scalars == {"integer"} and all(isinstance(kind, Scalar) for kind in kinds):
        return Scalar("integer", *INT64)
    return Anything()


def _position(i: int, column: tuple[Property, ...], kind: Type, tag: str) -> Property:
    texts = {prop.description for prop in column}
    text = column[0].description if len(texts) == 1 else f"Its meaning depends on `{tag}`."
    return replace(column[0], type=kind, description=text, leniencies={}, pointer=f"/positions/{i}")


def _plain(arm: Row, differing: set[int], definitions: Definitions) -> Row:
    """Return an arm whose positions, where they differ from the model, one test can check."""
    own = list(arm.properties)
    for i in differing:
        own[i] = replace(own[i], type=_resolved(own[i].type, definitions))
        if not _is_testable(own[i].type):
            reason = "so this must be a scalar, or a list or map of any values"
            raise arm.refusal(f"the arms differ here, {reason}", own[i].pointer)
    return replace(arm, properties=tuple(own))


def _resolved(kind: Type, definitions: Definitions, path: tuple[str, ...] = ()) -> Type:
    """Return a type in which references to named types are replaced by these types."""

    def resolve(reference: RefTo) -> Type:
        name = reference.name
        definition = definitions.get(name)
        if not isinstance(definition, Alias) or name in path:
            return reference
        return _resolved(definition.type, definitions, (*path, name))

    return with_references(kind, resolve)


def _is_testable(kind: Type) -> bool:
    if isinstance(kind, Nullable):
        return _is_testable(kind.of)
    if isinstance(kind, ArrayOf):
        return kind == ArrayOf(Anything())
    if isinstance(kind, MapOf):
        return kind == MapOf(Anything(), any_keys=True)
    return isinstance(kind, (Anything, Choice, Scalar))


def _separate(union: Union, arms: list[Row], definitions: Definitions) -> RowUnion:
    """Return the union whose arms are models of their own."""
    if len({len(arm.properties) for arm in arms}) > 1:
        raise union.refusal("ambiguous union: the arms need the same number of positions")
    columns = list(zip(*(arm.properties for arm in arms), strict=True))
    if any(_integers(prop.type) == () for column in columns for prop in column):
        raise union.refusal("ambiguous union: only a union in $defs may have an open arm")
    tags = tuple(i for i, column in enumerate(columns) if all(_integers(p.type) for p in column))
    keys = [
        tuple(product(*(_integers(arm.properties[i].type) or () for i in tags))) for arm in arms
    ]
    is_told = len(set(chain.from_iterable(keys))) == sum(map(len, keys))
    for nested in (None,) if is_told else range(len(columns)):
        inner = [None if nested is None else _inner(arm, nested, definitions) for arm in arms]
        choices = tuple(map(RowArm, arms, keys, inner))
        lengths = [(key, choice.length) for choice in choices for key in choice.keys]
        if nested is None or (None not in inner and len(set(lengths)) == len(lengths)):
            head = (union.name, union.description, union.file, union.pointer)
            return RowUnion(*head, union.arms, tags, nested, choices)
    reason = "a position that has an array of a different length in each"
    raise union.refusal(f"ambiguous union: arms with the same constants need {reason}")


def _inner(arm: Row, position: int, definitions: Definitions) -> Row | None:
    kind = arm.properties[position].type
    row = definitions[kind.name] if isinstance(kind, RefTo) else None
    return row if isinstance(row, Row) else None


def check_rows(definitions: Definitions) -> None:
    """Refuse references that an array cannot have, and exclusions but at the tag of an open arm."""
    for definition in definitions.values():
        for name in references(definition):
            if name not in definitions:
                raise definition.refusal(f"{name} is an arm: refer to its union instead")
            if isinstance(definition, Row) and _is_messages(name, definitions):
                reason = f"{name} is a union of messages: an array cannot contain messages"
                raise definition.refusal(reason)
        arms = definition.arms if isinstance(definition, TaggedRow) else (definition,)
        tag = definition.tag if isinstance(definition, TaggedRow) else None
        for arm in [arm for arm in arms if isinstance(arm, Row)]:
            for i, prop in enumerate(arm.properties):
                if i != tag and isinstance(prop.type, Scalar) and prop.type.excluded:
                    reason = "only the tag of an open arm may have a 'not'"
                    raise arm.refusal(reason, f"{prop.pointer}/not")


def _is_messages(name: str, definitions: Definitions, path: tuple[str, ...] = ()) -> bool:
    """Return whether a name is that of a union of messages, or of a list of them."""
    definition = definitions.get(name)
    if isinstance(definition, RowUnion) or not isinstance(definition, Alias) or name in path:
        return isinstance(definition, RowUnion)
    return any(_is_messages(n, definitions, (*path, name)) for n in references(definition))


def check_open_rows(family: Family) -> None:
    """Refuse open arrays where a reader could not tell, or keep, what is beyond their positions."""
    rows = [d for d in family.definitions.values() if isinstance(d, Row)]
    parts = {name for row in rows for name in references(row)} & messages(family)
    kinds = (prop.type for row in rows for prop in row.properties if is_by_any_key(prop.type))
    keyed = reached((name for kind in kinds for name in names_in(kind)), family)
    for definition in family.definitions.values():
        if isinstance(definition, Row) and definition.is_open:
            if family.encoding == "json":
                reason = "only an array of MessagePack may be open"
                raise definition.refusal(f"{reason}: close it with items: false and maxItems")
            if definition.name in parts:
                reason = "a message that is part of another one must be closed"
                raise definition.refusal(f"{reason}: items: false and maxItems")
            if definition.name in keyed:  # a pointer does not tell the key 1 from "1"
                reason = "an array in a map by any key must be closed"
                raise definition.refusal(f"{reason}: items: false and maxItems")
        arms = list(definition.arms if isinstance(definition, TaggedRow) else ())
        if isinstance(definition, RowUnion):
            arms += [choice.row for choice in definition.choices]
        for arm in arms:
            if arm.is_open != arms[0].is_open:
                raise arm.refusal("the arms of a union of arrays must all be open, or all closed")
        if isinstance(definition, RowUnion):
            _check_lengths(definition)


def _check_lengths(union: RowUnion) -> None:
    """Refuse an open inner array where a longer one belongs to the same constants."""
    for arm in union.choices:
        lengths = [other.length for other in union.choices if {*arm.keys} & {*other.keys}]
        if arm.inner is not None and arm.inner.is_open and arm.length < max(lengths):
            reason = "an array that differs from a longer one only by its length must be closed"
            raise arm.inner.refusal(reason)
