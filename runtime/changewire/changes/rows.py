"""Rows of changes as models of a user's own schemas."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cache
from importlib import import_module
from math import isinf
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from changewire.codec import Codec, Data, DecodeError, Issue
from changewire.codec.encoding import first_unencodable
from changewire.codec.family import GeneratedFamily
from changewire.codec.wire import REFUSALS, is_data

Row = TypeVar("Row", bound=msgspec.Struct)

_write: Final = msgspec.json.Encoder(decimal_format="number").encode
_ANY: Final = inspect.AnyType()
_Kinds: TypeAlias = tuple[inspect.Type, ...]
_TEXTS: Final = (inspect.StrType, inspect.AnyType)
_NUMBERS: Final = (inspect.FloatType, inspect.IntType)
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")  # of JSON
_BEYOND: Final = object()  # no JSON: readers of a number beyond binary64 would not say where it is


def row(values: Mapping[str, Any] | Data, kind: type[Row]) -> Row:
    """Return a row as a model of a family of row schemas (``changewire schema generate``).

    The model has what its schema says; columns that the schema does not name are in its ``extra``.

    Args:
        values: ``before``, ``after`` or ``key`` of a `Change`, or a row as JSON text, as the tables
            of ``changewire run`` have it. A number with more digits than binary64 has is read as
            the nearest where the schema says ``number``, and else as text, if that is allowed. JSON
            text may have numbers as text, as the log has decimals.
        kind: The model.

    Raises:
        DecodeError: The row breaks a rule of the schema; it has every issue.
        TypeError: `kind` is not a model of a JSON schema.
    """
    codec, columns = _reader(kind)
    data: Any = values if is_data(values) else _text(values, columns, codec.format)
    try:
        found: Row = codec.decode(data)
    except DecodeError as error:
        if not is_data(values):
            raise
        found = codec.decode(_of_log(values, columns, codec, error))
    return found


def _text(values: Any, columns: inspect.Type, name: str) -> bytes:
    """Return the JSON text of a row, in which decimals are text where the schema allows text."""
    found: Any = values
    try:
        found = _fitted({**values}, columns, _as_text)
        return _write(found)
    except REFUSALS as error:
        pointer = first_unencodable(found, _is_json).pointer
        issue = Issue(pointer, "not-encodable", "json", "a value that JSON and binary64 have")
        raise DecodeError(name, [issue]) from error


def _is_json(value: object) -> bool:
    with suppress(*REFUSALS):
        return bool(_write(value))
    return False


def _of_log(data: Data, columns: inspect.Type, codec: Codec, refusal: DecodeError) -> bytes:
    """Return the text of a refused row with the numbers that a log has as text."""
    try:
        return _write(_fitted(codec.parsed(data), columns, _as_number))
    except REFUSALS:
        raise refusal from None


def _fitted(value: Any, kind: inspect.Type, leaf: Callable[[Any, _Kinds], Any]) -> Any:
    """Return a value with each leaf replaced by the result of a function, by its types."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    for one in kinds if type(value) in {list, dict} else ():
        if type(value) is list and isinstance(one, (inspect.ListType, inspect.AnyType)):
            below = getattr(one, "item_type", _ANY)
            return [_fitted(item, below, leaf) for item in value]
        if type(value) is dict and isinstance(one, (inspect.DictType, inspect.AnyType)):
            below = getattr(one, "value_type", _ANY)
            return {name: _fitted(item, below, leaf) for name, item in value.items()}
        if type(value) is dict and isinstance(one, inspect.StructType):
            types = {field.encode_name: field.type for field in one.fields}
            return {k: _fitted(v, types.get(k, _ANY), leaf) for k, v in value.items()}
    return leaf(value, kinds)


def _as_text(value: Any, kinds: _Kinds) -> Any:
    """Return a decimal as text where its type takes text or anything."""
    if type(value) is not Decimal:
        return value
    if any(isinstance(one, _TEXTS) for one in kinds):
        return str(value)
    return _BEYOND if isinf(float(value)) else value


def _as_number(value: Any, kinds: _Kinds) -> Any:
    """Return text that is a number as the number where its type takes numbers, and no text."""
    if type(value) is not str or any(isinstance(one, _TEXTS) for one in kinds):
        return value
    is_number = any(isinstance(one, _NUMBERS) for one in kinds) and _NUMBER.fullmatch(value)
    return msgspec.Raw(value) if is_number and not isinf(float(value)) else value


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
