"""Values of DataWorks columns, by the types that stand beside them."""

from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.dataworks import change

import changewire as cw


def read(kind: str, value: Any) -> tuple[Any, list[str]]:
    """Return the value of a column of a type, and the leniencies that it needed."""
    found = change("INSERT", types={"a/b": kind}, after={"a/b": value})
    assert found.after is not None
    return found.after["a/b"], found.attributes.get("leniencies", [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, datetime(1970, 1, 1, tzinfo=timezone.utc)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc)),
    ],
)
def test_dates_without_a_zone_are_counted(value: int, expected: datetime) -> None:
    """A date is read in UTC, which is a leniency unless UTC is given; NULL is not counted."""
    assert read("DATE", value) == (expected, ["date-read-in-utc"])
    found = change("INSERT", types={"a": "DATE"}, after={"a": value}, time_zone="UTC")
    assert found.after == {"a": expected}
    assert "leniencies" not in found.attributes


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("BOOLEAN", True, True),
        ("BYTES", "AAEC/w==", b"\x00\x01\x02\xff"),
        ("BYTES", "", b""),
        ("STRING", "\u00e9\n", "\u00e9\n"),
        ("LONG", -(2**63), -(2**63)),
        ("LONG", 2**63 - 1, 2**63 - 1),
        ("DOUBLE", 0.1, 0.1),
        ("DOUBLE", 7, 7),
        *((kind, None, None) for kind in ("BOOLEAN", "BYTES", "DATE", "STRING", "LONG", "DOUBLE")),
    ],
)
def test_types(kind: str, value: Any, expected: Any) -> None:
    """A value has the Python type of its column; null is null in each."""
    found, used = read(kind, value)
    assert (found, type(found), used) == (expected, type(expected), [])


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("BOOLEAN", 1, "a boolean"),
        ("BOOLEAN", "true", "a boolean"),
        ("BYTES", "AAE", "Base64 text"),
        ("BYTES", "AA E=", "Base64 text"),
        ("BYTES", "\u00e9\u00e9\u00e9\u00e9", "Base64 text"),
        ("BYTES", 5, "Base64 text"),
        ("DATE", "2021-05-08", "milliseconds since the Unix epoch"),
        ("DATE", True, "milliseconds since the Unix epoch"),
        ("DATE", 1.0, "milliseconds since the Unix epoch"),
        ("STRING", 5, "a text"),
        ("LONG", "5", "an integer of 64 bits"),
        ("LONG", 1.0, "an integer of 64 bits"),
        ("LONG", True, "an integer of 64 bits"),
        ("LONG", 2**64, "an integer of 64 bits"),
        ("LONG", -(2**63) - 1, "an integer of 64 bits"),
        ("DOUBLE", True, "a number, or numeric text"),
        *(
            ("DOUBLE", text, "a number, or numeric text")
            for text in (
                "",
                "x",
                "+Infinity",
                "inf",
                "1_0",
                " 1",
                "\u0661",
                "9" * 1001,
                "1e" + "9" * 30,
                ".",
            )
        ),
    ],
)
def test_values_that_contradict_their_type(kind: str, value: Any, expected: str) -> None:
    """A value of another type is refused, with the place of the value and that of its type."""
    with pytest.raises(cw.DecodeError) as caught:
        read(kind, value)
    (issue,) = caught.value.issues
    assert (issue.code, issue.pointer) == (
        "contradicts-schema",
        "/payload/after/dataColumn/a~1b",
    )
    assert (issue.rule, issue.expected, issue.actual) == ("/schema/dataColumn", expected, value)


def test_the_row_before_is_typed_too() -> None:
    """A contradiction in the row before an update names that row."""
    with pytest.raises(cw.DecodeError) as caught:
        change("UPDATE_AFTER", before={"id": "1"}, after={"id": 1})
    assert caught.value.pointer == "/payload/before/dataColumn/id"


@pytest.mark.parametrize("text", ["1.100000", "-0.0", "1e-7", "+5", ".5", "5.", "9" * 1000])
def test_numeric_text_keeps_its_digits(text: str) -> None:
    """Text in a DOUBLE column becomes a decimal with every digit, and is counted."""
    found, used = read("DOUBLE", text)
    assert (type(found), str(found), used) == (Decimal, str(Decimal(text)), ["numeric-text"])


@pytest.mark.parametrize("value", [2**63, 2**64 - 1])
def test_integers_without_a_sign(value: int) -> None:
    """An integer of 64 bits without a sign stays exact, and is counted."""
    assert read("LONG", value) == (value, ["unsigned-long"])


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("spell", [str, str.lower, str.upper])
def test_numbers_that_are_not_finite(text: str, spell: Callable[[str], str]) -> None:
    """NaN and the infinities, in any case, are the text that they are in other formats."""
    assert read("DOUBLE", spell(text)) == (text, ["non-finite-text"])


@given(value=st.decimals(allow_nan=False, allow_infinity=False))
def test_any_decimal_comes_back(value: Decimal) -> None:
    """A decimal as text comes back with the same digits, sign and exponent."""
    found, _ = read("DOUBLE", str(value))
    assert found.as_tuple() == value.as_tuple()


def test_numbers_that_binary64_cannot_hold_are_decimals() -> None:
    """A JSON number keeps its digits in a DOUBLE column, and is no leniency."""
    message = cw.decode(
        b'{"schema":{"dataColumn":[{"name":"a","type":"DOUBLE"}]},"payload":{"op":"INSERT","after":'
        b'{"dataColumn":{"a":0.12345678901234567890}},"timestamp":{"eventTime":5}},"version":"1"}',
        format="dataworks-json",
    )
    (found,) = cw.changes(message)
    assert found.after == {"a": Decimal("0.12345678901234567890")}
    assert "leniencies" not in found.attributes


@pytest.mark.parametrize("value", [253402300800000, -62135596800001, 10**30])
def test_times_that_python_does_not_have(value: int) -> None:
    """A time before the year 1 or after 9999 stays the number that it was, and is counted."""
    assert read("DATE", value) == (value, ["time-out-of-range"])


@pytest.mark.parametrize("value", [5, "x", {"type": "Point"}, [1, None], True])
def test_unknown_types(value: Any) -> None:
    """A value of a type that is not known stays as JSON has it, and is counted; null is null."""
    assert read("GEOMETRY", value) == (value, ["unknown-column-type"])
    assert read("GEOMETRY", None) == (None, [])


def test_undeclared_columns() -> None:
    """A column that the schema does not declare stays as JSON has it; each one is counted."""
    row = {"id": 1, "x": [1], "y": None}
    found = change("UPDATE_AFTER", before=row, after=row)
    assert (found.before, found.after) == (row, row)
    assert found.attributes["leniencies"] == ["undeclared-column"] * 4


def test_absent_columns_stay_absent() -> None:
    """A declared column that the row lacks is not in the change."""
    found = change("INSERT", types={"id": "LONG", "name": "STRING"}, after={"id": 1})
    assert found.after == {"id": 1}
