"""The files of a family as one document, which a package can bring along."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from changewire_codegen.load import FAMILY_FILE
from changewire_codegen.nodes import Family

SOURCE_FILE = "source.json"
"""Name of the document in a generated package."""


def source_document(family: Family) -> str:
    """Return the schema files of a family as they were read, one to a line.

    The canonical schemas beside it stand each for itself. What two states of the schemas differ in
    is told by the places in the files that people edit, so these are shipped as well.
    """
    files: Mapping[str, Any] = {FAMILY_FILE: family.meta, **dict(sorted(family.schemas.items()))}
    lines = [f"{json.dumps(name)}: {_compact(text)}" for name, text in files.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
