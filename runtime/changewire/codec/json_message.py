"""Messages of MessagePack as JSON text, position by position, and back."""

from collections.abc import Iterable
from functools import cache
from itertools import chain, repeat
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from changewire.codec.exact_values import FormError, base64_bytes, exact_value
from changewire.codec.family import Family, first_of
from changewire.codec.issues import DecodeError, EncodeError, Issue
from changewire.codec.json_wire import parse_json
from changewire.codec.wire import Data, too_deep
from changewire_messages.forms import exact_form
from changewire_messages.support import Path

_RULE: Final = "json"


def json_text(model: object, format: str) -> bytes:
    """Return a message, a key, or a list of either, as JSON text.

    An array of MessagePack is one of JSON. Where only bytes can stand, they are Base64 text
    (RFC 4648, section 4); where any value can, it has the form that `exact_form` gives it.

    Raises:
        EncodeError: It holds what no message of the format can.
    """
    try:
        return msgspec.json.encode(_form(model))
    except RecursionError:
        issue = too_deep(_RULE)
    except (TypeError, ValueError, OverflowError):
        issue = Issue("", "not-encodable", _RULE, "a model of a message", model)
    raise EncodeError(format, [issue])


def message_of_json(text: Data, family: Family, *, is_key: bool) -> Any:
    """Return the parsed message, key, or list of keys, that `json_text` wrote.

    Args:
        text: The JSON text.
        family: The family of the message.
        is_key: Whether it is a record key, or a list of such.

    Raises:
        DecodeError: It is no JSON text, or stands for nothing that MessagePack has.
    """
    form = parse_json(text, family.format, msgspec.json.decode)
    try:
        obj = exact_value(form)
        key = "key_batch" if is_key and family.is_key_batch(obj) else "key"
        return _with_bytes(obj, family.types[key] if is_key else family.arm_of(obj), ())
    except FormError as error:
        issue = error.issue
    except RecursionError:
        issue = too_deep(_RULE)
    raise DecodeError(family.format, [issue])


def _form(value: Any) -> Any:
    """Return models as arrays; bytes in them that can be nothing else are left to the encoder."""
    if isinstance(value, Struct):
        return [
            item if kind is bytes else _form(item)
            for item, kind in zip(astuple(value), _kinds(type(value)), strict=True)
        ]
    if type(value) is list and isinstance(first_of(value), Struct):
        return list(map(_form, value))
    return exact_form(value)


def _with_bytes(obj: Any, kind: Any, at: Path) -> Any:
    """Return a parsed message with bytes where only bytes can stand, in place of their text."""
    if kind is bytes:
        return base64_bytes(obj, at) if type(obj) is str else obj
    kinds = _item_kinds(kind)
    if kinds is None or type(obj) is not list:
        return obj
    items = zip(obj, kinds, strict=False)
    return [_with_bytes(item, of, (at, i)) for i, (item, of) in enumerate(items)]


def _item_kinds(kind: Any) -> Iterable[Any] | None:
    """Return the types of the items of an array, endlessly; None where there are none to know."""
    if get_origin(kind) is list:
        return repeat(*get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return chain(_kinds(kind), repeat(None))  # an array that is too long is refused later
    return None


@cache
def _kinds(model: type[Struct]) -> list[Any]:
    """Return the type of each position of a model, without its bounds."""
    return list(get_type_hints(model).values())
