"""The generator as a command: read schemas, then write the trees or compare them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from changewire_codegen.dialect import DIALECT_PATH
from changewire_codegen.emit.head import COMMAND
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import load
from changewire_codegen.render import render, render_pages
from changewire_codegen.tree import compare, write

PACKAGE = "changewire_messages"
_PACKAGE_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def main(arguments: Sequence[str]) -> int:
    """Run the command; return 0, 1 where ``--check`` found a difference, 2 for a bad schema."""
    options = _parser().parse_args(arguments)
    try:
        trees = _trees(options)
    except SchemaError as error:
        print(f"{COMMAND}: {error}", file=sys.stderr)
        return 2
    if options.check:
        return _check(trees)
    for root, files in trees.items():
        write(root, files)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Generate Python from schemas.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--schemas", type=Path, default=Path("schemas"), help="folder of families")
    parser.add_argument("--package", default=PACKAGE, help="import name of the package")
    parser.add_argument("--out", type=Path, default=Path("generated"), help="folder of the package")
    parser.add_argument("--pages", type=Path, default=Path("docs/formats"), help="folder of pages")
    return parser


def _trees(options: argparse.Namespace) -> dict[Path, Mapping[str, str]]:
    """Return each folder with the files that belong into it."""
    if not _PACKAGE_NAME.match(options.package):
        raise SchemaError(options.package, "", "a package name is lower case letters, digits, _")
    families = load(options.schemas)
    trees: dict[Path, Mapping[str, str]] = {
        options.out / options.package: render(families, options.package),
        options.pages: render_pages(families),
    }
    dialect = options.schemas / DIALECT_PATH.name
    if options.package == PACKAGE and dialect.exists():
        trees[DIALECT_PATH.parent] = {
            DIALECT_PATH.name: dialect.read_text(encoding="utf-8")
        }
    return trees


def _check(trees: Mapping[Path, Mapping[str, str]]) -> int:
    found = [(root, difference) for root, files in trees.items() for difference in compare(root, files)]
    for root, difference in found:
        print(f"{difference.verdict}: {(root / difference.path).as_posix()}")
        if difference.diff:
            print(difference.diff)
    if found:
        print(f"{len(found)} generated files are not as the schemas say. To mend it: {COMMAND}")
        return 1
    print("generated files are as the schemas say")
    return 0
