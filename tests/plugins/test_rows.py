"""Rows of changes as models, and types of rows for Spark, of somebody's own row schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.plugins.installing import PACKAGE
from tests.plugins.shop import FILES, FORMAT
from tests.runtime.engines.rows import DATE_TIMES, JAVA_TIMES, aerospike

import changewire as cw
import changewire.arrow as cwa
import changewire.spark as cws
import changewire_messages.aerospike_msgpack as packed
from changewire_library.messages import MessageError, Messages

pytestmark = pytest.mark.usefixtures("installed")

SINCE = datetime(2024, 1, 1, tzinfo=timezone.utc)


@pytest.fixture
def user() -> Any:
    """The model of a row."""
    return import_module(f"{PACKAGE}.rows").User


def test_a_row_becomes_a_model(user: Any) -> None:
    """Values are those of the change; what the schema does not name is kept."""
    row = {"name": "a", "age": 41, "since": SINCE, "photo": b"\x00", "new/1": [1]}
    found = cw.row(row, user)
    assert type(found) is user
    assert (found.name, found.age, found.since, found.photo) == ("a", 41, SINCE, b"\x00")
    assert dict(found.extra) == {"/new~11": [1]}


def test_rows_of_tables_are_read_too(user: Any) -> None:
    """The JSON text of a change log is read as the row that it stands for."""
    row = {"name": None, "since": SINCE, "photo": b"\x00"}
    assert cw.row(msgspec.json.encode(row), user) == cw.row(row, user)
    assert cw.row('{"name":null}', user).age is msgspec.UNSET


def test_a_decimal_is_text_where_the_schema_says_text(user: Any) -> None:
    """A decimal keeps its digits as text; a number of the schema is the nearest double."""
    assert cw.row({"name": Decimal("1.10")}, user).name == "1.10"
    paid = Decimal("0.10")
    row = {"name": None, "paid": [paid, None], "rates": {"a": paid}, "cart": {"total": paid}}
    found = cw.row(row, user)
    assert found == cw.row(msgspec.json.encode(row), user)
    assert (found.paid, found.rates, found.cart.total) == (["0.10", None], {"a": "0.10"}, "0.10")


@pytest.mark.parametrize("number", ["0.5", "3", "-1E-7", "12345678901234567890.10"])
def test_a_number_that_is_text_in_a_log_is_the_number_of_the_change(user: Any, number: str) -> None:
    """A log has decimals as text, to keep their digits; what is text in the row stays text."""
    row = {"name": number, "score": number, "age": "3", "new": number, "rates": {"a": number}}
    found = cw.row(json.dumps(row), user)
    assert found == cw.row({**row, "score": Decimal(number), "age": Decimal(3)}, user)
    assert (found.score, found.age, found.name) == (float(number), 3, number)


@pytest.mark.parametrize("text", ["", "1E+400", "NaN", "0x1", "1_0", " 1", "01", "a"])
def test_text_of_a_log_that_is_no_number_is_refused(user: Any, text: str) -> None:
    """At its place, and no number beside it."""
    row = {"name": None, "score": text, "age": "3"}
    with pytest.raises(cw.DecodeError) as caught:
        cw.row(json.dumps(row), user)
    assert [issue.pointer for issue in caught.value.issues] == ["/score"]
    with pytest.raises(cw.DecodeError, match="/score: expected number, found string"):
        cw.row({**row, "age": 3, "score": "1"}, user)


def test_a_decimal_is_text_where_the_schema_allows_any_value(user: Any) -> None:
    """As in the log: no digit is lost in a column that has no type, or that the schema lacks."""
    wide, far = Decimal("12345678901234567890.10"), Decimal("1E+400")
    more = {"wide": wide, "list": [wide, {"far": far}], "map": {"far": [far]}, "double": 0.5}
    found = cw.row({"name": far, "score": wide, **more}, user)
    texts = {"/list": [str(wide), {"far": "1E+400"}], "/map": {"far": ["1E+400"]}, "/double": 0.5}
    assert dict(found.extra) == {"/wide": str(wide), **texts}
    assert (found.name, found.score) == ("1E+400", float(wide))


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        ({"score": Decimal("-1E+400")}, "/score"),
        ({"cart": {"total": Decimal("1E+400"), "a/b": [1, object()]}}, "/cart/a~1b/1"),
        (5, ""),
    ],
)
def test_a_value_that_no_model_can_have_has_its_place(user: Any, row: Any, pointer: str) -> None:
    """A number beyond binary64 in a column of numbers, and a value that JSON does not have."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.row(row, user)
    assert [(issue.pointer, issue.code) for issue in caught.value.issues] == [
        (pointer, "not-encodable")
    ]


def test_a_row_that_breaks_a_rule_has_every_issue(user: Any) -> None:
    """The error names columns and rules, and shows no value."""
    with pytest.raises(cw.DecodeError) as caught:
        cw.row({"age": -1, "since": "secret"}, user)
    found = {(issue.pointer, issue.code) for issue in caught.value.issues}
    expected = {("/name", "missing-property"), ("/age", "out-of-range"), ("/since", "invalid-time")}
    assert found == expected
    assert "secret" not in str(caught.value)
    with pytest.raises(cw.DecodeError, match="not-encodable"):
        cw.row({"name": object()}, user)


_OTHERS = (cw.aerospike_json.Message, cw.aerospike_json.Key)


@pytest.mark.parametrize("kind", [int, None, packed.Delete, *_OTHERS])
def test_only_models_of_schemas_are_read(kind: Any) -> None:
    """Anything else is wrong usage, and said to be so."""
    with pytest.raises(TypeError, match="is not a model of a JSON schema of rows"):
        cw.row({}, kind)


def test_types_of_rows_are_those_that_the_schema_gives(made: Path) -> None:
    """The StructType of the package is the one that Spark gets from the schema, without it."""
    types = import_module(f"{PACKAGE}.rows.rows")
    assert types.__all__ == ["USER"]
    assert cws.row_type(FILES["rows/user.json"]) == types.USER
    assert not (made / PACKAGE / "shop" / "rows.py").exists()


def test_every_reader_takes_the_same_times(user: Any) -> None:
    """`cw.row`, a codec, the package alone and validators read a date-time alike.

    So do columns, which take also what Java writes.
    """
    validators, alone = import_module(f"{PACKAGE}.rows.validators"), Messages(f"{PACKAGE}.shop")

    def by_row(text: str) -> Any:
        return cw.row({"name": "a", "since": text}, user).since

    def by_codec(text: str) -> Any:
        return cw.codec(FORMAT).decode(_placed(text)).at

    def by_package(text: str) -> Any:
        return alone.decode(_placed(text)).at

    def by_column(text: str) -> Any:
        messages = [aerospike(("name", "str", "a"), ("since", "str", text))]
        decoded = cwa.decode(messages, format="aerospike-json", row_schema=FILES["rows/user.json"])
        (row,) = decoded.rows.read_all().to_pylist()
        return row["after"]["since"] if row["kind"] == "change" else None

    for read in (by_row, by_codec, by_package):
        assert {text: _of(read, text) for text in DATE_TIMES} == DATE_TIMES, read.__name__
    columns = DATE_TIMES | JAVA_TIMES
    assert {text: _of(by_column, text) for text in columns} == columns
    for text, time in DATE_TIMES.items():
        is_valid = not validators.errors({"name": "a", "since": text}, "User")
        assert is_valid == (time is not None), text


def test_a_batch_with_a_wrong_time_loses_one_element() -> None:
    """The others of the batch are read."""
    texts = ["2024-01-01T12:00:00Z", "2024-01-01T12:00:00", "2024-01-01t12:00:00z"]
    batch = b"[" + b",".join(map(_placed, texts)) + b"]"
    found = cw.codec(FORMAT).decode_all(batch)
    assert [getattr(one, "at", None) for one in found] == [DATE_TIMES[text] for text in texts]
    assert (found[1].pointer, found[1].code, found[1].element) == ("/at", "invalid-time", 1)


def test_a_time_without_an_offset_is_not_written(user: Any) -> None:
    """What no reader takes is neither sent, nor a row."""
    naive = datetime(2024, 1, 1)  # noqa: DTZ001 - that is the case
    with pytest.raises(cw.DecodeError, match=r"/since: .*invalid-time"):
        cw.row({"name": "a", "since": naive}, user)
    placed = import_module(f"{PACKAGE}.shop").Placed(order=1, at=naive)
    with pytest.raises(cw.EncodeError, match=r"/at: .*invalid-time"):
        cw.codec(FORMAT).encode(placed)
    with pytest.raises(MessageError):
        Messages(f"{PACKAGE}.shop").encode(placed)


def _placed(text: str) -> bytes:
    return json.dumps({"kind": "placed", "order": 1, "at": text}).encode()


def _of(read: Callable[[str], Any], text: str) -> Any:
    """Return what a reader makes of a text; None if it is refused, and not for another reason."""
    try:
        return read(text)
    except cw.DecodeError as error:
        codes = {issue.code for issue in error.issues}
    except MessageError as error:
        codes = {issue[1] for issue in error.issues}
    return None if codes in ({"invalid-time"}, {"format"}) else codes
