"""Families to the text of every generated file: a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from changewire_codegen.canonical import canonical_schemas
from changewire_codegen.emit.arrow import arrow
from changewire_codegen.emit.dispatch import dispatch
from changewire_codegen.emit.extras import extras
from changewire_codegen.emit.leniencies import leniencies
from changewire_codegen.emit.models import models
from changewire_codegen.emit.package import family_init, package_init
from changewire_codegen.emit.page import page
from changewire_codegen.emit.rows import rows
from changewire_codegen.emit.shared import modules_of, own_modules
from changewire_codegen.emit.spark import spark
from changewire_codegen.emit.strategies import strategies
from changewire_codegen.emit.validators import validators
from changewire_codegen.formatting import formatted
from changewire_codegen.nodes import Family
from changewire_codegen.sources import SOURCE_FILE, source_document

Emitter = Callable[[Family, str], str]

EMITTERS: Mapping[str, Emitter] = {
    "__init__.py": family_init,
    "arrow.py": arrow,
    "extras.py": extras,
    "leniencies.py": leniencies,
    "models.py": models,
    "spark.py": spark,
    "strategies.py": strategies,
    "validators.py": validators,
}
"""The modules of a family."""

OF_ENCODING: Mapping[str, Mapping[str, Emitter]] = {
    "json": {},
    "msgpack": {"dispatch.py": dispatch},
}
"""The modules that only a family of an encoding has."""

OF_ROWS: Mapping[str, Emitter] = {"rows.py": rows}
"""The modules of a family that is no wire format, in a package that is used by the runtime."""


def render(
    families: Sequence[Family], package: str, *, beside: str | None = None
) -> dict[str, str]:
    """Return the text of every file of a generated package, by path below the package.

    The same families give the same bytes, on any machine and in any order of hashing.

    Args:
        families: What it holds.
        package: Its import name.
        beside: Import name of a generated package that stands beside it, whose shared modules it
            uses; without one it has its own, and needs nothing else.
    """
    shared = own_modules(package) if beside is None else modules_of(beside)
    sources = {"__init__.py": package_init(families, package), **shared}
    for family in families:
        more = OF_ROWS if beside and family.format is None else {}
        for name, emit in {**EMITTERS, **OF_ENCODING[family.encoding], **more}.items():
            sources[f"{family.name}/{name}"] = emit(family, package)
    files = {"py.typed": "", **formatted(sources, package)}
    for family in families:
        for name, text in canonical_schemas(family).items():
            files[f"{family.name}/schemas/{name}"] = text
        files[f"{family.name}/{SOURCE_FILE}"] = source_document(family)
    return dict(sorted(files.items()))


def render_pages(families: Sequence[Family]) -> dict[str, str]:
    """Return the reference page of each family, by file name."""
    return {f"{family.name}.md": page(family) for family in families}
