"""Where a state of schemas comes from: the installed package, files, or a git revision."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

from changewire_codegen.bundle import unbundled
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import FAMILY_FILE, family_of, load, load_family, parsed
from changewire_codegen.nodes import Family

INSTALLED: Final = "installed"
PACKAGE: Final = "changewire_messages"
OWN_FOLDER: Final = "schemas"

_GIT: Final = "git:"
_MOST_BYTES: Final = 64 * 1024 * 1024
_SINGLE: Final = "schema"

_NOWHERE: Final = (
    "no such folder or file, and no revision with schemas of a checkout around this folder; "
    f"{INSTALLED!r} means the installed package"
)


class SourceError(ValueError):
    """There are no schemas where they were said to be."""


def families_of(source: str) -> list[Family]:
    """Return the families of a state of schemas: of the package, files, or a git revision.

    Raises:
        SourceError: There are no schemas.
        SchemaError: A schema is outside the dialect of this version.
        OSError: A file cannot be read.
    """
    try:
        return list(_families(source))
    except SchemaError as error:
        raise SchemaError(f"{source}: {error.file}", error.pointer, error.reason) from error
    except RecursionError:
        raise SourceError(f"{source}: its schemas are nested too deeply") from None


def _families(source: str) -> Iterator[Family]:
    path = Path(source)
    if source == INSTALLED:
        for installed in sorted((files(PACKAGE) / "schemas").iterdir(), key=lambda item: item.name):
            document = unbundled(json.loads(installed.read_bytes()))
            yield _of_document(installed.name.removesuffix(".json"), document)
    elif source.startswith(_GIT) or not path.exists():
        yield from _of_revision(source, source.removeprefix(_GIT))
    elif path.is_dir() and (path / FAMILY_FILE).exists():
        yield load_family(path.absolute())
    elif path.is_dir():
        yield from load(path)
    else:
        yield _of_file(source, path)


def _of_document(name: str, document: Mapping[str, Any]) -> Family:
    """Return the family whose files are in one document."""
    return family_of(name, {file: json.dumps(text).encode() for file, text in document.items()})


def _of_file(source: str, path: Path) -> Family:
    """Return a family of one schema, or the one that a document or a bundle has."""
    if path.stat().st_size > _MOST_BYTES:
        raise SourceError(f"{source}: a schema file of more than {_MOST_BYTES:,} bytes")
    try:
        document = parsed(path.read_bytes())
    except ValueError as error:
        raise SourceError(f"{source}: not JSON: {error}") from error
    if isinstance(document, dict) and "x-family" in document:
        document = unbundled(cast("Mapping[str, Any]", document))
    if isinstance(document, dict) and FAMILY_FILE in document:
        return _of_document(_SINGLE, document)
    meta = {"title": "A schema", "description": "One schema.", "encoding": "json"}
    texts = {FAMILY_FILE: json.dumps(meta).encode(), f"{_SINGLE}.json": path.read_bytes()}
    return family_of(_SINGLE, texts)


def _of_revision(source: str, revision: str) -> list[Family]:
    """Return the families of a revision: its folder as git archives it."""
    name, _, folder = revision.partition(":")
    if not name or name.startswith("-"):
        raise SourceError(f"{source}: {_NOWHERE}")
    top = _git(source, "rev-parse", "--show-toplevel").decode().rstrip("\n")
    folder = folder or OWN_FOLDER
    tree = f"{name}^{{commit}}:{folder}"
    archived = io.BytesIO(_git(source, "archive", "--format=tar", tree, top=top))
    found: dict[str, dict[str, bytes]] = {}
    with tarfile.open(fileobj=archived) as archive:
        for member in archive:
            family, _, file = member.name.partition("/")
            content = archive.extractfile(member) if member.isfile() else None
            if content and file.endswith(".json") and "/" not in file:
                found.setdefault(family, {})[file] = content.read()
    families = [family_of(*item) for item in sorted(found.items()) if FAMILY_FILE in item[1]]
    if not families:
        raise SourceError(f"{source}: no family in {folder}: expected */{FAMILY_FILE}")
    return families


def _git(source: str, *arguments: str, top: str = ".") -> bytes:
    command = ("git", "-C", top, *arguments)
    try:
        ended = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - no shell
    except FileNotFoundError:
        raise SourceError(f"{source}: no such file, and git is not installed") from None
    if ended.returncode:
        raise SourceError(f"{source}: {_NOWHERE}")
    return ended.stdout
