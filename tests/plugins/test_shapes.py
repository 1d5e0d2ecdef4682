"""Formats whose schemas have shapes that none of ours has."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.plugins.installing import forget, install

import changewire as cw
import changewire.arrow as cwa
from changewire_codegen.project import project

NUMBERS = count()
"""Numbers of packages and formats: what is imported is remembered by its name."""

Node = dict[str, Any]
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Return what makes a package of one message, installs it, and returns its format."""

    def made(message: Node, encoding: str = "json") -> str:
        name = f"shape{next(NUMBERS)}"
        family = {"title": "A", "description": "A.", "format": name, "encoding": encoding}
        folder, out = tmp_path / "schemas" / "shape", tmp_path / "out"
        folder.mkdir(parents=True)
        files = {"family": {**family, "roles": {"message": "message"}}, "message": message}
        for file, node in files.items():
            folder.joinpath(f"{file}.json").write_text(json.dumps(node), "utf-8")
        project(folder.parent, name, out, version="1.0", requires=[])
        install(out, name, {"changewire.formats": {name: f"{name}.shape"}})
        monkeypatch.syspath_prepend(str(out))
        forget()
        return name

    yield made
    forget()


def union(arms: list[Node], example: object, title: str = "Message") -> Node:
    """Return the schema of a message that is one of several."""
    definitions = {f"{title}{i}": {"title": f"{title}{i}", **arm} for i, arm in enumerate(arms)}
    return {
        "title": title,
        "description": "A message.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in definitions],
        "$defs": definitions,
        "examples": [example],
    }


def row(*positions: Node) -> Node:
    """Return the schema of an array with exactly some positions."""
    size = len(positions)
    named = [{"title": f"p{i}", "description": "A.", **p} for i, p in enumerate(positions)]
    ends = {"items": False, "minItems": size, "maxItems": size}
    return {"description": "An array.", "type": "array", "prefixItems": named, **ends}


def thing(title: str, **properties: Node) -> Node:
    """Return the schema of an object."""
    described = {name: {"description": "A.", **node} for name, node in properties.items()}
    head = {"title": title, "description": "An object."}
    return {**head, "type": "object", "properties": described}


VALUES = "additionalProperties"
MAP = {"type": "object"}
TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
ZERO, ONE, FEW = {"const": 0}, {"const": 1}, {"enum": [1, 2]}


@pytest.mark.parametrize(
    ("put", "drop", "data"),
    [
        pytest.param((ZERO, TEXT), (ONE, TEXT), "9200a161", id="first"),
        pytest.param((TEXT, ZERO, TEXT), (TEXT, ONE, TEXT), "93a16100a162", id="second"),
        pytest.param((TEXT, ZERO), (TEXT, ONE), "92a16100", id="last"),
        pytest.param((TEXT, ZERO), (TEXT, FEW), "92a16100", id="last of several"),
        pytest.param((ZERO, ZERO), (ONE, ONE), "920000", id="constants alone"),
    ],
)
def test_constants_of_arrays_may_stand_anywhere(
    put: tuple[Node, ...], drop: tuple[Node, ...], data: str, make: Make
) -> None:
    """Its constants identify a message, and they are positions of its model."""
    name = make(union([row(*put), row(*drop)], data), "msgpack")
    message = cw.decode(bytes.fromhex(data), format=name)
    assert (type(message).__name__, message.__struct_fields__) == (
        "Message0",
        tuple(f"p{i}" for i in range(len(put))),
    )
    assert cw.encode(message) == bytes.fromhex(data)
    with pytest.raises(cw.DecodeError):
        cw.decode(bytes.fromhex(data.replace("00", "09")), format=name)


def test_objects_in_lists_and_maps_may_be_null(make: Make) -> None:
    """An element that is null is NULL in a typed column."""
    items = {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]}
    name = make(
        {
            **thing("Message", list={"type": "array", "items": items}, map={**MAP, VALUES: items}),
            "$defs": {"Part": thing("Part", x={"type": "integer"})},
            "examples": [{}],
        }
    )
    data = [b'{"list":[{"x":1},null]}', b'{"map":{"a":null,"b":{"x":2}}}', b'{"list":[null]}']
    messages, dead, _ = cwa.messages(data, format=name).tables()
    assert dead.num_rows == 0
    found = [(row["list"], row["map"]) for row in messages["content"].to_pylist()]
    maps = [("a", None), ("b", {"x": 2})]
    assert found == [([{"x": 1}, None], None), (None, maps), ([None], None)]


@pytest.mark.parametrize(
    ("arm", "other", "valid", "broken"),
    [
        ((INTEGER,), (TEXT,), (2, "a"), (2, 5)),
        ((TEXT,), ({"type": "string", "minLength": 2},), (2, "ab"), (2, "a")),
        ((INTEGER, INTEGER), (TEXT, {"type": "array"}), (2, "a", []), (2, "a", 5)),
    ],
)
def test_the_open_arm_of_arrays_is_checked(
    arm: tuple[Node, ...],
    other: tuple[Node, ...],
    valid: tuple[object, ...],
    broken: tuple[object, ...],
    make: Make,
) -> None:
    """An array of a tag yet unknown is what the open arm asks for."""
    rest = {"type": "integer", "not": {"enum": [1]}}
    inner = union([row(ONE, *arm), row(rest, *other)], "", "Inner")
    reference = {"$ref": "#/$defs/Inner"}
    data = msgspec.msgpack.encode((0, valid))
    message = union([row(ZERO, reference), row(FEW, reference)], data.hex())
    message["$defs"] |= {**inner.pop("$defs"), "Inner": inner}
    del inner["examples"]
    name = make(message, "msgpack")
    assert cw.encode(cw.decode(data, format=name)) == data
    with pytest.raises(cw.DecodeError, match="at /1/"):
        cw.decode(msgspec.msgpack.encode((0, broken)), format=name)


def test_names_may_begin_as_those_of_models(make: Make) -> None:
    """What is unknown below a property comes back, whatever the name of the property is."""
    parts = {"@a": {"$ref": "#/$defs/Part"}, "b": {"$ref": "#/$defs/Part"}}
    definitions = {"$defs": {"Part": thing("Part", x=INTEGER)}}
    name = make({**thing("Message", **parts), **definitions, "examples": [{}]})
    data = b'{"@a":{"new":1},"b":{"new":[2]}}'
    message = cw.decode(data, format=name)
    assert dict(message.extra) == {"/@a/new": 1, "/b/new": [2]}
    assert msgspec.json.decode(cw.encode(message)) == msgspec.json.decode(data)


def test_nan_is_within_no_bounds(make: Make) -> None:
    """The issue of a number says what it breaks, though NaN is neither too small nor too large."""
    number = {"type": "number", "minimum": 0, "maximum": 9}
    name = make(
        union([row(ZERO, number), row(FEW, {"type": "number", "maximum": 9})], "920001"), "msgpack"
    )
    for kind in (0, 1):
        (issue,) = cw.validate(msgspec.msgpack.encode([kind, math.nan]), format=name)
        assert (issue.pointer, issue.code) == ("/1", "out-of-range")
