"""Names of target tables, made of the untrusted names in messages."""

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Final

from msgspec import Struct

from changewire_messages.change import Source

LONGEST: Final = 128
"""Characters of a name; Hive's metastore allows a table no more."""

_HEAD: Final = 64
_DIGEST_DIGITS: Final = 32
_DEVICE: Final = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
"""Files that Windows has in each folder."""

_FIRST: Final = re.compile(r"[^A-Za-z0-9]|[xX](?=[0-9A-Fa-f]{4,6}_|_)")
_OTHER: Final = re.compile(r"[^A-Za-z0-9_]|_(?=[xX])")
_FIELDS: Final = frozenset({"system", "database", "schema", "table"})
_SEPARATORS: Final = re.compile(r"(\.)")
_ABSOLUTE: Final = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:")
"""How absolute paths and URIs begin."""


class Template(Struct, frozen=True):
    """How the target of a source is named.

    Attributes:
        text: Name of a table, or a path, with ``{system}``, ``{database}``, ``{schema}`` and
            ``{table}`` in it.
        is_path: Whether it is a path; it is one if it has a slash.
        fields: Which of these the text has.
    """

    text: str
    is_path: bool
    fields: tuple[str, ...]


class Target(Struct, frozen=True):
    """A table that changes go to.

    Attributes:
        name: Its name, quoted for SQL, or its path.
        origin: The names that it was made of, as in the messages.
    """

    name: str
    origin: tuple[str, ...]

    @property
    def folded(self) -> str:
        """The name as catalogs and file systems see it that ignore case."""
        return self.name.lower()


def template_of(text: str) -> Template:
    """Return a template, checked.

    Raises:
        ValueError: It is empty, has another field or one with a format, or a quoted field: fields
            are quoted already.
    """
    try:
        parts = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise ValueError(f"no template of a target, {text!r}: {error}") from None
    for field, form, conversion in parts:
        if field not in _FIELDS or form or conversion:
            raise ValueError(
                f"{{{field}}} is not a field of a target: {', '.join(sorted(_FIELDS))}"
            )
    if not text or any("{" in part and "`" in part for part in _SEPARATORS.split(text)):
        raise ValueError(f"no template of a target, {text!r}: it is empty, or quotes a field")
    return Template(text, is_path(text), tuple(sorted({field for field, _, _ in parts if field})))


def safe_name(name: str) -> str:
    """Return a name that every catalog and file system takes, another one for every other name.

    It has 1 to 128 of the characters A-Z, a-z, 0-9 and ``_``, and begins with none of ``_``, since
    Spark reads no folder that does. Any other character becomes ``_xHHHH_``, its code point, as
    SQL/XML maps names (ISO/IEC 9075-14); what already looks so is mapped too. Where that is longer
    than `LONGEST`, its first 64 characters are followed by 128 bits of the SHA-256 of the name.
    """
    if not name:
        return "x_"
    start = name[0]
    if _FIRST.match(name) or _DEVICE.fullmatch(name):
        start = _mapped(start)
    found = start + _OTHER.sub(lambda match: f"_{_mapped(match[0])}", name[1:])
    if len(found) <= LONGEST:
        return found
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{found[:_HEAD]}_xsha256_{digest[:_DIGEST_DIGITS]}"


def is_path(target: str) -> bool:
    """Whether a target is a path: it has a slash, which no bare name of a table has."""
    return "/" in target


def absolute(target: str, *, is_template: bool = False) -> str:
    """Return a target with a relative path made absolute, below the working directory.

    Names, URIs and absolute paths stay as they are. In a template the braces of the working
    directory are doubled, so that they are not fields.
    """
    if not is_path(target) or _ABSOLUTE.match(target):
        return target
    folder = str(Path.cwd())
    if is_template:
        folder = folder.replace("{", "{{").replace("}", "}}")
    return str(Path(folder, target))


def tables_named(name: str, tables: Iterable[str]) -> list[str]:
    """Return the tables that a person means, of some with `dotted` names.

    These are the table of this name; without one, those whose name ends with it: ``orders`` means
    ``shop.orders``; without one, the same whatever the case of letters.
    """
    folded = name.casefold()
    ways: tuple[Callable[[str], bool], ...] = (
        lambda one: one == name,
        lambda one: one.endswith(f".{name}"),
        lambda one: one.casefold() == folded,
        lambda one: one.casefold().endswith(f".{folded}"),
    )
    names = [*tables]
    return next(filter(None, ([*filter(is_meant, names)] for is_meant in ways)), [])


def _mapped(character: str) -> str:
    return f"x{ord(character):04X}_"


@lru_cache(maxsize=1024)
def target_of(template: Template, source: Source) -> Target | None:
    """Return the target of a source; None if the source lacks a name that the template has.

    In the name of a table, a part with a field is quoted by backticks, so reserved words and
    leading digits do no harm.
    """
    origin = tuple(getattr(source, field) for field in template.fields)
    return None if None in origin else target_from(template, origin)


def target_from(template: Template, origin: tuple[str, ...]) -> Target:
    """Return the target of names, one for each field of a template in the order of `fields`."""
    names = dict(zip(template.fields, map(safe_name, origin), strict=True))
    if template.is_path:
        return Target(template.text.format(**names), origin)
    parts = _SEPARATORS.split(template.text)
    quoted = (f"`{part.format(**names)}`" if "{" in part else part for part in parts)
    return Target("".join(quoted), origin)
