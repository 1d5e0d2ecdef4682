"""The parts of the generator that are worth a test of their own: writer, names, conditions."""

from __future__ import annotations

import ast

import pytest
from tests.codegen.helpers import ROOT

from changewire_codegen.emit.scalars import type_words
from changewire_codegen.names import escape_pointer, inner, python_name, snake
from changewire_codegen.nodes import ArrayOf, Choice, Family, Nullable, RefTo, Scalar
from changewire_codegen.writer import Writer, quoted_docstring


@pytest.mark.parametrize(
    ("wire", "name"),
    [
        ("bins", "bins"),
        ("opType", "op_type"),
        ("#row_id#", "row_id"),
        ("a b", "a_b"),
        ("a--b", "a_b"),
        ("2nd", "field_2nd"),
        ("", "field_"),
        ("###", "field_"),
        ("class", "class_"),
        ("None", "none"),
        ("extra", "extra_"),
        ("field", "field_"),
        ("list", "list_"),
        ("datetime", "datetime_"),
        ("__init__", "init"),
        ("用户", "用户"),
        ("ﬁle", "file"),
        ("²", "field_2"),
    ],
)
def test_wire_name_becomes_an_attribute(wire: str, name: str) -> None:
    """An attribute is an identifier that neither Python nor the class has taken."""
    assert python_name(wire) == name
    assert name.isidentifier()


@pytest.mark.parametrize(
    ("title", "name"), [("Key", "key"), ("KeyBatch", "key_batch"), ("HBaseRow2", "hbase_row2")]
)
def test_title_becomes_a_function(title: str, name: str) -> None:
    """Functions that belong to a class are named after it."""
    assert snake(title) == name


def test_pointer_escapes_its_two_signs() -> None:
    """A name with a slash or a tilde is one step of a JSON Pointer."""
    assert escape_pointer("a/b~c") == "a~1b~0c"


@pytest.mark.parametrize(("outer", "suffix"), [("value", ""), ("item", "2"), ("item2", "3")])
def test_loops_within_loops_have_their_own_variables(outer: str, suffix: str) -> None:
    """A loop over the variable of another does not overwrite it."""
    assert inner(outer) == suffix


def test_writer_indents_blocks() -> None:
    """A line stands as deep as the blocks around it, and an empty block is no syntax error."""
    writer = Writer()
    with writer.block("def f():"):
        with writer.block("if True:"):
            pass
        writer("return 1")
        writer()
    writer("x = f()")
    assert writer.text() == "def f():\n    if True:\n        pass\n    return 1\n\nx = f()\n"


NASTY = [
    'ends with \\"',
    '""""',
    '"',
    "plain",
    'a "quoted" end"',
    'three """ quotes"""',
    "a backslash \\ and \\n and one at the end \\",
    '\\"""; import os; """\\',
    "'''",
    "a bell \x07, a zero \x00 and a lone surrogate \ud800",
    "direction \u202e turned",
    "{x} {{ x }} {% x %} %s",
]


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("paragraphs", [1, 2])
def test_no_text_ends_a_docstring(text: str, paragraphs: int) -> None:
    """Whatever a description holds, it is one docstring and no code, and reads as it was."""
    literal = "\n".join(quoted_docstring((text,) * paragraphs, 100))
    (statement,) = ast.parse(literal).body
    assert isinstance(statement, ast.Expr)
    value = ast.literal_eval(statement.value)
    assert value.rstrip("\n").split("\n\n") == [text] * paragraphs


def test_docstring_is_wrapped() -> None:
    """A long description is broken at blanks, within the width."""
    lines = quoted_docstring(("word " * 60,), 40)
    assert len(lines) > 5
    assert max(map(len, lines)) <= 40
    assert " ".join("\n".join(lines).strip('"').split()) == ("word " * 60).strip()


def test_words_for_types_name_type_and_definition(families: dict[str, Family]) -> None:
    """What is asked for is said by its JSON type, with the name of a definition behind it."""
    family = families["rows"]
    assert type_words(RefTo("Point"), family) == "array (Point)"
    assert type_words(Nullable(RefTo("Point")), family) == "array (Point) or null"
    assert type_words(RefTo("Path"), family) == "array"
    assert type_words(ArrayOf(RefTo("Point")), family) == "array"
    choice = Choice((Scalar("bytes"), Scalar("integer"), Scalar("null")))
    assert type_words(choice, family) == "Base64 text or integer or null"


def test_only_the_entry_point_leads_to_the_comparison_of_schemas() -> None:
    """The generator does not import ``compat``, which imports it."""
    folder = ROOT / "codegen" / "changewire_codegen"
    files = [path for path in folder.rglob("*.py") if path.parent.name != "compat"]
    texts = {path.name: path.read_text("utf-8") for path in files}
    assert [name for name, text in texts.items() if "changewire_codegen.compat" in text] == []
