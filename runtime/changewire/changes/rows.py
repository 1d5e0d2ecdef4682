"""Rows of changes as models of a user's own schemas."""

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cache
from importlib import import_module
from math import isinf
from typing import Any, Final, TypeVar

import msgspec
from msgspec import inspect

from changewire.codec import Codec, Data, DecodeError, Issue
from changewire.codec.encoding import first_unencodable
from changewire.codec.family import GeneratedFamily
from changewire.codec.wire import REFUSALS, is_data

Row = TypeVar("Row", bound=msgspec.Struct)

_write: Final = msgspec.json.Encoder(decimal_format="number").encode
_ANY: Final = inspect.AnyType()
_BEYOND: Final = object()  # no JSON: readers of a number beyond binary64 would not say where it is


def row(values: Mapping[str, Any] | Data, kind: type[Row]) -> Row:
    """Return a row as a model of a family of row schemas (``changewire schema generate``).

    The model has what its schema says; columns that the schema does not name are in its ``extra``.

    Args:
        values: ``before``, ``after`` or ``key`` of a `Change`, or a row as JSON text, as the tables
            of ``changewire run`` have it. A number with more digits than binary64 has is read as
            the nearest where the schema says ``number``, and else as text, if that is allowed.
        kind: The model.

    Raises:
        DecodeError: The row breaks a rule of the schema; it has every issue.
        TypeError: `kind` is not a model of a JSON schema.
    """
    codec, columns = _reader(kind)
    data: Any = values if is_data(values) else _text(values, columns, codec.format)
    found: Row = codec.decode(data)
    return found


def _text(values: Any, columns: inspect.Type, name: str) -> bytes:
    """Return the JSON text of a row, in which decimals are text where the schema allows text."""
    found: Any = values
    try:
        found = _with_texts({**values}, columns)
        return _write(found)
    except REFUSALS as error:
        pointer = first_unencodable(found, _is_json).pointer
        issue = Issue(pointer, "not-encodable", "json", "a value that JSON and binary64 have")
        raise DecodeError(name, [issue]) from error


def _is_json(value: object) -> bool:
    with suppress(*REFUSALS):
        return bool(_write(value))
    return False


def _with_texts(value: Any, kind: inspect.Type) -> Any:
    """Return a value with its decimals as text where its type takes text or anything."""
    if type(value) not in {Decimal, list, dict}:
        return value
    for one in kind.types if isinstance(kind, inspect.UnionType) else (kind,):
        if type(value) is Decimal and isinstance(one, (inspect.StrType, inspect.AnyType)):
            return str(value)
        if type(value) is list and isinstance(one, (inspect.ListType, inspect.AnyType)):
            below = getattr(one, "item_type", _ANY)
            return [_with_texts(item, below) for item in value]
        if type(value) is dict and isinstance(one, (inspect.DictType, inspect.AnyType)):
            below = getattr(one, "value_type", _ANY)
            return {name: _with_texts(item, below) for name, item in value.items()}
        if type(value) is dict and isinstance(one, inspect.StructType):
            types = {field.encode_name: field.type for field in one.fields}
            return {k: _with_texts(v, types.get(k, _ANY)) for k, v in value.items()}
    return _BEYOND if type(value) is Decimal and isinf(float(value)) else value


@cache
def _reader(kind: Any) -> tuple[Codec, inspect.Type]:
    """Return the codec of a model, and its type."""
    path = getattr(kind, "__module__", "")
    package = path.removesuffix(".models")
    module: Any = import_module(package) if package != path else None
    name = getattr(kind, "__name__", str(kind))
    is_model = name in getattr(module, "DIGESTS", ()) and module.ENCODING == "json"
    if not is_model or kind.__struct_config__.array_like:
        raise TypeError(f"{name} is not a model of a JSON schema of rows")
    return Codec(GeneratedFamily(module, name)), inspect.type_info(kind)
