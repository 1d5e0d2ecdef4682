"""Arguments and options that several commands share."""

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Annotated, Any, Final, ParamSpec, TypeAlias, TypeVar, cast

import typer

from changewire.changes.decode_options import (
    AUTO,
    ELEMENTS_AS,
    ROW_IMAGES,
    TOMBSTONES,
    DecodeOptions,
)
from changewire.changes.sources import KeysByTable
from changewire.changes.vendor_options import VendorOption
from changewire.changes.vendors import VENDOR_OPTIONS
from changewire.cli.stdout import BINARY_SHAPES
from changewire.codec import formats
from changewire.codec.issues import is_utf8
from changewire.engines.options import TableOptions, with_settings
from changewire.framing import SHAPES

Names: TypeAlias = Sequence[str] | Callable[[], Sequence[str]]
"""Names, or a function that returns them when they are needed."""

Named = TypeVar("Named", bound=str | None)

P = ParamSpec("P")


def one_of(names: Names) -> Callable[[Named], Named]:
    """Return a callback that refuses the value of an option if it is not one of some names."""

    def check(value: Named) -> Named:
        known = _names(names)
        if value is not None and value not in known:
            raise typer.BadParameter(f"{value!r} is not one of: {', '.join(known)}")
        return value

    return check


def _not_empty(value: Named) -> Named:
    """Refuse the value of an option without a character, as an unset variable of a shell gives."""
    if value == "":
        raise typer.BadParameter("expected text, found an empty one")
    return cast("Named", utf8(value))


def utf8(value: Any) -> Any:
    """Refuse the value of an option, or one of several, that is not UTF-8."""
    if not is_utf8("".join(value or ())):
        raise typer.BadParameter("expected UTF-8 without zero bytes")
    return value


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
    *names: str,
    metavar: str,
    help: str,
    completes: Sequence[str] = (),
    callback: Callable[..., Any] = _not_empty,
    **more: Any,
) -> Any:
    """Return an option that takes text, by default no empty one; some texts are completed."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        callback=callback,
        autocompletion=lambda: completes,
        show_default=False,
        **more,
    )


def choice_option(
    *names: str, of: Names, metavar: str, help: str, show_default: bool = True
) -> Any:
    """Return an option that takes one of some names, which replace ``{}`` in its help."""
    return typer.Option(
        *names,
        metavar=metavar,
        help=help if callable(of) else help.format(", ".join(of)),
        callback=one_of(of),
        autocompletion=lambda: _names(of),
        show_default=show_default,
    )


def text_flag(*names: str, **how: Any) -> tuple[Any, Any]:
    """Return a flag of `text_option`, and its default."""
    return Annotated[str | None, text_option(*names, **how)], None


def texts_flag(*names: str, **how: Any) -> tuple[Any, Any]:
    """Return a flag of `text_option` that may be given several times, and its default."""
    return Annotated[list[str] | None, text_option(*names, **how)], None


def choice_flag(*names: str, default: str | None = None, **how: Any) -> tuple[Any, Any]:
    """Return a flag of `choice_option`, and its default, which is shown."""
    option = choice_option(*names, show_default=default is not None, **how)
    return Annotated[str | None, option], default


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

Keys: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--key-column",
        metavar="COLUMN",
        callback=utf8,
        help="Key column of the rows; TABLE=COLUMN for one table, or for several such as 'shop.*'; "
        "repeatable.",
    ),
]

ElementsAsOption: TypeAlias = Annotated[
    str,
    choice_option(
        "--as",
        of=ELEMENTS_AS,
        metavar="WHAT",
        help="What the log contains: {} (unchanged, in typed columns).",
    ),
]


def _vendor_flag(option: VendorOption) -> tuple[Any, Any]:
    """Return the flag of an option that a vendor declares, and its default."""
    default, text, metavar, *_ = option.declaration
    how: Any = {"metavar": metavar, "help": text}
    if option.words:
        return choice_flag(option.flag, default=default, of=option.words, **how)
    kind: Any = list[str] | None if option.is_names else option.type
    return Annotated[kind, typer.Option(option.flag, **how)], default


VENDOR_FLAGS: Final[Mapping[str, tuple[Any, Any]]] = {
    option.name: _vendor_flag(option) for option in VENDOR_OPTIONS.values()
}
"""Options of the messages of one vendor, each with its default."""

DECODE_FLAGS: Final[Mapping[str, tuple[Any, Any]]] = {
    "row_image": choice_flag(
        "--row-image",
        default="full",
        of=ROW_IMAGES,
        metavar="IMAGE",
        help="Columns that a write contains: all (full), the changed (patch), or the key (keys).",
    ),
    "key_columns": (Keys, None),
    **VENDOR_FLAGS,
    "tombstones": choice_flag(
        "--tombstones",
        default="ignore",
        of=TOMBSTONES,
        metavar="WHAT",
        help="Meaning of Kafka records without value: {}.",
    ),
    "strip_registry_prefix": (StripRegistryPrefix, False),
}
"""Options that complete the content of messages."""


def with_flags(
    behind: str, flags: Mapping[str, tuple[Any, Any]]
) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Give a command flags behind one of its parameters; its keywords get their values."""

    def decorate(command: Callable[P, int]) -> Callable[P, int]:
        given = signature(command)
        own = [one for one in given.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        place = list(given.parameters).index(behind) + 1
        added = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in flags.items()
        ]
        parameters = [*own[:place], *added, *own[place:]]
        found: Any = command
        found.__signature__ = given.replace(parameters=parameters)
        found.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorate


def decode_options_of(
    format: str, given: Mapping[str, Any], *, tables: TableOptions | None = None, **more: Any
) -> DecodeOptions:
    """Return how messages are decoded, by what is given of `DECODE_FLAGS`, and by more options.

    Settings of tables may name the columns of keys.

    Raises:
        typer.BadParameter: An option does not fit the format.
    """
    options: Any = {name: given[name] for name in DECODE_FLAGS if name in given} | more
    options["key_columns"] = _keys_of(options.get("key_columns"))
    try:
        if tables is not None:
            options = with_settings(options, tables)
        return DecodeOptions(format, **options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _keys_of(given: Sequence[str] | None) -> Sequence[str] | KeysByTable | None:
    """Return the columns of keys, by table if one is named."""
    if not any("=" in one for one in given or ()):
        return given
    found: dict[str, list[str]] = {}
    for one in given or ():
        table, separator, column = one.partition("=")
        if not separator:
            table, column = "*", table
        if not table or not column:
            text = f"--key-column: expected a column, or TABLE=COLUMN, found {one!r}"
            raise typer.BadParameter(text)
        found.setdefault(table, []).append(column)
    return found
