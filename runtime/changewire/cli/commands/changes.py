"""``changewire changes``."""

from __future__ import annotations

from typing import Annotated, cast

import msgspec
import typer

from changewire.changes import IMAGES, Digests, Image, NullValue
from changewire.changes.options import DIGESTS, NULL_VALUES
from changewire.changes.reading import AUTO, Reading
from changewire.cli.ending import GOOD, REFUSED, ending
from changewire.cli.lines import Lines
from changewire.cli.notices import notice
from changewire.cli.options import FoundFormat, Inputs, Json, Shape, choice_option
from changewire.cli.records import place_of, records, say_refused
from changewire.cli.talk import counted
from changewire_messages.change import Rejection

ImageOption = Annotated[
    str,
    choice_option(
        "--image",
        of=IMAGES,
        metavar="IMAGE",
        help=f"What a write holds of its row: {', '.join(IMAGES)}.",
    ),
]

Keys = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="COLUMN", help="A column that names the row; may be repeated."),
]

Families = Annotated[
    list[str] | None,
    typer.Option("--family", metavar="FAMILY", help="A column family of HBase; may be repeated."),
]

DigestsOption = Annotated[
    str,
    choice_option(
        "--digests",
        of=DIGESTS,
        metavar="WAY",
        help=f"Compare digests of Aerospike with set and user key: {', '.join(DIGESTS)}.",
    ),
]

NullValueOption = Annotated[
    str,
    choice_option(
        "--null-value",
        of=NULL_VALUES,
        metavar="WHAT",
        help=f"What a Kafka record without value is: {', '.join(NULL_VALUES)}.",
    ),
]


class Leniencies(msgspec.Struct, frozen=True):
    """Names of the leniencies that an element needed."""

    leniencies: list[str]


def reading_of(
    format: str,
    image: str,
    keys: list[str] | None,
    families: list[str] | None,
    digests: str,
    *,
    null_value: str,
) -> Reading:
    """Return how messages are read; options that do not fit the format are wrong usage."""
    try:
        return Reading(
            format,
            cast("Image", image),
            keys,
            families,
            cast("Digests", digests),
            cast("NullValue", null_value),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


@ending
def changes(
    inputs: Inputs = None,
    *,
    format: FoundFormat = AUTO,
    image: ImageOption = "full",
    keys: Keys = None,
    families: Families = None,
    digests: DigestsOption = "off",
    null_value: NullValueOption = "control",
    shape: Shape = "auto",
    as_json: Json = False,
) -> int:
    """Write each change, and each control event, as a line of JSON with its place.

    Refused elements are named on standard error.

    Example: changewire changes -f aerospike-json users.jsonl | jq .after
    """
    reading = reading_of(format, image, keys, families, digests, null_value=null_value)
    lines = Lines()
    good = refused = 0
    for record in records(inputs, shape):
        elements = reading.elements(record.value, record.key)
        for number, (change, leniencies) in enumerate(elements):
            if isinstance(change, Rejection):
                say_refused(record.position, change, as_json=as_json)
                refused += 1
            else:
                lines.write(place_of(record.position, number), change, Leniencies(leniencies))
                good += 1
    totals = {"changes": good, "refused": refused}
    text = f"{counted(good, 'change')}, {refused:,} refused"
    notice("totals", text, totals, as_json=as_json)
    return REFUSED if refused else GOOD
