"""The generator as a command: read schemas, then write the trees or compare them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from changewire_codegen.dialect import DIALECT_PATH
from changewire_codegen.errors import SchemaError, TargetError
from changewire_codegen.load import load
from changewire_codegen.names import PACKAGE_NAME
from changewire_codegen.render import render, render_pages
from changewire_codegen.tree import Package, Pages, Tree, compare_all, write_all
from changewire_codegen.writer import COMMAND

PACKAGE = "changewire_messages"


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Returns:
        0; 1 if ``--check`` found a difference; 2 for an invalid schema, or if files would be lost
        that were not generated.
    """
    options = _parser().parse_args(arguments)
    path: Path = options.schemas / DIALECT_PATH.name  # next to our own schemas; we have a copy
    is_ours = options.package == PACKAGE and path.exists()
    is_old = is_ours and path.read_bytes() != DIALECT_PATH.read_bytes()
    try:
        if options.check:
            found = [(f"different: {DIALECT_PATH.as_posix()}", "")] if is_old else []
            return _report([*found, *compare_all(_trees(options))], arguments)
        if is_old:  # first: the schemas are checked by it
            DIALECT_PATH.write_bytes(path.read_bytes())
        write_all(_trees(options))
    except (TargetError, SchemaError) as error:
        sys.stderr.write(f"{COMMAND}: {error}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Generate Python from schemas.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--schemas", type=Path, default=Path("schemas"), help="folder of families")
    parser.add_argument("--package", default=PACKAGE, help="import name of the package")
    parser.add_argument("--out", type=Path, default=Path("generated"), help="folder of the package")
    parser.add_argument(
        "--pages", type=Path, default=Path("docs", "formats"), help="folder of pages"
    )
    return parser


def _trees(options: argparse.Namespace) -> list[Tree]:
    if not PACKAGE_NAME.match(options.package):
        reason = "a package name must be lower-case letters, digits and _"
        raise SchemaError(options.package, "", reason)
    families = load(options.schemas)
    return [
        Package(options.out / options.package, render(families, options.package)),
        Pages(options.pages, render_pages(families)),
    ]


def _report(found: Sequence[tuple[str, str]], arguments: Sequence[str]) -> int:
    if not found:
        sys.stdout.write("generated files are up to date\n")
        return 0
    for verdict, diff in found:
        sys.stdout.write(f"{verdict}\n{diff}")
    command = shlex.join([*COMMAND.split(), *(word for word in arguments if word != "--check")])
    files = "file is" if len(found) == 1 else "files are"
    sys.stdout.write(f"{len(found)} generated {files} out of date. To update: {command}\n")
    return 1
