"""Titles of schemas that Python or generated code uses as names: refused, or they hide nothing."""

from __future__ import annotations

import builtins
import keyword
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.codegen.made import family_with, imported

from changewire_codegen.errors import SchemaError
from changewire_codegen.names import CLASS_NAME, RESERVED_TITLES

Node = dict[str, Any]

FUNCTIONS = ["AsBinary64", "Cache", "Decimal", "Drawing", "List", "Re", "St"]
"""Titles whose strategy would have the name of what strategies use."""


def schema(title: str, **more: Any) -> Node:
    """Return the schema of an object: ``x`` must be a number."""
    return {
        "title": title,
        "description": "An object.",
        "type": "object",
        "properties": {
            "x": {"description": "A number.", "type": "number"},
            "y": {"description": "A text.", "type": "string", "pattern": "^[a-z]$"},
            "z": {"description": "A list.", "type": "array", "items": {"type": "string"}},
        },
        "required": ["x", "y", "z"],
        "examples": [{}],
        **more,
    }


@pytest.mark.parametrize("title", keyword.kwlist)
def test_keywords_are_refused_at_the_title(title: str) -> None:
    """A schema whose title is a word of Python is refused, and the error names the place."""
    with pytest.raises(SchemaError) as refused:
        family_with(schema(title))
    assert refused.value.pointer == "/title"


@pytest.mark.parametrize("title", [name for name in dir(builtins) if CLASS_NAME.match(name)])
def test_builtins_are_refused_or_not_hidden(title: str) -> None:
    """A model that has the name of something built in raises the same errors as any other."""
    if keyword.iskeyword(title) or title in RESERVED_TITLES:
        with pytest.raises(SchemaError, match=f"the title '{title}'"):
            family_with(schema(title))
        return
    with (
        imported(family_with(schema(title)), "models") as (models,),
        pytest.raises(msgspec.ValidationError, match="Expected `float`"),
    ):
        msgspec.convert({"x": "1", "y": "a", "z": []}, getattr(models, title))


@pytest.mark.parametrize("title", FUNCTIONS)
def test_a_strategy_hides_nothing_that_strategies_use(title: str) -> None:
    """A title like the name of a module or function that strategies use gives a strategy."""
    names = ("models", "validators", "strategies")
    with imported(family_with(schema(title), numbers="exact"), *names) as (_, checks, drawing):
        (name,) = [name for name in drawing.__all__ if not name.startswith("broken_")]

        @settings(max_examples=5, deadline=None, derandomize=True, database=None)
        @given(getattr(drawing, name)())
        def holds(message: Node) -> None:
            assert checks.errors(message, title) == []

        holds()


def test_a_table_hides_no_type_of_columns() -> None:
    """A table with the name of a column type does not change the columns of the next one."""
    text = {"description": "A text.", "type": "string"}
    tables: list[Node] = [
        {
            "title": title,
            "description": "A row.",
            "type": "object",
            "properties": {"a": text},
            "examples": [{}],
        }
        for title in ("String", "Text")
    ]
    with imported(family_with(*tables, kind="tables"), "fields", "arrow") as (_, arrow):
        assert arrow.TEXT.field("a").type == arrow.STRING.field("a").type == pa.string()
