"""Drafts of row schemas: what was seen fits them, and they tell no value of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.runtime.changes import dataworks

import changewire as cw
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.typed.decode import TypedDecoder
from changewire.engines.typed.schemas import given_columns
from changewire.framing import read
from changewire.infer import TableError, profile
from changewire.infer.infer import Observer
from changewire.infer.kinds import JOINED, kind_of
from changewire.infer.profile import ANY, Profile, Room
from changewire_codegen.load import family_of

EXAMPLES = Path(__file__).parents[3] / "examples"
AEROSPIKE = "aerospike-json"
FAMILY = b'{"title": "Rows", "description": "Rows.", "encoding": "json"}'


def write(bins: dict[str, Any], table: str = "users") -> bytes:
    """Return a write of a record whose bins are maps, lists and scalars of JSON."""
    types = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "map"}
    message = {
        "msg": "write",
        "key": ["shop", table, "YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", 1],
        "gen": 1,
        "exp": 0,
        "lut": 0,
        "bins": [
            {"name": name, "type": types[type(value)], "value": value}
            for name, value in bins.items()
        ],
    }
    return json.dumps(message).encode()


def drafted(messages: Sequence[bytes], **options: Any) -> dict[str, Any]:
    """Return the drafted schema of messages, which the generator takes as one of a family."""
    schema = cw.infer(messages, format=AEROSPIKE, **options).schema
    family_of("rows", {"family.json": FAMILY, "row.json": json.dumps(schema).encode()})
    return schema


def dead_letters(messages: Sequence[bytes], schema: dict[str, Any], name: str) -> int:
    """Return how many elements of messages are dead letters where rows have a schema's types."""
    decode_options = DecodeOptions(name)
    decode = TypedDecoder(decode_options, given_columns(schema, decode_options))
    batch = pa.RecordBatch.from_pydict({"value": pa.array(messages, pa.binary())})
    kinds = [kind for rows in decode(batch) for kind in rows.column("kind").to_pylist()]
    return kinds.count("dead_letter")


def test_a_draft_says_what_was_seen() -> None:
    """Columns come in their order, with how often they were there, null, and of which type."""
    rows = [{"id": 7, "name": "a", "at": {"x": 1.5}}, {"id": 8, "tags": ["a"], "at": {"x": 2}}]
    schema = drafted([write(row) for row in rows], title="User")
    assert schema["title"] == "User"
    assert schema["required"] == ["id", "at"]
    assert list(schema["properties"]) == ["id", "name", "at", "tags"]
    kinds = {name: (p.get("type"), p["$comment"]) for name, p in schema["properties"].items()}
    assert kinds == {
        "id": ("integer", "In 2 of 2 rows."),
        "name": ("string", "In 1 of 2 rows."),
        "at": (None, "In 2 of 2 rows."),
        "tags": ("array", "In 1 of 2 rows."),
    }
    at = schema["$defs"]["UserAt"]["properties"]
    assert at["x"]["type"] == "number"
    assert at["x"]["$comment"] == "In 2 of 2 objects. Seen: float 1, integer 1."
    assert schema["examples"] == [{"id": 0, "name": "", "at": {"x": 0.5}, "tags": []}]


def test_the_same_messages_give_the_same_draft() -> None:
    """Neither the time nor the order of hashing stands in it."""
    messages = [write({"a": 1, "b": {"c": [1, "x"]}}), write({"b": {}, "d": True})]
    first = json.dumps(drafted(messages))
    assert json.dumps(drafted(messages)) == first


def test_no_value_is_told_unless_asked() -> None:
    """Names and types are found; bounds of integers if they are asked for."""
    messages = [
        write({"pin": number, "name": "secret", "map": {"k": "secret"}}) for number in (4711, 4713)
    ]
    assert not [word for word in ("secret", "471") if word in json.dumps(drafted(messages))]
    shown = drafted(messages, show_values=True)
    assert shown["properties"]["pin"]["$comment"].endswith("Integers from 4711 to 4713.")
    assert "secret" not in json.dumps(shown)


UTC = timezone.utc


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None], profile.INTEGER),
        ([1, 1.5], profile.FLOAT),
        ([2**60, 1.5], ANY),
        ([2**70], ANY),
        ([Decimal("1.10"), 2], profile.FLOAT),
        ([Decimal("0.1234567890123456789")], profile.DECIMAL),
        ([Decimal("0.1234567890123456789"), 1], ANY),
        (["a", date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)], profile.STRING),
        ([datetime(2024, 1, 1, tzinfo=UTC)], profile.TIME),
        ([timedelta(1)], profile.TEXT),
        ([b"a"], profile.BYTES),
        ([b"a", "a"], ANY),
        ([True, 1, "a"], JOINED),
        ([True, 1.5], ANY),
        ([[1]], profile.ARRAY),
        ([[1], {"a": 1}], ANY),
        ([{"a": 1}, None], profile.OBJECT),
        ([None], ANY),
        ([{1: 2}], ANY),
    ],
)
def test_the_kind_of_a_place_takes_all_its_values(values: list[Any], kind: str) -> None:
    """A narrower type than that of all values would refuse one of them."""
    place = Profile(Room())
    for value in values:
        place.add(value)
    assert kind_of(place) == kind


TEXTS = st.text(max_size=3)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)


def _collections(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    items = inner | st.none()
    return st.lists(items, max_size=3) | st.dictionaries(TEXTS, items, max_size=3)


JSON = st.recursive(st.booleans() | NUMBERS | TEXTS, _collections, max_leaves=6)
COLUMNS = st.sampled_from(["a", "b", "a b", "C", "class", "数"])
"""Names that differ in more than case: no table has two columns that differ only in case."""
ROWS = st.lists(st.dictionaries(COLUMNS, JSON, max_size=4), min_size=1, max_size=3)


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(ROWS)
def test_every_row_that_was_seen_fits(rows: list[dict[str, Any]]) -> None:
    """Whatever the rows are, their draft is in the dialect, and typed rows refuse none of them."""
    messages = [write(row) for row in rows if row]
    if messages:
        assert dead_letters(messages, drafted(messages), AEROSPIKE) == 0


@pytest.mark.parametrize(
    "path",
    [
        "aerospike_json/users.jsonl",
        "dataworks_json/items.jsonl.gz",
        "lindorm_json/customers.kcat.jsonl",
    ],
)
def test_captured_messages_fit_their_draft(path: str) -> None:
    """Of the examples no more elements are refused as typed rows than are anyway."""
    name = path.partition("/")[0].replace("_", "-")
    records = list(read(str(EXAMPLES / path)))
    draft = cw.infer(records, format=name)
    values: Any = [record.value for record in records]
    assert dead_letters(values, draft.schema, name) == draft.rejected
    assert draft.rows > 50


def test_declared_types_are_believed_before_values() -> None:
    """A schema in the messages gives columns that no value has shown, in its order and words."""
    types = {"note": "STRING", "id": "LONG", "price": "DOUBLE", "made": "DATE", "blob": "CLOB"}
    row = {"id": 1, "price": "9.90"}
    message = cw.encode(dataworks.message("INSERT", types, after=row))
    schema = cw.infer([message], format="auto").schema
    found = {n: (p.get("type"), p["$comment"]) for n, p in schema["properties"].items()}
    assert found == {
        "note": ("string", "In 0 of 1 rows. Declared: 'STRING'."),
        "id": ("integer", "In 1 of 1 rows. Declared: 'LONG'."),
        "price": ("number", "In 1 of 1 rows. Declared: 'DOUBLE'."),
        "made": ("string", "In 0 of 1 rows. Declared: 'DATE'."),
        "blob": (None, "In 0 of 1 rows. Declared: 'CLOB'."),
    }
    assert schema["properties"]["made"]["format"] == "date-time"
    assert schema["required"] == ["id", "price"]


def test_names_that_a_model_cannot_have_are_left_out() -> None:
    """Such a column is named in the comment; an object with such a name is a map."""
    rows = {"a b": 1, "a-b": 2, 'q"': 3, "o": {"x": 1, 'y"': 2}}
    schema = drafted([write(rows)])
    assert list(schema["properties"]) == ["a b", "o"]
    assert schema["properties"]["o"]["additionalProperties"] == {"type": "integer"}
    assert "'a-b' is left out: name clash" in schema["$comment"]
    assert "'q\"' is left out: a property name must not contain quotes" in schema["$comment"]


def test_objects_with_many_names_are_maps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that are data are not distinguished, and a hostile topic fills no memory."""
    monkeypatch.setattr(profile, "MOST_NAMES", 3)
    messages = [write({"o": {f"k{i}{j}": i for j in range(3)}}) for i in range(3)]
    schema = drafted(messages)
    assert schema["properties"]["o"] == {
        "description": "To be written: the meaning of the column.",
        "$comment": "In 3 of 3 rows.",
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }
    with pytest.raises(ValueError, match="more columns than a table has"):
        drafted([write({f"k{i}": 1}) for i in range(9)])


def test_places_of_all_rows_are_bounded() -> None:
    """Depth and number of places have a bound, beyond which all values are of one place."""
    place = Profile(Room(5))
    value: Any = 1
    for _ in range(200):
        value = {"a": value, "b": [value]} if place.count else [value]
    place.add({f"k{i}": {"x": 1} for i in range(100)})
    place.add(value)
    assert place.is_map
    assert place.items is not None
    assert place.items.items is not None


def test_one_table_is_drafted() -> None:
    """Where messages are of several tables, one is named; the error lists them."""
    messages = [write({"a": 1}, "users"), write({"b": 1}, "users"), write({"c": 1}, "orders")]
    with pytest.raises(
        TableError, match=r"name one table.*'shop\.users' \(2\), 'shop\.orders' \(1\)"
    ):
        drafted(messages)
    assert list(drafted(messages, table="orders")["properties"]) == ["c"]
    assert drafted(messages, table="shop.users")["title"] == "Users"
    with pytest.raises(TableError, match="none"):
        drafted([])


def test_a_title_that_no_class_can_have_is_refused() -> None:
    """The generator's reason is the error's."""
    with pytest.raises(ValueError, match="no schema for such rows: the title 'Any'"):
        drafted([write({"a": 1}, "any")], title="Any")


@pytest.mark.parametrize(
    ("table", "title"),
    [
        ("orders_v2", "OrdersV2"),
        ("2orders", "Orders"),
        ("2024_1a", "A"),
        ("123", "Row"),
        ("any", "AnyRow"),
        ("none", "NoneRow"),
    ],
)
def test_any_table_has_a_title(table: str, title: str) -> None:
    """The title that is made of the table's name is one that a class can have."""
    assert drafted([write({"a": 1}, table)])["title"] == title


@pytest.mark.parametrize(
    ("bins", "reason"),
    [
        ({'c"d': 2}, r"""'c"d' is left out: a property name must not contain quotes"""),
        ({}, "they have no columns"),
    ],
)
def test_rows_of_which_no_column_is_left_are_refused(bins: dict[str, int], reason: str) -> None:
    """The error names the columns, and why each was left out."""
    with pytest.raises(ValueError, match=f"no schema for such rows: .*{reason}"):
        drafted([write(bins, "users")])


def test_refused_elements_are_handed_back() -> None:
    """Who draws a draft knows what it was not drawn from."""
    observer = Observer(DecodeOptions(AEROSPIKE))
    found = [observer.add(record) for record in read(str(EXAMPLES / "aerospike_json/users.jsonl"))]
    assert sum(map(len, found)) == observer.rejected == 12
