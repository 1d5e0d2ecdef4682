"""Places that no table may have: those of the log and the checkpoint, and their neighbours."""

import posixpath
import re
from collections.abc import Iterable
from typing import Final

from changewire.tables.names import Template, is_path

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:")
_FIELD: Final = re.compile(r"\{")

Parts = tuple[str, ...]
"""The parts of a path or of a name, as a catalog or file system sees them that ignores case."""


def reserved_places(template: Template, places: Iterable[str]) -> frozenset[Parts]:
    """Return the places that names in messages must not lead to.

    A place is reserved with its neighbours, unless the template itself has its tables there.

    Args:
        template: How tables are named.
        places: Paths or names of the log and the checkpoint.
    """
    root = _parts(_FIELD.split(template.text)[0], is_root=True)
    found = set()
    for place in places:
        if is_path(place) == template.is_path:
            parts = _parts(place)
            beside = parts[:-1]
            found.add(beside if len(beside) > len(root) and beside[: len(root)] == root else parts)
    return frozenset(found)


def is_reserved(target: str, reserved: Iterable[Parts]) -> bool:
    """Whether a target is at a reserved place, within it, or contains it."""
    parts = _parts(target)
    return any(
        parts[: min(len(parts), len(one))] == one[: min(len(parts), len(one))] for one in reserved
    )


def _parts(text: str, *, is_root: bool = False) -> Parts:
    """Return the parts of a path or name; of the start of a template those that are whole."""
    folded = text.lower()
    if not is_path(text):
        parts = folded.replace("`", "").split(".")
        return tuple(parts[:-1] if is_root else parts)
    path = _SCHEME.sub("", folded, count=1)
    whole = path.rpartition("/")[0] if is_root else path
    return tuple(part for part in posixpath.normpath(f"/{whole}").split("/") if part)
