"""Where a state of schemas comes from: the installed package, files, or a git revision."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Final, NoReturn, cast

from changewire_codegen.bundle import unbundled
from changewire_codegen.errors import SchemaError
from changewire_codegen.load import FAMILY_FILE, family_of, load, load_family, parsed
from changewire_codegen.nodes import Family

INSTALLED: Final = "installed"
"""Stands for the schemas from which the installed package was generated."""

OWN_FOLDER: Final = "schemas"
"""Folder of the schemas in a checkout, where a revision names no other."""

_GIT: Final = "git:"
_PACKAGE: Final = "changewire_messages"
_MOST_BYTES: Final = 64 * 1024 * 1024
_SINGLE: Final = "schema"


class SourceError(ValueError):
    """There are no schemas where they were said to be.

    Attributes:
        source: What was named.
        reason: What is there instead, and what may be named.
    """

    def __init__(self, source: str, reason: str) -> None:
        """Name the source and the reason."""
        super().__init__(source, reason)
        self.source = source
        self.reason = reason

    def __str__(self) -> str:
        """Return ``source: reason``."""
        return f"{self.source}: {self.reason}"


def families_of(source: str) -> list[Family]:
    """Return the families of a state of schemas.

    Args:
        source: ``installed``; a folder of families, or of one; a file with one schema, or with a
            family as one document or bundle; or a revision of the git repository around the current
            folder, as ``git:REVISION`` or without the prefix where there is no such file, with
            ``:FOLDER`` behind it where the schemas are not in ``schemas``.

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
        raise SourceError(source, "its schemas are nested too deeply") from None


def _families(source: str) -> Iterator[Family]:
    path = Path(source)
    if source == INSTALLED:
        yield from _installed()
    elif source.startswith(_GIT) or not path.exists():
        yield from _of_revision(source, source.removeprefix(_GIT))
    elif path.is_dir() and (path / FAMILY_FILE).exists():
        yield load_family(path.absolute())
    elif path.is_dir():
        yield from load(path)
    else:
        yield _of_file(source, path)


def _installed() -> Iterator[Family]:
    folder = files(_PACKAGE) / "schemas"
    for path in sorted(folder.iterdir(), key=lambda item: item.name):
        documents = unbundled(json.loads(path.read_bytes()))
        yield _of_document(path.name.removesuffix(".json"), documents)


def _of_document(name: str, document: Mapping[str, Any]) -> Family:
    """Return the family whose files stand in one document."""
    return family_of(name, {file: json.dumps(text).encode() for file, text in document.items()})


def _of_file(source: str, path: Path) -> Family:
    """Return a family of one schema, or the one that a document or a bundle holds."""
    if path.stat().st_size > _MOST_BYTES:
        raise SourceError(source, f"a schema file of more than {_MOST_BYTES:,} bytes")
    text = path.read_bytes()
    try:
        document = parsed(text)
    except ValueError as error:
        raise SourceError(source, f"not JSON: {error}") from error
    if isinstance(document, dict) and "x-family" in document:
        document = unbundled(cast("Mapping[str, Any]", document))
    if isinstance(document, dict) and FAMILY_FILE in document:
        return _of_document(_SINGLE, document)
    meta = {"title": "A schema", "description": "One schema.", "encoding": "json"}
    texts = {FAMILY_FILE: json.dumps(meta).encode(), f"{_SINGLE}.json": text}
    return family_of(_SINGLE, texts)


def _of_revision(source: str, revision: str) -> Iterator[Family]:
    """Yield the families of a revision: its folder as git archives it, read in memory."""
    name, _, folder = revision.partition(":")
    if not name or name.startswith("-"):
        _no_source(source)
    top = _git(source, "rev-parse", "--show-toplevel").decode().rstrip("\n")
    commit = _git(source, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", top=top)
    tree = f"{commit.decode().strip()}:{folder or OWN_FOLDER}"
    found: dict[str, dict[str, bytes]] = {}
    with tarfile.open(
        fileobj=io.BytesIO(_git(source, "archive", "--format=tar", tree, top=top))
    ) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if member.isfile() and len(path.parts) == 2 and path.suffix == ".json":  # noqa: PLR2004 - folder and file
                content = archive.extractfile(member)
                found.setdefault(path.parent.name, {})[path.name] = (
                    content.read() if content else b""
                )
    families = {name: texts for name, texts in sorted(found.items()) if FAMILY_FILE in texts}
    if not families:
        raise SourceError(source, f"no family in {folder or OWN_FOLDER}: expected */{FAMILY_FILE}")
    for family, texts in families.items():
        yield family_of(family, texts)


def _git(source: str, *arguments: str, top: str = ".") -> bytes:
    command = ("git", "-C", top, *arguments)
    try:
        ended = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - no shell
    except FileNotFoundError:
        raise SourceError(source, "no such file, and git is not installed") from None
    if ended.returncode:
        _no_source(source)
    return ended.stdout


def _no_source(source: str) -> NoReturn:
    reason = "no such folder or file, and no revision with schemas of a checkout around this folder"
    raise SourceError(source, f"{reason}; {INSTALLED!r} stands for the installed package")
