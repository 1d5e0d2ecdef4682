"""Arguments and options that several commands share."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from changewire.changes.decode_options import (
    AUTO,
    DIGESTS,
    ELEMENTS_AS,
    IMAGES,
    NULL_VALUES,
    DecodeOptions,
)
from changewire.cli.stdout import BINARY_SHAPES
from changewire.codec import formats
from changewire.framing import SHAPES

Names: TypeAlias = Sequence[str] | Callable[[], Sequence[str]]
"""Names, or a function that returns them when they are needed."""

Named = TypeVar("Named", bound=str | None)


def one_of(names: Names) -> Callable[[Named], Named]:
    """Return a callback that rejects the value of an option if it is not one of some names."""

    def check(value: Named) -> Named:
        known = _names(names)
        if value is not None and value not in known:
            raise typer.BadParameter(f"{value!r} is not one of: {', '.join(known)}")
        return value

    return check


def _names(names: Names) -> Sequence[str]:
    return names() if callable(names) else names


Inputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT",
        help="Files or folders, also .gz and .zst; - is standard input, the default in a pipe.",
        show_default=False,
    ),
]


def text_option(
    *names: str, metavar: str, help: str, completes: Sequence[str] = (), **more: Any
) -> Any:
    """Return an option that takes text, and is None unless given; some texts are completed."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        autocompletion=lambda: completes,
        show_default=False,
        **more,
    )


def choice_option(
    *names: str, of: Names, metavar: str, help: str, show_default: bool = True
) -> Any:
    """Return an option that takes one of some names, which ``{}`` in its help stands for."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help if callable(of) else help.format(", ".join(of)),
        callback=one_of(of),
        autocompletion=lambda: _names(of),
        show_default=show_default,
    )


def format_option(*names: str, of: Names, help: str) -> Any:
    """Return an option that takes one of some formats, and completes them."""
    return choice_option(*names, of=of, metavar="FORMAT", help=help, show_default=False)


def auto_or_formats() -> Sequence[str]:
    """Return the names that a format can have, and `AUTO`."""
    return (AUTO, *formats())


_LISTED = "Format of the messages; see `changewire schema list`."
_OF_TOPIC = "Format of the messages; auto detects that of each message."
_FOUND = "Format of the messages; auto, the default, detects that of each message."

Format: TypeAlias = Annotated[str, format_option("--format", "-f", of=formats, help=_LISTED)]
TopicFormat: TypeAlias = Annotated[
    str, format_option("--format", "-f", of=auto_or_formats, help=_OF_TOPIC)
]
FoundFormat: TypeAlias = Annotated[
    str, format_option("--format", "-f", of=auto_or_formats, help=_FOUND)
]
"""The format of commands that look at messages: they take that of each unless one is named."""

Shape: TypeAlias = Annotated[
    str,
    choice_option(
        "--shape",
        of=("auto", *SHAPES),
        metavar="SHAPE",
        help="Layout of the input: {}.",
    ),
]

StripRegistryPrefix: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--strip-registry-prefix",
        help="Remove the 5 bytes of a schema registry before values and record keys.",
    ),
]

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Write JSON lines instead of text, for programs.")
]

ToShape: TypeAlias = Annotated[
    str,
    choice_option(
        "--to-shape",
        of=tuple(BINARY_SHAPES),
        metavar="SHAPE",
        help="Layout of MessagePack in the output: {}.",
    ),
]

ImageOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--image",
        of=IMAGES,
        metavar="IMAGE",
        help="Columns that a write has: all (full), those that changed (patch), or the key (keys).",
    ),
]

Keys: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="COLUMN", help="Key column of the rows; repeatable."),
]

Families: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--family", metavar="FAMILY", help="Column family of an HBase table; repeatable."),
]

DigestsOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--digests",
        of=DIGESTS,
        metavar="WAY",
        help="Check digests of Aerospike records: {}.",
    ),
]

NullValueOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--null-value",
        of=NULL_VALUES,
        metavar="WHAT",
        help="Meaning of Kafka records without value: {}.",
    ),
]

TimeZone: TypeAlias = Annotated[
    str,
    typer.Option(
        "--time-zone",
        metavar="NAME",
        help="Time zone of the DataWorks task, for its dates, such as Asia/Shanghai.",
    ),
]

ElementsAsOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--as",
        of=ELEMENTS_AS,
        metavar="WHAT",
        help="What to land: {} (unchanged, in typed columns).",
    ),
]


def decode_options_of(format: str, **options: Any) -> DecodeOptions:
    """Return how messages are decoded; BadParameter says which option does not fit the format."""
    try:
        return DecodeOptions(format, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
