"""Pairs of schemas, and what other libraries and the generated code say of their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from tests.generated.msgpack_reference import is_valid_by
from tests.runtime.codec.oracles import Extended

from changewire_codegen.bundle import bundle
from changewire_codegen.compat.diff import Compared, compare_families
from changewire_codegen.compat.rules import Side
from changewire_codegen.compat.sources import families_of
from changewire_codegen.emit.strategies import strategies
from changewire_codegen.names import snake
from changewire_codegen.nodes import Family
from changewire_messages.bundles import schemas_of

PAIRS = Path(__file__).parent
NAMES = sorted(path.parent.name for path in PAIRS.glob("*/expected.json"))


@dataclass(frozen=True)
class Expected:
    """What stands beside a pair: the worst verdict of each side, and the rules that speak."""

    readers: str
    writers: str
    rules: list[str]


def expected(name: str) -> Expected:
    """Return what a pair is expected to be judged."""
    return msgspec.json.decode(PAIRS.joinpath(name, "expected.json").read_bytes(), type=Expected)


def state(name: str, side: str) -> str:
    """Return the file, or the folder, of one state of a pair."""
    folder = PAIRS / name / side
    return str(folder if folder.is_dir() else folder.with_suffix(".json"))


@cache
def compared(name: str) -> list[Compared]:
    """Return the differences of a pair."""
    return compare_families(families_of(state(name, "old")), families_of(state(name, "new")))


def sides(item: Compared, side: Side) -> tuple[Family | None, Family | None]:
    """Return who writes and who reads where a side is asked."""
    return (item.old, item.new) if side == "readers" else (item.new, item.old)


def strategy(family: Family, file: str) -> Any:
    """Return the generated Hypothesis strategy of the messages of a schema file."""
    names: dict[str, Any] = {"__name__": "tests.compat.made"}
    exec(compile(strategies(family, "changewire_messages"), "<generated>", "exec"), names)  # noqa: S102 - what we generated
    return names[snake(family.schemas[file]["title"])]()


def examples(family: Family, file: str) -> list[Any]:
    """Return the examples of a schema file, parsed."""
    found: list[Any] = family.schemas[file]["examples"]
    is_json = family.encoding == "json"
    return found if is_json else [msgspec.msgpack.decode(bytes.fromhex(text)) for text in found]


def verdict_of(family: Family, file: str) -> Callable[[Any], bool]:
    """Return the verdict of ``jsonschema``, by the canonical schema of a file."""
    schema = schemas_of(bundle(family))[family.schemas[file]["title"]]
    if family.encoding == "msgpack":
        return is_valid_by(schema)
    return _json_verdict(schema)


def needs_leniency(family: Family, node: Mapping[str, Any], value: Any) -> bool:
    """Tell, by ``jsonschema`` alone, whether a message uses a leniency that its schema counts.

    Args:
        family: Whose schema it is; references lead within one file.
        node: The schema, or a part of it.
        value: A message that is valid by it, or that part of the message.
    """
    counted = node.get("x-leniency", {}).values()
    if any(Draft202012Validator(condition).is_valid(value) for condition in counted):
        return True
    return any(needs_leniency(family, part, item) for part, item in _below(family, node, value))


def _below(
    family: Family, node: Mapping[str, Any], value: Any
) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Yield each part of a schema that a value stands under, with the value there."""
    for name, part in node.get("properties", {}).items():
        if name in value:
            yield part, value[name]
    yield from zip(node.get("prefixItems", ()), value if type(value) is list else (), strict=False)
    if node.get("items"):
        yield from ((node["items"], item) for item in value)
    definitions = next(iter(family.schemas.values())).get("$defs", {})
    is_valid = is_valid_by if family.encoding == "msgpack" else _json_verdict
    for arm in [*node.get("oneOf", ()), *([node] if "$ref" in node else [])]:
        target = definitions[arm["$ref"].rpartition("/")[2]]
        if is_valid({**target, "$defs": definitions})(value):
            yield target, value


def _json_verdict(schema: Any) -> Callable[[Any], bool]:
    is_valid: Callable[[Any], bool] = Extended(schema).is_valid
    return is_valid
