"""``changewire schema generate``."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from changewire.cli.ending import REJECTED, UNABLE, VALID, ending
from changewire.cli.options import Json
from changewire.cli.stderr import counted, notice
from changewire.cli.stdout import Lines
from changewire.codec.installed import RESERVED
from changewire.generator import generator_part
from changewire.report.text import visible
from changewire.version import VERSION

_SHOWN: Final = 1000

Schemas = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Folder of families: folders with schemas and a family.json.",
        show_default=False,
    ),
]
Package = Annotated[
    str, typer.Option(metavar="NAME", help="Import name of the package.", show_default=False)
]
Out = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder of the project.", show_default=False)
]
Version = Annotated[
    str, typer.Option("--package-version", metavar="VERSION", help="Version of the package.")
]
Check = Annotated[bool, typer.Option("--check", help="Compare with the files instead of writing.")]


@ending
def generate(
    *,
    schemas: Schemas,
    package: Package,
    out: Out,
    package_version: Version = "0.1.0",
    check: Check = False,
    as_json: Json = False,
) -> int:
    """Generate a package from your own schemas: models, validators, columns, strategies, pages.

    When the package is installed, all commands know its formats. With --check nothing is written,
    and the exit code is 1 if files are not up to date.

    Example: changewire schema generate --schemas schemas --package shop --out shop/
    """
    project = generator_part("project", "schema generate needs")
    try:
        found = project(
            schemas,
            package,
            out,
            version=package_version,
            requires=[f"changewire>={VERSION}"],
            taken=RESERVED,
            check=check,
        )
    except ValueError as error:  # its types are the generator's
        notice("error", str(error), as_json=as_json)
        return UNABLE
    if not check:
        # Without a slash pip would look for the name in its index.
        place = out if out.is_absolute() else f"./{out.as_posix()}"
        text = f"{counted(len(found), 'file')} written; next: pip install {shlex.quote(str(place))}"
        notice("totals", text, {"written": len(found)}, as_json=as_json)
        return VALID
    _write(found, as_json=as_json)
    again = shlex.join(word for word in sys.argv[1:] if word != "--check")
    number = counted(len(found), "file is", "files are")
    wrong = f"{number} not up to date; to update them: changewire {again}"
    text = wrong if found else "all files are up to date"
    notice("totals", text, {"wrong": len(found)}, as_json=as_json)
    return REJECTED if found else VALID


def _write(found: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    """Write what is wrong with each file, and how it differs."""
    lines = Lines()
    for verdict, diff in found:
        if as_json:
            lines.write({"verdict": verdict, "diff": diff})
            continue
        sys.stdout.write(f"{visible(verdict, _SHOWN)}\n")
        sys.stdout.writelines(f"{visible(line, _SHOWN)}\n" for line in diff.splitlines())
