"""Rows of changes as models of a user's own schemas."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec

from changewire.codec import Codec, Data, DecodeError, Issue
from changewire.codec.family import GeneratedFamily
from changewire.codec.wire import REFUSALS, is_data

Row = TypeVar("Row", bound=msgspec.Struct)

_write: Final = msgspec.json.Encoder(decimal_format="number").encode


def row(values: Mapping[str, Any] | Data, kind: type[Row]) -> Row:
    """Return a row as a model of a family of row schemas (``changewire schema generate``).

    The model has what its schema says; columns that the schema does not name are in its ``extra``.

    Args:
        values: ``before``, ``after`` or ``key`` of a `Change`, or a row as JSON text, as the tables
            of ``changewire run`` have it. A number with more digits than binary64 has is read as
            the nearest where the schema says ``number``, and as text where it says ``string``.
        kind: The model.

    Raises:
        DecodeError: The row breaks a rule of the schema; it has every issue.
        TypeError: `kind` is not a model of a JSON schema.
    """
    codec, texts = _reader(kind)
    data: Any = values if is_data(values) else _text(values, texts, codec.format)
    found: Row = codec.decode(data)
    return found


def _text(values: Any, texts: frozenset[str], name: str) -> bytes:
    """Return the JSON text of a row, in which decimals are text where the schema asks for text."""
    named = {k: str(v) if type(v) is Decimal and k in texts else v for k, v in values.items()}
    try:
        return _write(named)
    except REFUSALS as error:
        issue = Issue("", "not-encodable", "json", "a row that JSON can represent")
        raise DecodeError(name, [issue]) from error


@cache
def _reader(kind: Any) -> tuple[Codec, frozenset[str]]:
    """Return the codec of a model, and the names of its columns that can be text."""
    package = kind.__module__.removesuffix(".models")
    module: Any = import_module(package) if package != kind.__module__ else None
    name = getattr(kind, "__name__", str(kind))
    if name not in getattr(module, "DIGESTS", ()) or module.ENCODING != "json":
        raise TypeError(f"{name} is not a model of a JSON schema of rows")
    hints = get_type_hints(kind)
    fields = {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}
    texts = {name for name, hint in fields.items() if str in {hint, *get_args(hint)}}
    return Codec(GeneratedFamily(module, name)), frozenset(texts)
