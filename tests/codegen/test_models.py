"""Models as datamodel-code-generator writes them: names, bounds at any depth, and its warnings."""

from __future__ import annotations

import builtins
import keyword
import subprocess
import sys
import typing
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.codegen.helpers import SCHEMAS
from tests.codegen.made import family_with, imported

from changewire_codegen.emit.models import models
from changewire_codegen.errors import SchemaError
from changewire_codegen.names import CLASS_NAME, RESERVED_TITLES, python_name
from changewire_codegen.nodes import Object, Scalar

Node = dict[str, Any]

ODD_NAMES = (
    *("", " ", "_", "__", "_x", "__x__", "x_", "1", "1a", "²", "a b", "a-b", "a.b", "Odd.a", "a/b"),
    *("a~b", "$ref", "$id", "#", "%s", "{x}", "{% x %}", "it's", "é", "ﬁ", "ß", "用户", "🙂", "aB"),
    *("AB", "class", "None", "match", "self", "cls", "copy", "json", "dict", "schema", "date"),
    *("model_fields", "field", "extra", "Meta", "UNSET", "Int64", "msgspec", "properties"),
    *("x-at", "x-text", "@type"),
)
"""Property names that Python, msgspec, pydantic, JSON Schema or our templates use themselves."""

TITLES = [*dir(builtins), *dir(typing), *dir(msgspec), "Model", "RootModel", "Li", "LiItem"]


def odd(**properties: Node) -> Node:
    """Return the schema of an object whose properties are all optional."""
    described = {name: {"description": "A.", **node} for name, node in properties.items()}
    return {
        "title": "Odd",
        "description": "An object.",
        "type": "object",
        "properties": described,
        "examples": [{}],
    }


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_field_has_the_name_that_other_modules_use(name: str) -> None:
    """A property of any name is a field of the name in Python, and is written as on the wire."""
    family = family_with(odd(**{name: {"type": ["integer", "string"], "minimum": 1}}))
    with imported(family, "models") as (module,):
        model = msgspec.json.decode(msgspec.json.encode({name: 1}), type=module.Odd)
        assert getattr(model, python_name(name)) == 1
        assert msgspec.to_builtins(model) == {name: 1}
        with pytest.raises(msgspec.ValidationError, match="Expected `int` >= 1"):
            msgspec.json.decode(msgspec.json.encode({name: 0}), type=module.Odd)


@pytest.mark.parametrize("name", ["", "@", "@None", "@none", "@open"])
def test_a_property_of_any_name_is_known(name: str) -> None:
    """No name stands for none: what a schema names stays where it is in a message."""
    with imported(family_with(odd(**{name: {}})), "models", "extras") as (_, extras):
        obj = {name: 1, "more": 2}
        extras.take_out(obj, "Odd")
        assert obj == {name: 1, "@extra": {"/more": 2}}


@pytest.mark.parametrize("title", sorted({title for title in TITLES if CLASS_NAME.match(title)}))
def test_a_class_has_the_name_that_other_modules_use(title: str) -> None:
    """A model has the title of its schema as its name, unless the title is refused."""
    items = {"type": "array", "items": {"type": "string", "minLength": 2}}
    schema = {**odd(item=items), "title": title}
    if keyword.iskeyword(title) or title in RESERVED_TITLES:
        with pytest.raises(SchemaError, match=f"the title '{title}'"):
            family_with(schema)
        return
    with imported(family_with(schema), "models") as (module,):
        assert module.__all__ == [title]
        assert getattr(module, title).__name__ == title


TEXTS = (
    "@open",
    "it's",
    '"',
    '"""',
    "\\",
    "{{ x }}",
    "{% raw %}",
    "\x00",
    "\u2028",
    "用户",
    "a\nb",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_tag_may_be_any_text(text: str) -> None:
    """The tag of an arm is data in the code of its model, as are its other constants."""
    arms = [odd(tag={"const": tag}, kind={"enum": [tag, "more"]}) for tag in (text, "other")]
    schemas = [{**arm, "title": f"Arm{i}", "required": ["tag"]} for i, arm in enumerate(arms)]
    union = {
        "title": "Either",
        "description": "One of two.",
        "oneOf": [{"$ref": "sample_0.json"}, {"$ref": "sample_1.json"}],
        "examples": [{}],
    }
    with imported(family_with(*schemas, union), "models") as (module,):
        wire = {"tag": text, "kind": text}
        model = msgspec.json.decode(msgspec.json.encode(wire), type=module.Either)
        assert (type(model), model.tag, model.kind) == (module.Arm0, text, text)
        assert msgspec.to_builtins(model) == wire


BOUNDED: list[tuple[Node, object, object]] = [
    ({"type": "array", "items": {"type": "integer", "minimum": 1}}, [1], [0]),
    ({"type": "array", "items": {"type": ["integer", "null"], "minimum": 1}}, [None, 1], [0]),
    ({"type": "array", "items": {"type": "array", "items": {}, "maxItems": 1}}, [[1]], [[1, 2]]),
    ({"type": "array", "items": {"type": "array", "items": {"enum": ["a"]}}}, [["a"]], [["b"]]),
    (
        {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
        {"a": "b"},
        {"a": ""},
    ),
    ({"type": ["object", "null"], "additionalProperties": {"type": "integer"}}, None, {"a": 2**63}),
    ({"type": ["array", "null"], "items": {"type": "boolean"}, "minItems": 1}, None, []),
    ({"type": ["integer", "string"], "minimum": 1, "pattern": "^a$"}, "a", "a\n"),
    ({"type": ["integer", "number"]}, 2**63 - 1, 2**63),
    ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "number"}]}, -0.5, -1),
    ({"type": ["integer", "number"], "minimum": 0}, 2**63 - 1, -1),
    ({"type": ["integer", "number", "null"], "minimum": 0}, 0.5, -0.5),
]


@pytest.mark.parametrize(("node", "valid", "invalid"), BOUNDED)
def test_bounds_hold_at_any_depth(node: Node, valid: object, invalid: object) -> None:
    """A model keeps the bounds of what is in a list, a map or a union."""
    with imported(family_with(odd(a=node)), "models") as (module,):
        assert msgspec.json.decode(msgspec.json.encode({"a": valid}), type=module.Odd).a == valid
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(msgspec.json.encode({"a": invalid}), type=module.Odd)


def test_a_constraint_that_would_be_lost_is_refused() -> None:
    """Where msgspec cannot check what a schema says, the generator makes no weaker model."""
    family = family_with(odd(a={"type": "integer"}))
    found = family.definitions["Odd"]
    assert isinstance(found, Object)
    wide = replace(found.properties[0], type=Scalar("integer", minimum=-(2**64)))
    family = replace(family, definitions={"Odd": replace(found, properties=(wide,))})
    with pytest.raises(SchemaError, match=r"made_in_memory#: .*Odd\.a is generated without"):
        models(family, "mine")


def test_only_models_need_the_package_that_writes_them() -> None:
    """Neither the generator's import, nor reading and comparing schemas, loads it."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from changewire_codegen import load\n"
        "from changewire_codegen.compat.diff import diff\n"
        f"load(Path({str(SCHEMAS)!r}))\n"
        f"assert not list(diff({str(SCHEMAS)!r}, {str(SCHEMAS)!r}))\n"
        "print('datamodel_code_generator' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
