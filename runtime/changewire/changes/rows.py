"""Rows of changes as models that somebody's own schemas became."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec

from changewire.codec import Codec, Data, DecodeError, Issue
from changewire.codec.family import Family
from changewire.codec.wire import REFUSALS, is_data

Row = TypeVar("Row", bound=msgspec.Struct)

_write: Final = msgspec.json.Encoder(decimal_format="number").encode


def row(values: Mapping[str, Any] | Data, kind: type[Row]) -> Row:
    """Return a row as a model of a family of row schemas (``changewire generate``).

    The model has what its schema says; columns that the schema does not name are in its ``extra``.

    Args:
        values: ``before``, ``after`` or ``key`` of a `Change`, or a row as JSON text, as the tables
            of ``changewire run`` hold it. A number with more digits than binary64 holds is read as
            the nearest where the schema says ``number``, and as text where it says ``string``.
        kind: The model.

    Raises:
        DecodeError: The row breaks a rule of the schema; it has every issue.
        TypeError: `kind` is no model of a JSON schema.
    """
    codec, texts = _reader(kind)
    if is_data(values):
        found: Row = codec.decode(values)
        return found
    held: Any = values
    named = {k: str(v) if type(v) is Decimal and k in texts else v for k, v in held.items()}
    try:
        data = _write(named)
    except REFUSALS as error:
        issue = Issue("", "not-encodable", "json", "a row that JSON can hold")
        raise DecodeError(codec.format, [issue]) from error
    found = codec.decode(data)
    return found


@cache
def _reader(kind: Any) -> tuple[Codec, frozenset[str]]:
    """Return the codec of a model, and the names of its columns that can be text."""
    package, _, module = kind.__module__.rpartition(".")
    if module != "models" or not issubclass(kind, msgspec.Struct):
        raise TypeError(f"{kind.__name__} is no model of a schema")
    family = Family(import_module(package), kind.__name__)
    if family.encoding != "json":
        raise TypeError(f"{kind.__name__} is no model of a JSON schema")
    hints = get_type_hints(kind)
    fields = msgspec.structs.fields(kind)
    return Codec(family), frozenset(
        field.encode_name
        for field in fields
        if str in (hints[field.name], *get_args(hints[field.name]))
    )
