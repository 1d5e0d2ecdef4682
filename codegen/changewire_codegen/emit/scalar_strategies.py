"""Strategies for scalars, and for values that are not valid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from changewire_codegen.emit.conditions import exact
from changewire_codegen.nodes import INT64, Choice, Kind, Scalar
from changewire_codegen.types import ON_THE_WIRE

_SIZED: Mapping[Kind, str] = {
    "string": "st.text",
    "bytes": "drawing.base64_texts",
    "binary": "st.binary",
}
"""What is drawn between two lengths."""

LONG = 256
"""As in `drawing`: beyond it what is drawn repeats a part of itself."""


def draw_scalar(scalar: Scalar) -> str:
    """Return the strategy for valid values of a scalar."""
    if scalar.enum is not None:
        only = len(scalar.enum) == 1
        return f"st.just({scalar.enum[0]!r})" if only else f"st.sampled_from({scalar.enum!r})"
    if scalar.kind == "string" and scalar.pattern is not None:
        ascii_only = "alphabet=st.characters(codec='ascii')"
        return f"st.from_regex({exact(scalar.pattern)}, {ascii_only})"
    if scalar.kind in _SIZED:
        most = "" if scalar.max_length is None else f"max_size={scalar.max_length}"
        return _sized(_SIZED[scalar.kind], scalar.min_length or 0, most)
    if scalar.kind in {"integer", "number"}:
        bounds = (scalar.minimum, scalar.maximum)
        function = "st.integers" if scalar.kind == "integer" else "drawing.numbers"
        given = "" if bounds == (None, None) else ", ".join(map(str, bounds))
        is_any = scalar.kind == "integer" and bounds == INT64
        drawn = "drawing.INT64" if is_any else f"{function}({given})"
        known = scalar.excluded
        return f"{drawn}.filter(lambda value: value not in {known!r})" if known else drawn
    words = {
        "null": "st.none()",
        "double": "drawing.doubles()",
        "boolean": "st.booleans()",
        "datetime": "drawing.datetime_texts()",
    }
    return words[scalar.kind]


def spoil_scalars(kind: Scalar | Choice, encoding: str) -> str:
    """Return the strategy for other values than such a scalar, as far as the encoding has them."""
    options = kind.options if isinstance(kind, Choice) else (kind,)
    words = [ON_THE_WIRE.get(option.kind, option.kind) for option in options]
    parts = [f"drawing.not_of({', '.join(map(repr, words))})"]
    for option in options:
        parts += _out_of_bounds(option, encoding)
    if encoding == "msgpack" and "binary" not in words:
        parts.append("drawing.binaries()")
    return " | ".join(parts)


def none_of(value: str, known: Sequence[str | int]) -> str:
    """Return the test that a value is not among the known ones."""
    return f"{value} != {known[0]!r}" if len(known) == 1 else f"{value} not in {tuple(known)!r}"


def _out_of_bounds(scalar: Scalar, encoding: str) -> list[str]:
    """Return strategies for values of the right JSON type that break a bound."""
    if scalar.enum is not None:
        integers = "st.integers()" if encoding == "json" else "drawing.INT64"
        drawn = "st.text()" if scalar.kind == "string" else integers
        return [f"{drawn}.filter(lambda value: {none_of('value', scalar.enum)})"]
    if scalar.kind == "datetime":
        return ["st.just('yesterday')"]
    if scalar.kind == "binary":
        return _broken_sizes("st.binary", scalar)
    if scalar.kind == "bytes":
        sizes = (scalar.min_length or 0, scalar.max_length)
        given = "" if sizes == (0, None) else ", ".join(map(str, sizes))
        return [f"drawing.not_base64_texts({given})"]
    if scalar.kind == "string":
        return _broken_texts(scalar)
    return _out_of_range(scalar, encoding) if scalar.kind in {"integer", "number"} else []


def _out_of_range(scalar: Scalar, encoding: str) -> list[str]:
    low, high = scalar.minimum, scalar.maximum
    if scalar.kind == "integer":
        ends = (None if low is None else math.ceil(low), None if high is None else math.floor(high))
        given = "" if ends == INT64 else f", {ends[0]}, {ends[1]}"
        return [f"drawing.outside({encoding!r}{given})"]
    open_end = "allow_infinity=False, exclude"
    below = None if low is None else f"st.floats(max_value={low}, {open_end}_max=True)"
    above = None if high is None else f"st.floats(min_value={high}, {open_end}_min=True)"
    return [part for part in (below, above) if part is not None]


def _broken_sizes(function: str, scalar: Scalar) -> list[str]:
    parts: list[str] = []
    if scalar.min_length:
        parts.append(f"{function}(max_size={scalar.min_length - 1})")
    if scalar.max_length is not None:
        parts.append(_sized(function, scalar.max_length + 1))
    return parts


def _sized(function: str, min_size: int, most: str = "") -> str:
    """Return the strategy for text or bytes that are at least so long."""
    if min_size > LONG and function != _SIZED["bytes"]:
        return f"drawing.repeated({function}(min_size=1, max_size=8), {min_size})"
    least = f"min_size={min_size}" if min_size else ""
    return f"{function}({', '.join(part for part in (least, most) if part)})"


def _broken_texts(scalar: Scalar) -> list[str]:
    parts = _broken_sizes("st.text", scalar)
    if scalar.pattern is not None:
        parts.append(f"st.text().filter(lambda text: not re.search({exact(scalar.pattern)}, text))")
    return parts
