"""Types of columns as people write them, compared with what Spark reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import StructType

from changewire.engines.typed.sql_types import type_of_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = (
    *("bigint", "BIGINT", "long", "int", "integer", "smallint", "short", "tinyint", "byte"),
    *("boolean", "string", "binary", "double", "float", "real", "date"),
    *("timestamp", "timestamp_ltz", "timestamp_ntz"),
    *("decimal", "dec(5)", "numeric(12, 2)", "DECIMAL(38,38)"),
    *("array<string>", "array< array<decimal(3,1)> >", "map<string,array<map<int,date>>>"),
    "map<string," * 30 + "int" + ">" * 30,
    *("struct<a:int>", "STRUCT<a int, `b c``d` : array<string>, 2x: struct<e: date>>"),
)


def test_types_are_those_of_spark(spark: SparkSession) -> None:
    """The JSON form is the one that Spark makes of the same text."""
    del spark  # it reads types
    for text in TYPES:
        found: Any = StructType.fromDDL(f"x {text}").jsonValue()
        assert type_of_text(text) == found["fields"][0]["type"], text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a type such as bigint, .*, found the end"),
        ("void", "expected a type such as bigint, .*, found 'void'"),
        ("varchar(3)", "expected a type such as"),
        ("decimal(39)", "a decimal has 1 to 38 digits"),
        ("decimal(0)", "a decimal has 1 to 38 digits"),
        ("decimal(3,4)", "a decimal has 1 to 38 digits"),
        ("decimal(3,-1)", "expected a number of digits, found '-'"),
        ("decimal(3", r"expected '\)', found the end"),
        ("int not null", "expected the end, found 'not'"),
        ("array<int", "expected '>', found the end"),
        ("map<int>", "expected ',', found '>'"),
        ("struct<>", "expected the name of a field, found '>'"),
        ("struct<a int, A int>", "two fields have one name, whatever its case"),
        ("array<" * 31 + "int" + ">" * 31, "expected at most 30 levels of nesting"),
        ("struct<a:" * 999, "expected at most 30 levels of nesting"),
    ],
)
def test_other_texts_are_refused(text: str, reason: str) -> None:
    """The error has the text, and says what is wrong with it."""
    with pytest.raises(
        ValueError, match=f"is not a type of a column: .*{reason}|{reason}"
    ) as error:
        type_of_text(text)
    assert repr(text) in str(error.value)
