"""What the tests of the generator share: where the cases are, and how generated code is used."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from tests.generated.msgpack_reference import is_valid_by

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


VARIANTS = [
    (name, title) for name in CASE_NAMES if name != "tables" for title in variants(name).values()
]
"""The messages of all cases; rows of tables are not messages."""


def errors(family: str, variant: str, obj: object, *, strict: bool = False) -> list[Any]:
    """Return the issues of a parsed message."""
    found: list[Any] = module(family, "validators").errors(obj, variant, strict=strict)
    return found


def encoding(family: str) -> Any:
    """Return the module of msgspec for the encoding of a golden case."""
    package = importlib.import_module(f"{PACKAGE}.{family}")
    return {"json": msgspec.json, "msgpack": msgspec.msgpack}[package.ENCODING]


def is_valid(family: str, schema: Any, obj: Any) -> bool:
    """Tell whether a parsed message is valid by a schema, which is read as its encoding asks."""
    if encoding(family) is msgspec.msgpack:
        return is_valid_by(schema)(obj)
    return Draft202012Validator(schema).is_valid(obj)


def examples(family: str, schema: Any) -> list[Any]:
    """Return the examples of a schema, parsed."""
    texts: list[Any] = schema["examples"]
    if encoding(family) is msgspec.json:
        return texts
    return [msgspec.msgpack.decode(bytes.fromhex(text)) for text in texts]


def copied(obj: object) -> Any:
    """Return a copy of parsed JSON."""
    return msgspec.json.decode(msgspec.json.encode(obj))


def decode(family: str, variant: str, obj: object) -> Any:
    """Return the model of a parsed message, unknown properties and tags included.

    Raises:
        msgspec.ValidationError, LookupError, TypeError, AttributeError: It is no valid one.
    """
    wire: Any = encoding(family)
    kind = getattr(module(family, "models"), variant)
    if variant == "Batch" and wire is msgspec.msgpack and isinstance(obj, list):
        return [decode(family, "Message", item) for item in obj]
    if variant == "Message" and wire is msgspec.msgpack:
        kind = module(family, "dispatch").arm_of(obj)
        if kind is None:
            raise LookupError(variant)
    prepared = wire.decode(wire.encode(obj))
    module(family, "extras").take_out(prepared, _kept_as(variant, kind))
    data = wire.encode(prepared)
    return wire.decode(data, type=kind, dec_hook=_build)


def encode(family: str, variant: str, model: object) -> Any:
    """Return the parsed message that a model stands for."""
    wire = encoding(family)
    obj = wire.decode(wire.encode(model, enc_hook=_plain))
    if wire is msgspec.msgpack and isinstance(model, list):
        return [encode(family, "Message", item) for item in model]
    module(family, "extras").put_back(obj, _kept_as(variant, type(model)))
    return obj


def _kept_as(variant: str, kind: Any) -> str:
    """Return the name by which unknown parts are taken out: of an array, that of its model."""
    is_array = isinstance(kind, type) and getattr(kind, "__struct_config__", None)
    return kind.__name__ if is_array and kind.__struct_config__.array_like else variant


def _build(kind: Any, value: object) -> object:
    return kind(value)


def _plain(value: object) -> object:
    if value is msgspec.UNSET:  # positions without a name, in an array that has none
        return None
    return str(value) if isinstance(value, str) else dict(value)  # type: ignore[call-overload]
