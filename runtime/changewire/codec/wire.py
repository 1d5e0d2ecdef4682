"""What an encoding does for the codec, and what all encodings share."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol, TypeGuard

import msgspec

from changewire.codec.family import GeneratedFamily
from changewire.codec.issues import Issue
from changewire.codec.parser_texts import OUT_OF_RANGE
from changewire.codec.unknown import UnknownProperties

PARSER_ERRORS: Final = (
    msgspec.MsgspecError,
    UnicodeError,
    RecursionError,
    MemoryError,
    BufferError,  # of a memoryview with gaps
)
"""Everything that msgspec raises for bytes it does not accept."""

REFUSALS: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    *PARSER_ERRORS,
)
"""What handling a value of the wrong shape raises."""

Data = bytes | bytearray | memoryview | str | msgspec.Raw
"""What a message may be given as."""

_MODULES: Final = {
    "json": "changewire.codec.json_wire",
    "msgpack": "changewire.codec.msgpack_wire",
}
"""Module of each encoding that a family can have."""


class Wire(Protocol):
    """One family in its encoding: bytes to models and to plain values, and back.

    Attributes:
        rule: Name of the encoding, which is the rule that malformed bytes break.
        alone: The typed decode of a message that is the value of a property alone, which raises
            `PARSER_ERRORS`; None if no message of the format is.
        unknown: Decodes messages with unknown properties at their root; None if the encoding
            has no place for such.
        write: Encodes what the models of most messages hold, as quickly as can be.
        write_all: Encodes all that a model can hold.
        read_back: Parses what `write` gave, quickly: where that equals what was written, what
            `parse` gives does too.
    """

    rule: str
    alone: Callable[[Any], Any] | None
    unknown: UnknownProperties | None
    write: Callable[[Any], bytes]
    write_all: Callable[[Any], bytes]
    read_back: Callable[[bytes], Any]

    def reader(self, role: str) -> Callable[[Any], Any]:
        """Return the typed decode of a role, which raises `PARSER_ERRORS`."""
        ...

    def provers(self, role: str) -> list[Callable[[Any], Any]]:
        """Return readers of a role, the quickest first: what one reads back is what was written."""
        ...

    def parse(self, data: Data) -> Any:
        """Return the plain value of bytes: lists, dictionaries and scalars.

        Raises:
            DecodeError: The bytes have none; never anything else.
        """
        ...

    def split(self, data: Data) -> list[Any] | None:
        """Return the elements of a batch, each as its bytes; None if it is one message.

        Raises:
            One of `PARSER_ERRORS`: The bytes are no array.
        """
        ...

    def texts(self, data: Data) -> Mapping[str, msgspec.Raw]:
        """Return the properties of which a model keeps the text, as they were received."""
        ...

    def holds(self, value: object) -> bool:
        """Return whether a value has a form in the encoding at all."""
        ...


@cache
def wire_of(family: GeneratedFamily) -> Wire:
    """Return the encoding of a family; the same object each time."""
    module: Any = import_module(_MODULES[family.encoding])
    wire: Wire = module.wire(family)
    return wire


def is_data(value: object) -> TypeGuard[Data]:
    """Return whether a value is what messages are given as, and no model or parsed message."""
    return isinstance(value, (bytes, bytearray, memoryview, str, msgspec.Raw))


def bytes_of(data: Any) -> bytes:
    """Return a message as bytes; half of a surrogate pair in text, which UTF-8 lacks, is kept."""
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)


def too_deep(rule: str) -> Issue:
    """Return the issue of a message that is nested deeper than parsers follow."""
    return Issue("", "too-deep", rule, "less nesting")


def unexplained(error: BaseException, rule: str) -> Issue:
    """Return the issue of a message in which the schema finds nothing wrong, but its model does.

    The texts of msgspec hold values of the message, so they are never passed on.
    """
    if isinstance(error, RecursionError):
        return too_deep(rule)
    if isinstance(error, MemoryError):
        return Issue("", "too-large", rule, "a message that fits into memory")
    if OUT_OF_RANGE in str(error):
        expected = "a number that binary64 or an integer can hold"
        return Issue("", "out-of-range", rule, expected)
    return Issue("", "rule-broken", "decode", "a message that its model accepts")
