"""``changewire decode``."""

from __future__ import annotations

import msgspec

from changewire.cli.ending import GOOD, REFUSED, ending
from changewire.cli.lines import Lines
from changewire.cli.notices import notice
from changewire.cli.options import Format, Inputs, Json, Shape
from changewire.cli.records import place_of, records, say_refused
from changewire.cli.talk import counted
from changewire.codec import Codec, EncodeError, codec, rejection
from changewire_messages.change import Rejection


class Decoded(msgspec.Struct, frozen=True):
    """A decoded element: the name of its model, and its message as JSON."""

    model: str | None
    message: msgspec.Raw | None


@ending
def decode(
    inputs: Inputs = None, *, format: Format, shape: Shape = "auto", as_json: Json = False
) -> int:
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
            found = model if isinstance(model, Rejection) else _decoded(model, reader, number)
            if isinstance(found, Rejection):
                say_refused(record.position, found, as_json=as_json)
                refused += 1
            else:
                lines.write(place_of(record.position, number), found)
                good += 1
    totals = {"elements": good + refused, "refused": refused}
    text = f"{counted(good + refused, 'element')}, {refused:,} refused"
    notice("totals", text, totals, as_json=as_json)
    return REFUSED if refused else GOOD


def _decoded(model: object, reader: Codec, number: int) -> Decoded | Rejection:
    try:
        return Decoded(type(model).__name__, msgspec.Raw(reader.to_json(model)))
    except EncodeError as error:  # it is nested deeper than JSON can be written
        return rejection(error, number)
