"""What can be wrong with a message: issues, their stable codes, and the errors that carry them."""

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

CODES: Final[Mapping[str, str]] = {
    "adapter-failed": "The adapter of another package could not convert the message to a change.",
    "batch": "The message is a batch, but a single message was expected.",
    "compressed": "The bytes are compressed, and not the message itself.",
    "contradicts-schema": "A value is not of the type that the message declares for it.",
    "digest-mismatch": "The digest of a record is not that of its set and user key.",
    "duplicate-column": "Two columns of one row have one name; in typed rows, whatever its case.",
    "duplicate-key": "Two keys of one map are the same, or cannot be distinguished.",
    "empty": "There are no bytes, or only white space.",
    "header-mismatch": "The header of a Kafka record contradicts its reader or the message.",
    "internal-error": "An exception that changewire does not expect ended the work on the message.",
    "invalid-base64": "Text for bytes is not Base64.",
    "invalid-json": "The bytes are not JSON.",
    "invalid-msgpack": "The bytes are not MessagePack.",
    "invalid-record-key": "The key of a Kafka record without value does not name a row.",
    "invalid-schema": "The embedded schema of a message is invalid.",
    "invalid-time": "Text for a time is not a date and time with an offset.",
    "invalid-unicode": "The bytes are not UTF-8, or contain half of a surrogate pair.",
    "lossy": "A conversion would lose a part of the message.",
    "missing-property": "A required property is missing.",
    "not-encodable": "A value of a model has no exact form in the encoding.",
    "other-variant": "The message is of a variant that was not asked for.",
    "out-of-range": "A number is below or above what the format allows.",
    "pattern-mismatch": "Text does not have the form that the format asks for.",
    "registry-framing": "The prefix of a schema registry, 5 bytes, precedes the message.",
    "rule-broken": "The model does not take what its schema takes.",
    "too-deep": "Arrays and objects are nested deeper than the parser follows.",
    "too-large": "The message asks for more memory than there is.",
    "trailing-data": "There are more bytes after the end of the message.",
    "truncated": "The bytes end before the message is complete.",
    "undeclared-column": "A strict check found a column that the message does not declare.",
    "unknown-property": "A strict check found a property or position without a name in the schema.",
    "unknown-variant": "The message is of no variant of the format.",
    "wrong-length": "An array, a text or bytes are too short or too long.",
    "wrong-type": "A value has another type than the format says.",
    "wrong-value": "A value is not one of those that the format allows.",
}
"""Every code that an issue can have, with its meaning."""

_RULE_CODES: Final[Mapping[str, str]] = {
    "additionalProperties": "unknown-property",
    "const": "wrong-value",
    "contentEncoding": "invalid-base64",
    "enum": "wrong-value",
    "format": "invalid-time",
    "items": "unknown-property",
    "maxItems": "wrong-length",
    "maxLength": "wrong-length",
    "maximum": "out-of-range",
    "minItems": "wrong-length",
    "minLength": "wrong-length",
    "minimum": "out-of-range",
    "oneOf": "unknown-variant",
    "pattern": "pattern-mismatch",
    "prefixItems": "wrong-length",
    "required": "missing-property",
    "type": "wrong-type",
    "x-maxBytes": "wrong-length",
    "x-minBytes": "wrong-length",
}

_TYPE_WORDS: Final[Mapping[str, str]] = {
    "Decimal": "number",
    "Ext": "ext",
    "ExtKey": "ext",
    "NoneType": "null",
    "UnsetType": "nothing",
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "str": "string",
}
"""Names of Python types that JSON or MessagePack calls otherwise."""


class Issue(msgspec.Struct, frozen=True):
    """One rule that a message breaks, and where.

    Attributes:
        pointer: JSON Pointer (RFC 6901) to the place; for something missing, to where it belongs.
        code: Stable code, a key of `CODES`.
        rule: Keyword of the schema, or name of the check, that is broken.
        expected: What the rule asks for.
        actual: The found value; UNSET if it is missing. It may contain users' data, so no
            text shows it unasked.
        actual_type: The JSON type of the value, as a word; ``nothing`` if it is missing.
    """

    pointer: str
    code: str
    rule: str
    expected: str
    actual: Any = msgspec.UNSET
    actual_type: str = ""

    def __post_init__(self) -> None:
        if not self.actual_type:
            msgspec.structs.force_setattr(self, "actual_type", type_word(self.actual))

    @property
    def place(self) -> str:
        """The pointer as texts show it: names come from the message, and may be hostile."""
        return shown_pointer(self.pointer)

    def sentence(self, *, show_values: bool = False) -> str:
        """Return the issue as one sentence; the value is in it only if asked for."""
        place = f"at {self.place}: " if self.pointer else ""
        found = f", found {self.actual_type}"
        if self.actual_type == "nothing" and self.code != "missing-property":
            found = ""
        elif show_values and self.actual is not msgspec.UNSET:
            found += f" {shown_value(self.actual)}"
        return f"{place}expected {self.expected}{found} ({self.code})"

    def __str__(self) -> str:
        """Return the sentence without the value."""
        return self.sentence()

    def __repr__(self) -> str:
        """Return the fields; of the value only its type, for what is logged must not contain it."""
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"Issue({fields})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return the fields that ``repr`` shows, for the printer of the library Rich."""
        return [
            ("pointer", self.place),
            ("code", self.code),
            ("rule", self.rule),
            ("expected", self.expected),
            ("actual_type", self.actual_type),
        ]


def type_word(value: object) -> str:
    """Return the type of a value in the words of JSON or MessagePack."""
    name = type(value).__name__
    return _TYPE_WORDS.get(name, name)


def issue_of(raw: tuple[str, str, str, Any]) -> Issue:
    """Return the issue for what a generated validator reports."""
    pointer, rule, expected, actual = raw
    return Issue(pointer, _RULE_CODES[rule], rule, expected, actual)


class CodecError(ValueError):
    """A message cannot be read or written.

    Its text, its ``repr`` and its pickled form have no value of the message.

    Attributes:
        format: Public name of the format.
        issues: Every issue that was found, at least one.
        byte_offset: Where the parser stopped, in bytes; None if the bytes could be parsed or the
            parser does not tell.
    """

    def __init__(
        self,
        format: str,
        issues: Sequence[Issue],
        byte_offset: int | None = None,
    ) -> None:
        """Keep the issues; the first one is the reason that the text names."""
        self.format = format
        self.issues: list[Issue] = list(issues)
        self.byte_offset = byte_offset
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the values, which may be private, nested too deep, or no data at all."""
        issues = [msgspec.structs.replace(issue, actual=msgspec.UNSET) for issue in self.issues]
        return type(self), (self.format, issues, self.byte_offset)

    @property
    def code(self) -> str:
        """Code of the first issue."""
        return self.issues[0].code

    @property
    def pointer(self) -> str:
        """JSON Pointer of the first issue."""
        return self.issues[0].pointer

    @property
    def expected(self) -> str:
        """What the first issue's rule asks for."""
        return self.issues[0].expected

    @property
    def actual(self) -> Any:
        """The value at the first issue's place; UNSET without one."""
        return self.issues[0].actual

    def __str__(self) -> str:
        """Return the first issue as a sentence without values, and how many more there are."""
        more = len(self.issues) - 1
        suffix = f" and {more} more issue{'s' if more > 1 else ''}" if more else ""
        place = "" if self.byte_offset is None else f" at byte {self.byte_offset}"
        return f"{self.format}: {self.issues[0]}{place}{suffix}"


class DecodeError(CodecError):
    """Bytes are not a message of the format, or break its rules."""


class EncodeError(CodecError):
    """A model cannot be written so that `decode` gives it back."""


_POINTER_HEAD: Final = 120
_POINTER_TAIL: Final = 60
_VALUE: Final = 60
_BITS: Final = 2000
"""Of integers that are shown as decimals; Python may refuse to write more than 640 digits."""


class _Repr(reprlib.Repr):
    """Shows what msgspec shows by its address, and integers of any size."""

    def repr_Ext(self, value: Any, level: int) -> str:  # noqa: N802 - the name of the type
        return f"Ext({value.code}, {self.repr1(bytes(value.data), level - 1)})"

    def repr_int(self, x: int, level: int) -> str:
        return hex(x)[:_VALUE] if x.bit_length() > _BITS else super().repr_int(x, level)


_repr = _Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = _VALUE


def shown_pointer(pointer: str) -> str:
    """Return a JSON Pointer with what cannot be printed escaped, and a long one cut in its midst.

    The names in it may come from an untrusted message.
    """
    if len(pointer) > _POINTER_HEAD + _POINTER_TAIL:
        pointer = f"{pointer[:_POINTER_HEAD]}…{pointer[-_POINTER_TAIL:]}"
    return printable(pointer)


def printable(text: str) -> str:
    """Return text in which what does not print is escaped, as in Python."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def is_utf8(text: str) -> bool:
    """Return whether text can be UTF-8 for a library in C: no zero byte, no half of a pair."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def shown_value(value: object) -> str:
    """Return a value as Python would write it, cut if it is long or nested deep."""
    text = _repr.repr(value)
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 1]}…"
