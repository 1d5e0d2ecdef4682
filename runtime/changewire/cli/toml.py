"""TOML files that a command is given."""

import sys
from pathlib import Path
from typing import Any

import typer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def toml_of(file: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        typer.BadParameter: The file cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(Path(file).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{file}: expected TOML: {error}") from None
