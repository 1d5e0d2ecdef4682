"""What only models hold, open tags and unknown properties, to plain values and back."""

from changewire_messages.support import Extra, OpenTag


def read_unknown(kind: type, value: object) -> object:
    """Decode what only a model holds: an open tag, or unknown properties (a ``dec_hook``)."""
    if kind is OpenTag and not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return kind(value)


def write_unknown(value: object) -> object:
    """Encode what only a model holds: an open tag, or unknown properties (an ``enc_hook``)."""
    if isinstance(value, OpenTag):
        return str(value)
    if isinstance(value, Extra):
        return dict(value)
    raise TypeError(type(value).__name__)
