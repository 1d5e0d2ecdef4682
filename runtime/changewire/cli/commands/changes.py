"""``changewire changes``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, cast

import msgspec
import typer

from changewire.changes import IMAGES, Image, empty_message
from changewire.changes import changes as changes_of
from changewire.cli.ending import GOOD, REFUSED, ending
from changewire.cli.lines import Lines
from changewire.cli.options import Format, Inputs, Shape, one_of
from changewire.cli.records import place_of, records, say_refused
from changewire.cli.talk import counted, say
from changewire.codec import Codec, DecodeError, codec, rejection
from changewire.framing import Record
from changewire_messages.change import Change, Rejection

ImageOption = Annotated[
    str,
    typer.Option(
        "--image",
        metavar="IMAGE",
        help=f"What a write holds of its row: {', '.join(IMAGES)}.",
        callback=one_of(IMAGES),
    ),
]


class Leniencies(msgspec.Struct, frozen=True):
    """Names of the leniencies that an element needed."""

    leniencies: list[str]


@ending
def changes(
    inputs: Inputs = None,
    *,
    format: Format,
    image: ImageOption = "full",
    shape: Shape = "auto",
) -> int:
    """Write each change, and each control event, as a line of JSON with its place.

    Refused elements are named on standard error.

    Example: changewire changes -f aerospike-json users.jsonl | jq 'select(.op == "delete").key'
    """
    reader, lines = codec(format), Lines()
    good = refused = 0
    for record in records(inputs, shape):
        for number, (change, leniencies) in enumerate(
            _elements(record, reader, cast("Image", image))
        ):
            if isinstance(change, Rejection):
                say_refused(record.position, change)
                refused += 1
            else:
                lines.write(place_of(record.position, number), change, Leniencies(leniencies))
                good += 1
    say(f"{counted(good, 'change')}, {refused:,} refused")
    return REFUSED if refused else GOOD


def _elements(
    record: Record, reader: Codec, image: Image
) -> Iterator[tuple[Change | Rejection, list[str]]]:
    """Yield what becomes of each element, as in the tables of ``changewire run``."""
    models = [] if record.value is None else reader.decode_all(record.value)
    if not models:
        yield empty_message(reader.format, null_value=record.value is None), []
    for number, model in enumerate(models):
        if isinstance(model, Rejection):
            yield model, []
            continue
        try:
            found = changes_of(model, record_key=record.key, image=image)
        except DecodeError as error:
            yield rejection(error, number), []
        else:
            yield from ((change, reader.leniencies(model)) for change in found)
