"""TOML files that a command is given."""

import sys
from pathlib import Path
from typing import Any, Final

import typer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MOST: Final = 2**24
"""Characters of a file at most: a device may have no end."""


def toml_of(file: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        typer.BadParameter: The file cannot be read, or is not TOML.
    """
    try:
        with Path(file).open(encoding="utf-8-sig") as opened:
            text = opened.read(_MOST + 1)
        if len(text) > _MOST:
            raise typer.BadParameter(f"{file}: expected TOML of at most {_MOST} characters")
        return tomllib.loads(text)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from None
    except ValueError as error:  # also of an integer with too many digits
        raise typer.BadParameter(f"{file}: expected TOML: {error}") from None
    except RecursionError:
        raise typer.BadParameter(f"{file}: expected TOML: it is nested too deep") from None
