"""Messages parsed into dictionaries and lists: the bytes that stand for them."""

from changewire.codec.differences import first_difference, first_unencodable
from changewire.codec.family import Family
from changewire.codec.issues import DecodeError, EncodeError
from changewire.codec.wire import REFUSALS, Wire, too_deep


def write_parsed(obj: object, family: Family, wire: Wire) -> bytes:
    """Return the bytes of a parsed message, key or batch, which need not be a valid one.

    They are parsed again before they are returned: a reader gets equal values, of the types that
    parsers give. So text is no bytes, and a tuple no list.

    Args:
        obj: Dictionaries, lists and scalars.
        family: The family of the message.
        wire: The encoding of the family.

    Raises:
        EncodeError: A value has no exact form in the encoding.
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
