"""Unions of positional arrays: what distinguishes their arms."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product
from typing import NoReturn

from changewire_codegen.errors import SchemaError
from changewire_codegen.nodes import (
    INT64,
    Alias,
    AnyDefinition,
    Anything,
    ArrayOf,
    Choice,
    MapOf,
    Nullable,
    Property,
    RefTo,
    Row,
    RowUnion,
    Scalar,
    TaggedRow,
    Type,
    Union,
    with_references,
)
from changewire_codegen.order import references

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
        _refuse(union, f"ambiguous union: {name} is not an array with its own positions")
    if union.pointer and not arm.pointer:
        _refuse(union, f"{name} is a message of its own: the arms of this union must be in $defs")
    return arm


def _merged(union: Union, arms: list[Row], definitions: Definitions) -> TaggedRow:
    """Return the one model for all arms."""
    names = [prop.wire for prop in arms[0].positions]
    for arm in arms[1:]:
        if [prop.wire for prop in arm.positions] != names:
            _refuse(
                union, f"ambiguous union: {arm.name} has different positions from {arms[0].name}"
            )
    columns = list(zip(*(arm.positions for arm in arms), strict=True))
    found = [i for i, column in enumerate(columns) if _is_tag(column)]
    if len(found) != 1:
        _refuse(union, f"ambiguous union: the arms need exactly {_ASKED}")
    tag = found[0]
    tags = tuple(_integers(arm.positions[tag].type) or () for arm in arms)
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


_ASKED = (
    "one position in common that is a const or an enum of integers, with different values in each"
)


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
    opened = [arm for arm in arms if _integers(arm.positions[tag].type) == ()]
    for arm in opened[1:]:
        pointer = arm.positions[tag].pointer
        raise SchemaError(arm.file, pointer, "ambiguous union: at most one arm may be open")
    for arm in opened:
        kind = arm.positions[tag].type
        if isinstance(kind, Scalar) and sorted(kind.excluded) != list(known):
            reason = f"an open arm must exclude the tags of the other arms, which are {list(known)}"
            raise SchemaError(arm.file, f"{arm.positions[tag].pointer}/not/enum", reason)


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
    own = list(arm.positions)
    for i in differing:
        own[i] = replace(own[i], type=_resolved(own[i].type, definitions))
        if not _is_testable(own[i].type):
            reason = (
                "the arms differ here, so this must be a scalar, or a list or map of any values"
            )
            raise SchemaError(arm.file, own[i].pointer, reason)
    return replace(arm, positions=tuple(own))


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
    if len({len(arm.positions) for arm in arms}) > 1:
        _refuse(union, "ambiguous union: the arms need the same number of positions")
    columns = list(zip(*(arm.positions for arm in arms), strict=True))
    if any(_integers(prop.type) == () for column in columns for prop in column):
        _refuse(union, "ambiguous union: only a union in $defs may have an open arm")
    tags = tuple(i for i, column in enumerate(columns) if all(_integers(p.type) for p in column))
    keys = tuple(
        tuple(product(*(_integers(arm.positions[i].type) or () for i in tags))) for arm in arms
    )
    nested = None
    if len(set(chain.from_iterable(keys))) < sum(map(len, keys)):
        nested = _nested(union, arms, keys, definitions)
    head = (union.name, union.description, union.file, union.pointer)
    return RowUnion(*head, union.arms, tags, nested, keys)


def _nested(
    union: Union, arms: list[Row], keys: tuple[tuple[tuple[int, ...], ...], ...], all_: Definitions
) -> int:
    """Return the position whose length distinguishes arms with the same constants."""
    for i in range(len(arms[0].positions)):
        lengths = [_length(arm.positions[i].type, all_) for arm in arms]
        pairs = [(key, n) for own, n in zip(keys, lengths, strict=True) for key in own]
        if None not in lengths and len(set(pairs)) == len(pairs):
            return i
    return _refuse(
        union,
        "ambiguous union: arms with the same constants need a position that holds an array of "
        "a different length in each",
    )


def _length(kind: Type, definitions: Definitions) -> int | None:
    row = definitions[kind.name] if isinstance(kind, RefTo) else None
    return len(row.positions) if isinstance(row, Row) else None


def check_rows(definitions: Definitions) -> None:
    """Refuse references that an array cannot have, and exclusions but at the tag of an open arm."""
    for definition in definitions.values():
        for name in references(definition):
            _check_reference(definition, name, definitions)
        arms = definition.arms if isinstance(definition, TaggedRow) else (definition,)
        for arm in [arm for arm in arms if isinstance(arm, Row)]:
            tag = definition.tag if isinstance(definition, TaggedRow) else None
            for i, prop in enumerate(arm.positions):
                if i != tag and isinstance(prop.type, Scalar) and prop.type.excluded:
                    reason = "only the tag of an open arm may have a 'not'"
                    raise SchemaError(arm.file, f"{prop.pointer}/not", reason)


def _check_reference(definition: AnyDefinition, name: str, definitions: Definitions) -> None:
    reason = None
    if name not in definitions:
        reason = f"{name} is an arm: refer to its union instead"
    elif isinstance(definition, Row) and _is_messages(name, definitions):
        reason = f"{name} is a union of messages: an array cannot hold messages"
    if reason is not None:
        raise SchemaError(definition.file, definition.pointer, reason)


def _is_messages(name: str, definitions: Definitions, path: tuple[str, ...] = ()) -> bool:
    """Return whether a name is that of a union of messages, or of a list of them."""
    definition = definitions.get(name)
    if isinstance(definition, RowUnion) or not isinstance(definition, Alias) or name in path:
        return isinstance(definition, RowUnion)
    return any(_is_messages(n, definitions, (*path, name)) for n in references(definition))


def _refuse(union: Union, reason: str) -> NoReturn:
    raise SchemaError(union.file, union.pointer, reason)
