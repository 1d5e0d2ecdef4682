"""``changewire decode``."""

from collections.abc import Iterator
from typing import Any

import msgspec

from changewire.changes.decode_options import AUTO
from changewire.cli.ending import ended, ending
from changewire.cli.options import FoundFormat, Inputs, Json, Shape, StripRegistryPrefix
from changewire.cli.records import place_of, records, report_rejected
from changewire.cli.stderr import counted
from changewire.cli.stdout import Lines
from changewire.codec import Codec, DecodeError, EncodeError, codec, decode_all_any, rejection
from changewire_messages.change import Rejection


@ending
def decode(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    shape: Shape = "auto",
    strip_registry_prefix: StripRegistryPrefix = False,
    as_json: Json = False,
) -> int:
    """Write each element of each message as a line of JSON, with its place and its model.

    Rejected ones are named on standard error.

    Example: changewire decode -f aerospike-json users.jsonl.gz | jq .message.key
    """
    lines = Lines()
    valid = rejected = 0
    for record in records(inputs, shape, strip_registry_prefix=strip_registry_prefix):
        if record.value is None:
            lines.write(place_of(record.position, 0), {"model": None, "message": None})
            valid += 1
            continue
        for number, found in enumerate(_elements(record.value, format)):
            if isinstance(found, Rejection):
                report_rejected(record.position, found, as_json=as_json)
                rejected += 1
            else:
                lines.write(place_of(record.position, number), found)
                valid += 1
    text = f"{counted(valid + rejected, 'element')}, {rejected:,} refused"
    return ended(text, {"elements": valid + rejected, "refused": rejected}, as_json=as_json)


def _elements(value: bytes, format: str) -> Iterator[dict[str, Any] | Rejection]:
    """Yield the elements of a message: the name of its model, and its JSON text."""
    try:
        if format == AUTO:
            reader, models = decode_all_any(value)
        else:
            reader = codec(format)
            models = reader.decode_all(value)
    except DecodeError as error:
        yield rejection(error)
        return
    for number, model in enumerate(models):
        yield model if isinstance(model, Rejection) else _decoded(model, reader, number)


def _decoded(model: object, reader: Codec, number: int) -> dict[str, Any] | Rejection:
    try:
        return {"model": type(model).__name__, "message": msgspec.Raw(reader.to_json(model))}
    except EncodeError as error:  # it is nested deeper than JSON can be written
        return rejection(error, number)
