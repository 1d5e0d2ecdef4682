"""``changewire sample``."""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Annotated, Any, get_args

import typer

from changewire.cli.ending import VALID, ending
from changewire.cli.options import ToShape, one_of
from changewire.cli.stdout import CONCATENATED, writer_of
from changewire.codec import codec, encoding_of, formats, module_of
from changewire.explain.schema import schemas


@ending
def sample(
    format: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="Name of a format.",
            autocompletion=formats,
            callback=one_of(formats),
            show_default=False,
        ),
    ],
    *,
    number: Annotated[
        int | None,
        typer.Option(
            "--number",
            min=1,
            metavar="N",
            help="Write so many messages; by default each example once.",
            show_default=False,
        ),
    ] = None,
    to_shape: ToShape = CONCATENATED,
) -> int:
    """Write valid messages of a format: the examples of its schemas.

    JSON is written as lines, MessagePack as bytes.

    Example: changewire sample dataworks-json --number 3
    """
    write, reader = writer_of(format, to_shape), codec(format)
    messages = [*_examples(format)]
    for data in messages if number is None else islice(cycle(messages), number):
        write(reader.encode(reader.decode(data)))
    return VALID


def _examples(format: str) -> Iterator[bytes]:
    """Yield the examples of a format's messages: those of the message, and of its variants."""
    family: Any = module_of(format)
    title = family.ROLES["message"]
    variants = [one.__name__ for one in get_args(getattr(family, title))]
    is_text = encoding_of(format) == "json"
    for name in (title, *variants):
        for one in schemas(format)[name].get("examples", ()):
            yield json.dumps(one).encode() if is_text else bytes.fromhex(one)
