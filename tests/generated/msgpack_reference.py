"""The verdict of ``jsonschema`` on MessagePack values: JSON Schema, taught what JSON has not.

JSON Schema speaks of parsed values, so little has to be said anew. What is:

- Types are exact: ``integer`` is no float of an integral value, neither is a ``const`` or one of an
  ``enum``; ``array`` is a list, not the tuple as which the msgpack package gives an extension.
- ``"type": "string"`` is text, and with ``"format": "binary"`` it is ``bytes``.
- ``"type": "number"`` with ``"format": "double"`` is a ``float``, and no integer.
- ``x-minBytes`` and ``x-maxBytes`` count bytes.

Nothing else is different: what no keyword speaks of (bytes, extensions, keys that are no text, NaN)
is valid where any value is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators

_TYPES: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "binary": (bytes,),
    "double": (float,),
    "array": (list,),
    "object": (dict,),
}
_REFINED = {("string", "binary"): "binary", ("number", "double"): "double"}


def _type(_: object, types: Any, value: object, schema: Any) -> Iterator[ValidationError]:
    names = [types] if isinstance(types, str) else types
    refined = [_REFINED.get((name, schema.get("format")), name) for name in names]
    if not any(type(value) in _TYPES[name] for name in refined):
        yield ValidationError("another type")


def _const(_: object, constant: object, value: object, __: object) -> Iterator[ValidationError]:
    if type(value) is not type(constant) or value != constant:
        yield ValidationError("another value")


def _enum(_: object, values: Any, value: object, __: object) -> Iterator[ValidationError]:
    if not any(type(value) is type(constant) and value == constant for constant in values):
        yield ValidationError("another value")


def _size(holds: Callable[[int, int], bool]) -> Any:
    def keyword(_: object, limit: int, value: object, __: object) -> Iterator[ValidationError]:
        if isinstance(value, bytes) and not holds(len(value), limit):
            yield ValidationError("another size")

    return keyword


_extend: Any = validators.extend  # it has no types
_MsgpackValidator = _extend(
    Draft202012Validator,
    {
        "type": _type,
        "const": _const,
        "enum": _enum,
        "x-minBytes": _size(lambda size, limit: size >= limit),
        "x-maxBytes": _size(lambda size, limit: size <= limit),
    },
)


def is_valid_by(schema: Any) -> Callable[[object], bool]:
    """Return the verdict of a schema on parsed MessagePack."""
    verdict: Callable[[object], bool] = _MsgpackValidator(schema).is_valid
    return verdict
