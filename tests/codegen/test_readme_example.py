"""The schema in the README of the schemas has the keywords that no family needs, and they work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.codegen.helpers import SCHEMAS

from changewire_codegen.judge import Judge
from changewire_codegen.load import family_of

DIALECT = json.loads((SCHEMAS / "dialect.json").read_text("utf-8"))["$defs"]["node"]["properties"]
PAYMENT = {"state": "refused", "iban": "DE02120300000000202051", "code": "AC04"}


def example() -> dict[str, Any]:
    """Return the schema in the README."""
    text = (SCHEMAS / "README.md").read_text("utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    found: dict[str, Any] = json.loads(block)
    return found


def keywords(node: Any) -> Iterator[str]:
    """Yield the keywords of a schema, or of a list of them, and of all schemas below."""
    if isinstance(node, list):
        for one in node:
            yield from keywords(one)
    elif isinstance(node, dict):
        yield from node
        for keyword in ("oneOf", "anyOf", "prefixItems", "items", "additionalProperties"):
            yield from keywords(node.get(keyword))
        for keyword in ("properties", "$defs"):
            yield from keywords([*node.get(keyword, {}).values()])


def test_each_keyword_is_used_by_a_family_or_by_the_example() -> None:
    """The dialect has no keyword that neither our schemas nor the example in the README use."""
    schemas = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*/*.json")]
    assert {*DIALECT} <= {word for schema in [*schemas, example()] for word in keywords(schema)}


@pytest.mark.parametrize(
    ("changed", "issue"),
    [
        ({}, []),
        ({"state": "paid", "code": None}, ["/code"]),
        ({"iban": "DE02"}, ["/iban"]),
        ({"iban": "D" * 35}, ["/iban"]),
        ({"code": "ac04"}, ["/code"]),
        ({"code": ...}, []),
        ({"state": "paid", "code": ...}, []),
    ],
)
def test_the_example_means_what_it_says(changed: dict[str, Any], issue: list[str]) -> None:
    """Lengths and pattern of the example refuse what breaks them, and nothing else."""
    meta = {"title": "Shop", "description": "The shop.", "encoding": "json"}
    texts = {
        "family.json": json.dumps(meta).encode(),
        "payment.json": json.dumps(example()).encode(),
    }
    message = {name: value for name, value in {**PAYMENT, **changed}.items() if value is not ...}
    assert Judge(family_of("shop", texts)).issues(message, "payment.json", strict=True) == issue
