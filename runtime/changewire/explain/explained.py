"""One message, explained: format, variant, fields, issues, leniencies."""

from typing import Final

from msgspec import UNSET, Struct

from changewire.changes.adapters import adapter
from changewire.changes.contradictions import contradictions
from changewire.changes.contradictions import leniencies as leniencies_of
from changewire.codec import Data, DecodeError, Issue, codec, detect
from changewire.codec.border import guarded
from changewire.codec.registry import family, unclaimed
from changewire.codec.unclaimed import UNKNOWN
from changewire.codec.wire import bytes_of, wire_of
from changewire.explain.readings import typed_reading
from changewire.explain.schema import NOTHING_KNOWN, schemas
from changewire.explain.walk import Field, walk

_AROUND: Final = 40


class Stop(Struct, frozen=True):
    """Where the parser stopped."""

    byte_offset: int
    before: bytes
    after: bytes


class Explanation(Struct, frozen=True, kw_only=True):
    """The meaning of a message.

    Attributes:
        format: Name of its format; None if it says none.
        nearest: Name of the format that a message without one comes nearest to: its fields are kept
            against that. None if it has a format, or little in common with any.
        variant: Title of its schema; None if it has none.
        fields: Its fields; none if it cannot be parsed. Each issue is at its field, one of
            the message as a whole at the first.
        issues: Every issue of the message; of one without a format, that first, and then those that
            keep it from being one of the nearest format.
        leniencies: Names of the leniencies that it needed, one for each use.
        stop: Where the parser stopped; None if the message can be parsed, or if the parser does
            not say.
    """

    format: str | None
    variant: str | None = None
    fields: list[Field] = []
    issues: list[Issue] = []
    leniencies: list[str] = []
    stop: Stop | None = None
    nearest: str | None = None


def explain(data: Data, format: str | None = None, *, most: int | None = 20) -> Explanation:
    """Return the meaning of each field of a message, and of its value.

    Args:
        data: The value of a Kafka record, as bytes or as text.
        format: Name of its format; None to detect it.
        most: How many elements of one array, entries of one map, or properties without a name in
            the schema are explained; of all fields of the message fifty times as many. None
            explains all.

    Raises:
        ValueError: No format has this name.
    """
    found = format or detect(data)
    if found is not None:
        family(found)  # there may be no such format
    try:
        return guarded(DecodeError, found or UNKNOWN, _explained, data, found, most)
    except DecodeError as error:
        return _unparsed(found, data, error)


def _explained(data: Data, found: str | None, most: int | None) -> Explanation:
    """Return what `explain` does, or raise `DecodeError` for what cannot be parsed."""
    if found is None:
        return _unclaimed(data, most)
    message = wire_of(family(found)).parse(data)
    fields = _fields(message, found, most)
    issues = codec(found).validate(data)
    leniencies: list[str] = []
    if not issues:
        issues, leniencies = contradictions(data, found), leniencies_of(data, found)
        _declare(fields, message, found)
    _place(fields, issues)
    variant = fields[0].kind if family(found).is_batch(message) else _variant(fields)
    return Explanation(
        format=found, variant=variant, fields=fields, issues=issues, leniencies=leniencies
    )


def _fields(message: object, format: str, most: int | None) -> list[Field]:
    """Return the fields of a message next to the schema of a format."""
    found = family(format)
    role = "batch" if found.is_batch(message) else "message"
    return list(walk(message, schemas(format)[found.roles[role]], most))


def _unparsed(format: str | None, data: Data, error: DecodeError) -> Explanation:
    offset, raw, stop = error.byte_offset, bytes_of(data), None
    if offset is not None:
        before, after = raw[max(0, offset - _AROUND) : offset], raw[offset : offset + _AROUND]
        stop = Stop(offset, before, after)
    return Explanation(format=format, issues=error.issues, stop=stop)


def _unclaimed(data: Data, most: int | None) -> Explanation:
    """Return the fields of a message of no known format, next to the schema of the nearest one."""
    error, message, nearest = unclaimed(data)
    if message is UNSET:
        return _unparsed(None, data, error)
    if nearest is None:
        name, issues, fields = None, error.issues, list(walk(message, NOTHING_KNOWN, most))
    else:
        name, issues = nearest.format, error.issues + nearest.issues
        fields = _fields(message, name, most)
    _place(fields, issues)
    return Explanation(format=None, fields=fields, issues=issues, nearest=name)


def _variant(fields: list[Field]) -> str:
    """Return the kind that a tag names, nearest to the root; the kind of the root without a tag."""
    tagged = [field for field in fields if field.tagged]
    return min(tagged, key=lambda field: field.depth, default=fields[0]).kind


def _declare(fields: list[Field], message: object, format: str) -> None:
    """Add the types that a message declares, and the meaning of values by them."""
    by_pointer = {field.pointer: field for field in fields}
    declared = adapter(format).declared
    for column in declared(message) if declared else ():
        field = by_pointer.get(column.pointer)
        if field is not None:
            field.declared = column.type
            if field.value is not UNSET:
                field.reading = typed_reading(column.value)


def _place(fields: list[Field], issues: list[Issue]) -> None:
    """Add each issue to its field, or to the nearest field around it."""
    by_pointer = {field.pointer: field for field in fields}
    for issue in issues:
        pointer = issue.pointer
        while pointer not in by_pointer:
            pointer = pointer.rpartition("/")[0]
        by_pointer[pointer].issues.append(issue)
