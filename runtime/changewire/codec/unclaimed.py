"""Messages that no format claims: why not, and which format they come nearest to."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final, NamedTuple, get_args, get_type_hints

from msgspec import UNSET, Struct, structs

from changewire.codec.family import GeneratedFamily, first_of
from changewire.codec.framed import CODES as FRAMED
from changewire.codec.issues import DecodeError, Issue
from changewire.codec.places import steps_of
from changewire.codec.wire import Data, bytes_of, wire_of
from changewire.msgpack_heads import ARRAYS

UNKNOWN: Final = "unknown"
"""Stands in place of a format in the errors of such messages."""

_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
"""What may precede a JSON text, and a byte order mark, which is refused for what it is."""

_LEAST: Final = Fraction(1, 2)
"""Share of its properties that a message has in common with a format that is near to it."""

_LEVELS: Final = 3
"""Levels of objects whose properties are compared."""

_ISSUES: Final = 3
"""Issues of the nearest format that a text names."""

_WORDS: Final = {"missing-property": "missing"}


class Nearest(NamedTuple):
    """The format that a message comes nearest to.

    Attributes:
        format: Its name.
        issues: Why the message is none of it; at least one.
    """

    format: str
    issues: list[Issue]

    def __str__(self) -> str:
        """Return the format, how many issues there are, and the first of them."""
        number = len(self.issues)
        shown = [
            f"{issue.place or 'message'} {_WORDS.get(issue.code, issue.code)}"
            for issue in self.issues[:_ISSUES]
        ]
        more = [f"{number - _ISSUES} more"] if number > _ISSUES else []
        count = f"{number} issue{'' if number == 1 else 's'}"
        return f"nearest: {self.format}, {count}: {', '.join(shown + more)}"


class Unclaimed(NamedTuple):
    """A message that no format claims.

    Attributes:
        error: Why: the bytes cannot be parsed, or the message is of no known kind.
        message: The message as dictionaries and lists; UNSET if it cannot be parsed.
        nearest: The format that it comes nearest to; None if it has little in common with any.
    """

    error: DecodeError
    message: Any
    nearest: Nearest | None


def unclaimed(data: Data, names: Sequence[str], families: Sequence[GeneratedFamily]) -> Unclaimed:
    """Return why no format claims a message; the families have the encoding that it may have."""
    try:
        message = wire_of(families[0]).parse(data)
    except DecodeError as error:
        if not _begins_as_message(bytes_of(data)) and error.code not in FRAMED:
            return Unclaimed(_no_kind(names, None, 0), UNSET, None)
        known = DecodeError(UNKNOWN, error.issues, error.byte_offset)
        return Unclaimed(known, UNSET, None)
    nearest = _nearest(message, families)
    return Unclaimed(_no_kind(names, nearest), message, nearest)


def _no_kind(
    names: Sequence[str], nearest: Nearest | None, byte_offset: int | None = None
) -> DecodeError:
    expected = f"a message of {', '.join(names)}"
    if nearest is not None:
        expected = f"{expected}; {nearest}"
    return DecodeError(UNKNOWN, [Issue("", "unknown-variant", "format", expected)], byte_offset)


def _begins_as_message(data: bytes) -> bool:
    """Return whether there are no bytes, or they begin as an object or array does."""
    text = data.lstrip(_BLANK)
    return not text or text.startswith((b"{", b"[")) or data[0] in ARRAYS


def _nearest(message: object, families: Sequence[GeneratedFamily]) -> Nearest | None:
    """Return the format with the most in common; of several the one with the fewest issues."""
    shares = [_share(message, family) for family in families]
    most = max(shares)
    if most < _LEAST:
        return None
    alike = [family for family, share in zip(families, shares, strict=True) if share == most]
    found = [Nearest(family.format, _issues(message, family)) for family in alike]
    return min((one for one in found if one.issues), key=lambda one: len(one.issues), default=None)


def _issues(message: object, family: GeneratedFamily) -> list[Issue]:
    return family.errors(message, "batch" if family.is_batch(message) else "message")


def _share(message: object, family: GeneratedFamily) -> Fraction:
    """Return the share of properties, or of positions, that a message has in common."""
    first: Any = first_of(message) if family.is_batch(message) else message
    if isinstance(first, dict):
        found = [*_compared(first, family.arms, _LEVELS)]
    else:
        found = [*_positions(first, family)]
    return Fraction(sum(found), len(found)) if found else Fraction(0)


def _compared(message: dict[Any, Any], kinds: Sequence[Any], levels: int) -> Iterator[bool]:
    """Yield for each property of an object whether a model names it, and those of objects in it."""
    for name, value in message.items():
        inner = [hint for kind in kinds for hint in _properties(kind).get(name, ())]
        yield any(name in _properties(kind) for kind in kinds)
        if inner and levels > 1 and isinstance(value, dict):
            yield from _compared(value, inner, levels - 1)


@cache
def _properties(kind: type[Struct]) -> dict[str, tuple[type[Struct], ...]]:
    """Return the names of a model's properties, each with the models that it can hold."""
    hints = get_type_hints(kind)
    found = {f.encode_name: tuple(_models(hints[f.name])) for f in structs.fields(kind)}
    tag = kind.__struct_config__.tag_field
    return found if tag is None else {tag: (), **found}


def _models(hint: Any) -> Iterator[type[Struct]]:
    for kind in get_args(hint) or (hint,):
        if isinstance(kind, type) and issubclass(kind, Struct):
            yield kind


def _positions(message: object, family: GeneratedFamily) -> Iterator[bool]:
    """Yield for each position of an array, as long as one of the format, whether it is valid."""
    arrays = [arm for arm in family.arms if arm.__struct_config__.array_like]
    if isinstance(message, list) and len(message) in {len(steps_of(arm)) for arm in arrays}:
        pointers = [issue.pointer for issue in family.errors(message, "message")]
        if all(pointers):  # without a pointer an issue is of the whole array
            wrong = {pointer.split("/")[1] for pointer in pointers}
            yield from (str(place) not in wrong for place in range(len(message)))
