"""Families to the text of every generated file: a pure function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from changewire_codegen.canonical import canonical_schemas
from changewire_codegen.emit.arrow import arrow
from changewire_codegen.emit.dispatch import dispatch
from changewire_codegen.emit.extras import extras
from changewire_codegen.emit.leniencies import leniencies
from changewire_codegen.emit.models import models
from changewire_codegen.emit.package import family_init, package_init
from changewire_codegen.emit.page import page
from changewire_codegen.emit.spark import spark
from changewire_codegen.emit.strategies import strategies
from changewire_codegen.emit.validators import validators
from changewire_codegen.formatting import formatted
from changewire_codegen.nodes import Family

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

SHARED = ("columns.py", "drawing.py", "forms.py", "support.py")
"""Modules that all families of a package share."""

TEMPLATES = Path(__file__).parent / "emit" / "templates"


def render(families: Sequence[Family], package: str) -> dict[str, str]:
    """Return the text of every file of a generated package, by path below the package.

    The same families give the same bytes, on any machine and in any order of hashing.
    """
    sources = {"__init__.py": package_init(families, package)}
    for name in SHARED:
        template = (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
        sources[name] = template.replace("PACKAGE", package)
    for family in families:
        for name, emit in {**EMITTERS, **OF_ENCODING[family.encoding]}.items():
            sources[f"{family.name}/{name}"] = emit(family, package)
    files = {"py.typed": "", **formatted(sources, package)}
    for family in families:
        for name, text in canonical_schemas(family).items():
            files[f"{family.name}/schemas/{name}"] = text
    return dict(sorted(files.items()))


def render_pages(families: Sequence[Family]) -> dict[str, str]:
    """Return the reference page of each family, by file name."""
    return {f"{family.name}.md": page(family) for family in families}
