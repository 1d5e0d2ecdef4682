"""Options of a command from a TOML file."""

from typing import Annotated, Any, TypeAlias

import typer

from changewire.cli.options import text_option
from changewire.cli.toml import toml_of


def _read(ctx: typer.Context, file: str | None) -> str | None:
    """Let the options of a file be the defaults of a command.

    Raises:
        typer.BadParameter: The file cannot be read, is not TOML, or has other names.
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
        defaults[option.name] = value
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    return file


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
