"""The examples of the schemas: those of the formats' documents, and some more."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_SCHEMAS: Final = Path(__file__).resolve().parents[2] / "schemas"


def examples(family: str, *variants: str) -> Iterator[Any]:
    """Yield the examples of some variants of a family."""
    for variant in variants:
        yield from json.loads((_SCHEMAS / family / f"{variant}.json").read_bytes())["examples"]
