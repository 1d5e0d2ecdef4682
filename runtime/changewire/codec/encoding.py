"""Messages that one step cannot encode: written exactly, or refused with all that is wrong."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from changewire.codec.differences import as_sent, first_difference, first_unencodable, misplaced
from changewire.codec.family import GeneratedFamily
from changewire.codec.issues import DecodeError, EncodeError
from changewire.codec.wire import REFUSALS, Wire, too_deep


def encode_exactly(
    model: object,
    role: str,
    family: GeneratedFamily,
    wire: Wire,
    model_of: Callable[[Any, str, bytes], Any],
) -> bytes:
    """Return the bytes of a model, or of a list, if what they are decoded to is the model."""
    try:
        return _encoded(model, role, family, wire, model_of)
    except RecursionError:
        raise EncodeError(family.format, [too_deep(wire.rule)]) from None


def _encoded(
    model: object,
    role: str,
    family: GeneratedFamily,
    wire: Wire,
    model_of: Callable[[Any, str, bytes], Any],
) -> bytes:
    try:
        encoded = wire.write_all(model)
        obj = wire.parse(encoded)
    except REFUSALS:
        raise EncodeError(family.format, [first_unencodable(model, wire.holds)]) from None
    issues = misplaced(model)
    if not issues:
        with suppress(*REFUSALS):  # of a value of the wrong shape, which errors() reports
            family.put_back(obj, role, model)
        issues = [as_sent(issue, model) for issue in family.errors(obj, role)]
    if issues:
        raise EncodeError(family.format, issues)
    if isinstance(obj, dict):
        obj.update(wire.texts(encoded))
    data = wire.write(obj)
    try:
        received = model_of(obj, role, data)
    except DecodeError as error:
        raise EncodeError(family.format, [as_sent(i, model) for i in error.issues]) from None
    difference = first_difference(model, received)
    if difference is not None:
        raise EncodeError(family.format, [difference])
    return data


def write_parsed(obj: object, family: GeneratedFamily, wire: Wire) -> bytes:
    """Return the bytes of a parsed message, key or batch, which need not be a valid one.

    They are parsed again before they are returned: a reader gets equal values, of the types that
    parsers give. So text is no bytes, and a tuple no list.
    """
    try:
        data = wire.write(obj)
        if wire.read_back(data) == obj:
            return data
        difference = first_difference(obj, wire.parse(data))
        if difference is None:  # not-a-number, or a decimal
            return data
        issues = [difference]
    except DecodeError as error:
        issues = error.issues
    except RecursionError:
        issues = [too_deep(wire.rule)]
    except REFUSALS:
        issues = [first_unencodable(obj, wire.holds)]
    raise EncodeError(family.format, issues)
