"""``changewire decode``."""

from __future__ import annotations

import msgspec

from changewire.cli.ending import GOOD, REFUSED, ending
from changewire.cli.lines import Lines
from changewire.cli.options import Format, Inputs, Shape
from changewire.cli.records import place_of, records, say_refused
from changewire.cli.talk import counted, say
from changewire.codec import codec
from changewire_messages.change import Rejection


class Decoded(msgspec.Struct, frozen=True):
    """A decoded element: the name of its model, and its message as the codec writes it."""

    model: str | None
    message: msgspec.Raw | None


@ending
def decode(inputs: Inputs = None, *, format: Format, shape: Shape = "auto") -> int:
    """Write each element of each message as a line of JSON, with its place and its model.

    Refused ones are named on standard error.

    Example: changewire decode -f aerospike-json users.jsonl.gz | jq .message.key
    """
    reader, lines = codec(format), Lines()
    good = refused = 0
    for record in records(inputs, shape):
        if record.value is None:
            lines.write(place_of(record.position, 0), Decoded(None, None))
            good += 1
            continue
        for number, model in enumerate(reader.decode_all(record.value)):
            if isinstance(model, Rejection):
                say_refused(record.position, model)
                refused += 1
                continue
            message = msgspec.Raw(reader.encode(model))
            lines.write(place_of(record.position, number), Decoded(type(model).__name__, message))
            good += 1
    say(f"{counted(good + refused, 'element')}, {refused:,} refused")
    return REFUSED if refused else GOOD
