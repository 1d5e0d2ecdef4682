"""What the tests of the generator share: where the cases are, and how generated code is used."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
CASES = Path(__file__).with_name("cases")
REFUSALS = Path(__file__).with_name("refusals")

PACKAGE = "cases"
"""Import name under which the golden cases are generated."""

CASE_NAMES = sorted(path.parent.name for path in CASES.glob("*/family.json"))


def module(family: str, name: str) -> ModuleType:
    """Return a generated module of a golden case."""
    return importlib.import_module(f"{PACKAGE}.{family}.{name}")


def variants(family: str) -> dict[str, str]:
    """Return the title of each schema file of a golden case, by its stem."""
    folder = CASES / family
    files = sorted(path for path in folder.glob("*.json") if path.name != "family.json")
    return {path.stem: msgspec.json.decode(path.read_bytes())["title"] for path in files}


VARIANTS = [(name, title) for name in CASE_NAMES for title in variants(name).values()]


def errors(family: str, variant: str, obj: object, *, closed: bool = False) -> list[Any]:
    """Return the issues of a parsed message."""
    found: list[Any] = module(family, "validators").errors(obj, variant, closed=closed)
    return found


def copied(obj: object) -> Any:
    """Return a copy of parsed JSON."""
    return msgspec.json.decode(msgspec.json.encode(obj))


def decode(family: str, variant: str, obj: object) -> Any:
    """Return the model of a parsed message, unknown properties and tags included.

    Raises:
        msgspec.ValidationError, LookupError, TypeError, AttributeError: It is no valid one.
    """
    prepared = copied(obj)
    module(family, "extras").take_out(prepared, variant)
    kind = getattr(module(family, "models"), variant)
    data = msgspec.json.encode(prepared)
    return msgspec.json.decode(data, type=kind, dec_hook=lambda hint, value: hint(value))


def encode(family: str, variant: str, model: object) -> Any:
    """Return the parsed message that a model stands for."""
    data = msgspec.json.encode(model, enc_hook=_plain)
    obj = msgspec.json.decode(data)
    module(family, "extras").put_back(obj, variant)
    return obj


def _plain(value: object) -> object:
    return str(value) if isinstance(value, str) else dict(value)  # type: ignore[call-overload]
