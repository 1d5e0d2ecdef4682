"""``extras.py`` of a family: what takes unknown parts out of its messages, and puts them back."""

from __future__ import annotations

from changewire_codegen.alone import alone_names
from changewire_codegen.flat import flat_names
from changewire_codegen.nodes import Family, Row
from changewire_codegen.writer import Writer, module_docstring


def extras(family: Family, package: str) -> str:
    """Return the source of the module, unformatted."""
    rows = [d.name for d in family.definitions.values() if isinstance(d, Row) and d.is_open]
    alone, flat = alone_names(family), flat_names(family)
    arguments = [f"open_rows={sorted(rows)!r}"] if rows else []
    arguments += [f"alone={alone!r}"] if alone else []
    arguments += [f"flat={flat!r}"] if flat else []
    writer = Writer()
    writer(module_docstring("Unknown properties and tags", family))
    writer("from __future__ import annotations")
    writer("from typing import Final")
    writer(f"from {package}.{family.name} import models")
    writer(f"from {package}.unknown import UnknownParts")
    writer("__all__ = ['put_back', 'take_out']")
    writer(f"_unknown: Final = UnknownParts({', '.join(['models', *arguments])})")
    writer("take_out = _unknown.take_out")
    writer("put_back = _unknown.put_back")
    return writer.text()
