"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from changewire.changes.reading import AUTO
from changewire.codec import formats
from changewire.framing import SHAPES

Names: TypeAlias = Sequence[str] | Callable[[], Sequence[str]]
"""Names, or what tells them when they are asked for."""

Named = TypeVar("Named", bound=str | None)


def one_of(names: Names) -> Callable[[Named], Named]:
    """Return a callback that refuses an option's value if it is given and none of some names."""

    def check(value: Named) -> Named:
        known = _told(names)
        if value is not None and value not in known:
            text = f"{value!r} is none of: {', '.join(known)}"
            raise typer.BadParameter(text)
        return value

    return check


def _told(names: Names) -> Sequence[str]:
    return names() if callable(names) else names


Inputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT",
        help="Files or folders, also .gz and .zst; - is standard input, the default in a pipe.",
        show_default=False,
    ),
]


def text_option(*names: str, metavar: str, help: str, completes: Sequence[str] = ()) -> Any:
    """Return an option that takes text, and is None unless given; some texts are completed."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        autocompletion=lambda: completes,
        show_default=False,
    )


def choice_option(
    *names: str, of: Names, metavar: str, help: str, show_default: bool = True
) -> Any:
    """Return an option that takes one of some names, and completes them."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        callback=one_of(of),
        autocompletion=lambda: _told(of),
        show_default=show_default,
    )


def format_option(*names: str, of: Names, help: str) -> Any:
    """Return an option that takes one of some formats, and completes them."""
    return choice_option(*names, of=of, metavar="FORMAT", help=help, show_default=False)


Format: TypeAlias = Annotated[
    str,
    format_option(
        "--format",
        "-f",
        of=formats,
        help="Format of the messages; `changewire formats` lists, `changewire detect` guesses.",
    ),
]


def auto_or_formats() -> Sequence[str]:
    """Return the names that a format can have, and `AUTO`."""
    return (AUTO, *formats())


TopicFormat: TypeAlias = Annotated[
    str,
    format_option(
        "--format",
        "-f",
        of=auto_or_formats,
        help="Format of the messages; auto asks each one, for topics that carry several.",
    ),
]

FoundFormat: TypeAlias = Annotated[
    str,
    format_option(
        "--format",
        "-f",
        of=auto_or_formats,
        help="Format of the messages; auto, the default, asks each one.",
    ),
]
"""The format of commands that look at messages: they take that of each unless one is named."""

Shape: TypeAlias = Annotated[
    str,
    choice_option(
        "--shape",
        of=("auto", *SHAPES),
        metavar="SHAPE",
        help=f"How messages stand in the input: auto, {', '.join(SHAPES)}.",
    ),
]

Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Write lines of JSON in place of words, for programs.")
]
