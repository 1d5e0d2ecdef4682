"""Rows of changes as models, and types of rows for Spark, of somebody's own row schemas."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.plugins.installing import PACKAGE
from tests.plugins.shop import FILES

import changewire as cw
import changewire.spark as cws
import changewire_messages.aerospike_msgpack as packed
from changewire.engines.typed.readings import ROW_SCHEMA, TYPED_BY
from changewire_codegen.emit import columns as emitted

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


@pytest.mark.parametrize("kind", [int, packed.Delete, cw.aerospike_json.Message])
def test_only_models_of_schemas_are_read(kind: Any) -> None:
    """Anything else is wrong usage, and said to be so."""
    with pytest.raises(TypeError, match="is not a model of a JSON schema of rows"):
        cw.row({}, kind)


def test_types_of_rows_are_those_that_the_schema_gives(made: Path) -> None:
    """The StructType of the package is the one that Spark gets from the schema, without it."""
    types = import_module(f"{PACKAGE}.rows.rows")
    assert types.__all__ == ["USER"]
    assert cws.row_type(FILES["rows/user.json"]) == types.USER
    assert emitted.ROW_SCHEMA == {TYPED_BY: ROW_SCHEMA}
    assert not (made / PACKAGE / "shop" / "rows.py").exists()
