"""What all generated families share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import reduce
from operator import or_
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import msgspec

Issue: TypeAlias = tuple[str, str, str, Any]
"""JSON Pointer, keyword of the schema that is broken, the expected and the found value."""


class KnownValue(NamedTuple):
    """A value that has a meaning.

    Attributes:
        value: The value.
        means: What it means, as a word that is the same for all families.
        of: The other value together with which it has this meaning; empty if it always has it.
        bits: Bits of a number; 0 for other types.
        column: Column type of what has the type that the value names; empty without one.
    """

    value: Any
    means: str
    of: str = ""
    bits: int = 0
    column: str = ""


Path: TypeAlias = tuple[Any, ...]
"""Place of a value: empty at the root, otherwise the path of its parent and the last step."""

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""An integer of 32 bits with a sign."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=INT64_MIN, le=INT64_MAX)]
"""An integer of 64 bits with a sign."""

Made = TypeVar("Made")

_MOST_BYTES = 8 * 1024 * 1024
_LEAST_BYTES = 8 * 1024
_write = msgspec.json.Encoder(decimal_format="number").encode
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z")


class Extra(Mapping[str, Any]):
    """Parts of a message beyond its schema, by JSON Pointer (RFC 6901).

    These are properties that the schema does not name, and positions beyond those it names.
    Read-only. A message has one only if it has such; encoding puts them back.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Copy the values by pointer."""
        self._values = dict(values)

    def __getitem__(self, pointer: str) -> Any:
        """Return the value at a pointer."""
        return self._values[pointer]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the pointers."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return how many properties there are."""
        return len(self._values)

    def __hash__(self) -> int:
        """Hash by the pointers: the values may be lists."""
        return hash(frozenset(self._values))

    def __repr__(self) -> str:
        """Return the constructor call."""
        return f"Extra({self._values!r})"


class OpenTag(str):
    """The tag of an object whose kind the schema does not know, kept as it was."""

    __slots__ = ()


class Alone(str):
    """Name of the property whose value is the whole message, without the object around it."""

    __slots__ = ()


NO_TAG = "@none"
"""Tag of a class that only has the fields of others: no message has it."""


def arms(kind: Any) -> tuple[Any, ...]:
    """Return the models that a type may be; for a class, those for other values of its tag too."""
    if get_args(kind) or not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return get_args(kind) or (kind,)
    own: tuple[Any, ...] = (kind,) if kind.__struct_config__.tag != NO_TAG else ()
    return (*own, *(one for one in kind.__subclasses__() if one.__module__ == kind.__module__))


def read_as(kind: Any) -> Any:
    """Return the type by which msgspec reads a type of the models."""
    return kind if get_args(kind) else reduce(or_, arms(kind))


def has_times(kind: Any) -> bool:
    """Return whether models of a type have times, of which msgspec reads more forms than RFC 3339.

    msgspec also rounds fractions of microseconds.
    """
    todo, seen = [kind], set[Any]()
    while todo:
        one = todo.pop()
        if one is datetime:
            return True
        todo += get_args(one)
        if isinstance(one, type) and issubclass(one, msgspec.Struct) and one not in seen:
            seen.add(one)
            todo += [*arms(one), *get_type_hints(one).values()]
    return False


class Named(str):
    """Name under which a property is on the wire, if producers may choose it."""

    __slots__ = ()


def repeated(kind: Any, *, exact: bool = False) -> Callable[[msgspec.Raw], Any]:
    """Return a function from JSON text to a model of a type, which is shared by equal texts.

    The function raises `ValueError` or `msgspec.MsgspecError` if the text is not JSON, also
    within properties that the model does not name.

    Args:
        kind: Kind of the text.
        exact: Whether numbers that binary64 cannot represent are decimals.
    """
    decode = msgspec.json.Decoder(kind).decode
    check = msgspec.json.Decoder(float_hook=_decimal if exact else None).decode

    def make(text: bytes) -> Any:
        check(text)  # the typed decoder skips over names that it does not know, whatever is there
        return decode(text)

    return by_text(make)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("Number out of range") from None


def by_text(make: Callable[[bytes], Made]) -> Callable[[bytes | msgspec.Raw], Made]:
    """Return a function from text to what is made of it, which is shared by equal texts.

    Texts are kept up to 8 MiB, each counted as at least 8 KiB. If there is no room for another one,
    all are dropped; a text that is larger is kept alone. Most texts are equal to the one before,
    and it costs less to see that than to look the text up.
    """
    kept: dict[bytes, Made] = {}
    room = _MOST_BYTES
    before: tuple[msgspec.Raw, Made] | None = None

    def read(raw: bytes | msgspec.Raw) -> Made:
        nonlocal before, room
        last = before
        if last is not None and raw == last[0]:
            return last[1]
        text = bytes(raw)
        made = kept.get(text, msgspec.UNSET)  # what is made may be None
        if made is msgspec.UNSET:
            made = make(text)
            cost = max(len(text), _LEAST_BYTES)
            if room < cost:
                kept.clear()
                room = _MOST_BYTES
            room -= cost
            kept[text] = made
        before = msgspec.Raw(text), made
        return made

    return read


def constructor_call(model: msgspec.Struct) -> str:
    """Return the constructor call of a model, with the text that it keeps."""
    values = [(name, getattr(model, name)) for name in model.__struct_fields__]
    shown = [
        f"{name}=Raw({bytes(value)!r})" if isinstance(value, msgspec.Raw) else f"{name}={value!r}"
        for name, value in values
    ]
    return f"{type(model).__name__}({', '.join(shown)})"


def as_binary64(number: float | Decimal) -> float:
    """Return a parsed number as in a model: a decimal is rounded, or infinite."""
    return float(number) if isinstance(number, Decimal) else number


def as_text(value: object) -> msgspec.Raw:
    """Return a parsed value as the JSON text that a model has of it."""
    return msgspec.Raw(_write(value))


def bytes_length(text: str) -> int:
    """Return the number of bytes that Base64 text represents; -1 if it is not Base64 text.

    The alphabet and the padding are those of RFC 4648, section 4; unused bits are ignored.
    """
    if len(text) % 4 or not _BASE64.match(text):
        return -1
    return len(text) // 4 * 3 - text.count("=", -2)


def take_unknown(
    value: dict[str, Any], known: Iterable[str], at: Path, extra: dict[str, Any]
) -> None:
    """Move the properties that a schema does not name to ``extra``, by JSON Pointer."""
    for name in sorted(value.keys() - set(known)):
        extra[_pointer((at, name))] = value.pop(name)


def take_beyond(value: list[Any], known: int, at: Path, extra: dict[str, Any]) -> None:
    """Move the positions beyond those of a schema to ``extra``, by JSON Pointer."""
    for i in range(known, len(value)):
        extra[_pointer((at, i))] = value[i]
    del value[known:]


def wrap(value: dict[str, Any], name: str, extra: Mapping[str, Any]) -> None:
    """Make a message of the value of one of its properties, in place; `unwrap` undoes it.

    Args:
        value: The value of the property, without the properties that its schema lacks.
        name: Name of the property.
        extra: Properties that the schema lacks, by JSON Pointer.
    """
    inner = dict(value)
    value.clear()
    value.update({name: inner, "@alone": name})
    if extra:
        value["@extra"] = extra


def unwrap(value: dict[str, Any]) -> None:
    """Make a message that comes alone the value of its property again, in place."""
    name = value.pop("@alone", None)
    if name is not None:
        inner = value.pop(name)
        extra = value.pop("@extra", {})
        value.clear()
        value.update({**inner, "@extra": extra})


def _pointer(path: Path) -> str:
    return f"{_pointer(path[0])}/{pointer_token(str(path[1]))}" if path else ""


def pointer_token(name: str) -> str:
    """Return one reference token of a JSON Pointer (RFC 6901, section 3)."""
    return name.replace("~", "~0").replace("/", "~1")


def key_token(key: object) -> str:
    """Return the reference token of a key that need not be text, for a pointer to its value."""
    return pointer_token(key if isinstance(key, str) else repr(key))


def insert(obj: Any, pointer: str, value: object) -> None:
    """Add a property, or a position at the end, at a JSON Pointer into a message, in place.

    Raises:
        KeyError, IndexError, TypeError, ValueError: The pointer leads nowhere.
    """
    *steps, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    for step in steps:
        obj = obj[int(step) if type(obj) is list else step]
    if type(obj) is list:
        if int(last) != len(obj):
            raise ValueError(pointer)
        obj.append(value)
        return
    if last in obj:
        raise ValueError(pointer)
    obj[last] = value
