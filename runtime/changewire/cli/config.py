"""Options of a command from a TOML file."""

from typing import Annotated, Any, TypeAlias

import typer

from changewire.cli.options import text_option
from changewire.cli.toml import toml_of
from changewire.codec.issues import type_word


def _read(ctx: typer.Context, file: str | None) -> str | None:
    """Let the options of a file be the defaults of a command.

    Raises:
        typer.BadParameter: The file cannot be read, is not TOML, or has other names or types.
    """
    if file is None:
        return None
    known = dict(_names(ctx))
    defaults: dict[str, Any] = {}
    for name, value in toml_of(file).items():
        option = known.get(name.replace("_", "-"))
        if option is None:
            raise typer.BadParameter(
                f"{file}: {ctx.info_name} has no option {name}; it has: {', '.join(sorted(known))}"
            )
        _check(f"{file}: {name}", option, value)
        defaults[option.name] = value
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    return file


def _check(place: str, option: Any, value: object) -> None:
    """Refuse a value of another type than its option; an integer is as good as its text."""
    scalar = "boolean" if option.is_flag else "string or integer"
    expected = "array of string" if option.multiple else scalar
    found = type_word(value)
    if isinstance(value, list):
        found = f"array of {' and '.join(sorted(set(map(type_word, value)))) or 'string'}"
    if found not in expected.split(" or "):
        raise typer.BadParameter(f"{place}: expected {expected}, found {found}")


def _names(ctx: typer.Context) -> Any:
    """Yield the long names of the options of a command, without dashes, and the options."""
    for option in ctx.command.params:
        for name in option.opts:
            if name.startswith("--") and name != "--config":
                yield name.removeprefix("--"), option


Config: TypeAlias = Annotated[
    str | None,
    text_option(
        "--config",
        metavar="FILE",
        help='Read options from a TOML file, such as output = "lake"; the command line wins.',
        callback=_read,
        is_eager=True,
    ),
]
