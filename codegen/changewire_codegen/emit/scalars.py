"""Scalars in generated checks: the tests of type and bounds, and the words for both."""

from __future__ import annotations

from dataclasses import replace

from changewire_codegen.emit.boolean import Test, negated, printed
from changewire_codegen.emit.conditions import exact
from changewire_codegen.emit.views import is_wire_type
from changewire_codegen.nodes import (
    INT64,
    Alias,
    Anything,
    ArrayOf,
    Choice,
    Family,
    MapOf,
    Nullable,
    RefTo,
    Row,
    RowUnion,
    Scalar,
    Type,
)
from changewire_codegen.types import ON_THE_WIRE

Check = tuple[str, str, str]
"""The test for a violation, the keyword that is broken, and what the keyword asks for."""

BEYOND = "int64"
"""Represents the keyword if an integer may have 64 bits, and no more."""

SIZE = "size"
"""Variable for the number of bytes that Base64 text represents; -1 if it is not such text."""

ALTERNATIVES = frozenset({BEYOND, "maximum", "maxLength", "x-minBytes", "x-maxBytes"})
"""Checks that cannot fail together with the one before them, or that make no sense then."""

_WORDS = {
    "binary": "bytes",
    "bytes": "Base64 text",
    "datetime": "date-time text",
    "double": "float",
}


def type_test(scalar: Scalar, value: str) -> str:
    """Return the test that a parsed value has the JSON type of a scalar."""
    return printed(_has_type(scalar, value))


def scalar_words(kind: Scalar | Choice) -> str:
    """Return the words for the JSON types that a scalar takes."""
    options = kind.options if isinstance(kind, Choice) else (kind,)
    return " or ".join(_WORDS.get(option.kind, option.kind) for option in options)


def type_words(kind: Type, family: Family) -> str:
    """Return the words for the JSON types that a type takes."""
    if isinstance(kind, (Scalar, Choice)):
        return scalar_words(kind)
    if isinstance(kind, Nullable):
        return f"{type_words(kind.of, family)} or null"
    if isinstance(kind, RefTo):
        definition = family.definitions[kind.name]
        if isinstance(definition, Alias):
            return type_words(definition.type, family)
        word = "array" if isinstance(definition, (Row, RowUnion)) else "object"
        return f"{word} ({kind.name})"
    names: dict[type, str] = {ArrayOf: "array", MapOf: "object", Anything: "any value"}
    return names[type(kind)]


def not_type_test(scalar: Scalar, value: str) -> str:
    """Return the test that a parsed value has another JSON type than a scalar."""
    return printed(negated(_has_type(scalar, value)))


def _has_type(scalar: Scalar, value: str) -> Test:
    name = ON_THE_WIRE.get(scalar.kind, scalar.kind)
    return is_wire_type(name, value, exact=scalar.exact)


def scalar_checks(scalar: Scalar, value: str) -> list[Check]:
    """Return the checks of a value that already has the right JSON type."""
    if scalar.enum is not None:
        return [_enumeration(scalar.enum, value)]
    if scalar.excluded:
        words = "none of " + ", ".join(map(str, scalar.excluded))
        return [*_bounds(scalar, value), (f"{value} in {scalar.excluded!r}", "not", words)]
    if scalar.kind in {"binary", "bytes"}:
        return _bytes_checks(scalar, value)
    if scalar.kind == "datetime":
        return [(f"not is_datetime({value})", "format", "a date and time with offset (RFC 3339)")]
    return [*_bounds(scalar, value), *_text_checks(scalar, value)]


def wire_checks(scalar: Scalar, value: str) -> list[Check]:
    """Return the checks of `scalar_checks`, with the bounds of 64 bits as one check, `BEYOND`."""
    if scalar.kind != "integer" or scalar.enum is not None:
        return scalar_checks(scalar, value)
    own = replace(
        scalar,
        minimum=None if scalar.minimum == INT64[0] else scalar.minimum,
        maximum=None if scalar.maximum == INT64[1] else scalar.maximum,
    )
    checks = scalar_checks(own, value)
    if own != scalar:
        test = f"not INT64_MIN <= {value} <= INT64_MAX"
        checks.insert(len(_bounds(own, value)), (test, BEYOND, ""))
    return checks


def plain_scalar(kind: Type) -> tuple[str, str] | None:
    """Return the words and the arguments by which `scalar` of the shared module checks a type.

    None if it cannot: it knows no patterns, no lengths and no decimals.
    """
    if not isinstance(kind, (Scalar, Choice)):
        return None
    options = kind.options if isinstance(kind, Choice) else (kind,)
    if any(option.exact or option.excluded or _is_long(option) for option in options):
        return None
    arguments = [text for option in options if (text := _arguments(option))]
    numbers = [option for option in options if option.kind in {"integer", "number", "double"}]
    if len(arguments) > 1 or (len(numbers) > 1 and any("st=" in text for text in arguments)):
        return None  # the bounds would hold for other options, too
    return repr(scalar_words(kind)), "".join(arguments)


def _is_long(scalar: Scalar) -> bool:
    return (scalar.min_length, scalar.max_length, scalar.pattern) != (None, None, None)


def _arguments(scalar: Scalar) -> str:
    if scalar.enum is not None:
        return f", among={scalar.enum!r}"
    low, high = INT64 if scalar.kind == "integer" else (None, None)
    least = "" if scalar.minimum in {None, low} else f", least={scalar.minimum}"
    return least + ("" if scalar.maximum in {None, high} else f", most={scalar.maximum}")


def _enumeration(values: tuple[str | int, ...], value: str) -> Check:
    if len(values) == 1:
        return (f"{value} != {values[0]!r}", "const", str(values[0]))
    return (f"{value} not in {values!r}", "enum", "one of " + ", ".join(map(str, values)))


def _bounds(scalar: Scalar, value: str) -> list[Check]:
    checks: list[Check] = []
    low, high = scalar.limits
    held = f"as_binary64({value})" if scalar.exact else value
    if low is not None:
        checks.append((f"{held} < {low}", "minimum", f"at least {low}"))
    if high is not None:
        checks.append((f"{held} > {high}", "maximum", f"at most {high}"))
    return checks


def _text_checks(scalar: Scalar, value: str) -> list[Check]:
    checks: list[Check] = []
    if scalar.min_length is not None:
        words = f"at least {scalar.min_length} characters"
        checks.append((f"len({value}) < {scalar.min_length}", "minLength", words))
    if scalar.max_length is not None:
        words = f"at most {scalar.max_length} characters"
        checks.append((f"len({value}) > {scalar.max_length}", "maxLength", words))
    if scalar.pattern is not None:
        test = f"not re.search({exact(scalar.pattern)}, {value})"
        checks.append((test, "pattern", f"text that matches {scalar.pattern}"))
    return checks


def _bytes_checks(scalar: Scalar, value: str) -> list[Check]:
    """Return the checks of bytes; those that are in text have their number in `SIZE`."""
    size = SIZE if scalar.kind == "bytes" else f"len({value})"
    checks: list[Check] = []
    if scalar.kind == "bytes":
        checks.append((f"{size} < 0", "contentEncoding", "Base64 text (RFC 4648, section 4)"))
    if scalar.min_length is not None and scalar.min_length == scalar.max_length:
        return [
            *checks,
            (f"{size} != {scalar.min_length}", "x-minBytes", f"{scalar.min_length} bytes"),
        ]
    if scalar.min_length is not None:
        words = f"at least {scalar.min_length} bytes"
        checks.append((f"{size} < {scalar.min_length}", "x-minBytes", words))
    if scalar.max_length is not None:
        words = f"at most {scalar.max_length} bytes"
        checks.append((f"{size} > {scalar.max_length}", "x-maxBytes", words))
    return checks
