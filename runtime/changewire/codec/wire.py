"""Functions of an encoding for the codec, and common ones."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

import msgspec

from changewire.codec.family import GeneratedFamily
from changewire.codec.issues import Issue
from changewire.codec.parser_texts import OUT_OF_RANGE

if TYPE_CHECKING:
    from changewire.codec.json_wire import JsonWire
    from changewire.codec.msgpack_wire import MsgpackWire

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
"""Types of a message as an argument."""

Wire: TypeAlias = "JsonWire | MsgpackWire"
"""One family in its encoding: bytes to models and to plain values, and back."""

_MODULES: Final = {
    "json": "changewire.codec.json_wire",
    "msgpack": "changewire.codec.msgpack_wire",
}
"""Module of each encoding that a family can have."""


@cache
def wire_of(family: GeneratedFamily) -> Wire:
    """Return the encoding of a family; the same object each time."""
    module: Any = import_module(_MODULES[family.encoding])
    wire: Wire = module.wire(family)
    return wire


def is_data(value: object) -> TypeGuard[Data]:
    """Return whether a value has a type of raw messages, not of models or parsed messages."""
    return isinstance(value, (bytes, bytearray, memoryview, str, msgspec.Raw))


def bytes_of(data: Any) -> bytes:
    """Return a message as bytes; half of a surrogate pair in text, which UTF-8 lacks, is kept."""
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    # Python makes bytes of numbers and lists too.
    return bytes(data if isinstance(data, bytes) else memoryview(data))


def too_deep(rule: str) -> Issue:
    """Return the issue of a message that is nested deeper than parsers follow."""
    return Issue("", "too-deep", rule, "less nesting")


def unexplained(error: BaseException, rule: str) -> Issue:
    """Return the issue of a message in which the schema finds nothing wrong, but its model does."""
    if isinstance(error, RecursionError):
        return too_deep(rule)
    if isinstance(error, MemoryError):
        return Issue("", "too-large", rule, "a message that fits into memory")
    if OUT_OF_RANGE in str(error):
        expected = "a number that binary64 or an integer can represent"
        return Issue("", "out-of-range", rule, expected, actual_type="number")
    return Issue("", "rule-broken", "decode", "a message that its model accepts")
