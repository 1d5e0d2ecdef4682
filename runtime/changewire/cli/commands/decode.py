"""``changewire decode``."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

import msgspec
import typer

from changewire.changes.decode_options import AUTO, ELEMENTS_AS, DecodeOptions
from changewire.cli.ending import ended, ending
from changewire.cli.options import (
    DECODE_FLAGS,
    FoundFormat,
    Inputs,
    Json,
    Shape,
    choice_option,
    decode_options_of,
    with_flags,
)
from changewire.cli.records import place_of, records, report_rejected
from changewire.cli.stderr import counted
from changewire.cli.stdout import Lines
from changewire.cli.topics import Limit, Options, Servers, Subscribe, topics_of
from changewire.codec import Codec, DecodeError, EncodeError, codec, decode_all_any, rejection
from changewire.framing import Record
from changewire_messages.change import Rejection

_MESSAGES: Final = "messages"

As = Annotated[
    str,
    choice_option(
        "--as",
        of=tuple(reversed(ELEMENTS_AS)),
        metavar="WHAT",
        help="What to write: {} (the changes of rows, and control events).",
    ),
]


@ending
@with_flags("elements_as", DECODE_FLAGS)
def decode(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    elements_as: As = _MESSAGES,
    shape: Shape = "auto",
    servers: Servers = None,
    subscribe: Subscribe = None,
    kafka_options: Options = None,
    limit: Limit = None,
    as_json: Json = False,
    **given: Any,
) -> int:
    """Write each element of each message as a line of JSON, with its place.

    With --as changes, write the effect of the element on a row, as `run` writes it to the log.
    Rejected elements are listed on standard error.

    Example: changewire decode users.jsonl --as changes | jq .after
    """
    strip = given.pop("strip_registry_prefix")
    options = decode_options_of(format, given)
    if elements_as == _MESSAGES and options != DecodeOptions(format):
        raise typer.BadParameter("options of changes are for --as changes")
    elements = _messages if elements_as == _MESSAGES else _changes
    topics = topics_of(inputs, servers, subscribe, kafka_options)
    found = records(inputs, shape, topics, limit=limit, strip_registry_prefix=strip)
    valid, rejected = _written(found, lambda record: elements(record, options), as_json=as_json)
    text = f"{counted(valid + rejected, 'element')}, {rejected:,} rejected"
    return ended(text, {"elements": valid + rejected, "rejected": rejected}, as_json=as_json)


Parts = tuple[object, ...]
"""Objects whose properties are those of a line."""

Elements = Callable[[Record], Iterator[Parts | Rejection]]


def _written(found: Iterator[Record], elements: Elements, *, as_json: bool) -> tuple[int, int]:
    """Write the elements of records; return how many are valid, and how many are rejected."""
    lines, valid, rejected = Lines(), 0, 0
    for record in found:
        for number, element in enumerate(elements(record)):
            if isinstance(element, Rejection):
                report_rejected(record.position, element, as_json=as_json)
                rejected += 1
            else:
                lines.write(place_of(record.position, number), *element)
                valid += 1
    return valid, rejected


def _changes(record: Record, options: DecodeOptions) -> Iterator[Parts | Rejection]:
    """Yield the changes of a message, each with the names of its leniencies."""
    for change, leniencies in options.elements(record.value, record.key):
        if isinstance(change, Rejection):
            yield change
        else:
            yield change, {"leniencies": leniencies}


def _messages(record: Record, options: DecodeOptions) -> Iterator[Parts | Rejection]:
    """Yield the elements of a message: the name of the model, and its JSON text."""
    if record.value is None:
        yield ({"model": None, "message": None},)
        return
    try:
        if options.format == AUTO:
            reader, models = decode_all_any(record.value)
        else:
            reader = codec(options.format)
            models = reader.decode_all(record.value)
    except DecodeError as error:
        yield rejection(error)
        return
    for number, model in enumerate(models):
        yield model if isinstance(model, Rejection) else _decoded(model, reader, number)


def _decoded(model: object, reader: Codec, number: int) -> Parts | Rejection:
    try:
        message = msgspec.Raw(reader.to_json(model))
        return ({"model": type(model).__name__, "message": message},)
    except EncodeError as error:  # it is nested deeper than JSON can be written
        return rejection(error, number)
