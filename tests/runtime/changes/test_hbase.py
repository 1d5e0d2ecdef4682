"""Rows of Lindorm's HBase tables, whose cells are bytes."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.lindorm import TS_MS, change, declared

import changewire as cw
from changewire.changes.lindorm_rows import cells

ROW = {"ROW": "dXNlcjE=", "f_name": "bHVja3k="}
PAYLOAD = {
    "op": "c",
    "ts_ms": TS_MS,
    "source": {"namespace": "shop", "table": "users", "ts_ms": TS_MS},
}


def test_cells_are_bytes_and_the_row_key_is_the_key() -> None:
    """A row with the column ROW is one of HBase: its values are bytes, and ROW names it."""
    found = change("u", before=ROW, after=ROW, record_key=b'{"other":1}')
    typed = {"ROW": b"user1", "f_name": b"lucky"}
    assert (found.before, found.after, found.key) == (typed, typed, {"ROW": b"user1"})
    assert change("c", after={"ROW": "", "f_a": None, "f_b": 5}).after == {
        "ROW": b"",
        "f_a": None,
        "f_b": 5,
    }


def test_a_delete_without_image_has_the_same_key() -> None:
    """The row key in the record key is bytes as well, so that a delete finds its row."""
    assert change("d", record_key=b'{"ROW":"dXNlcjE="}').key == {"ROW": b"user1"}
    with pytest.raises(cw.DecodeError, match="invalid-base64"):
        change("d", record_key=b'{"ROW":"user1"}')


def test_cells_that_the_schema_declares_as_bytes() -> None:
    """Bytes by their schema are not decoded twice, and ROW as bytes is the key of the row."""
    found = change("c", declared(ROW="bytes", f_name="bytes"), after=ROW)
    assert found.after == {"ROW": b"user1", "f_name": b"lucky"}
    assert found.key == {"ROW": b"user1"}
    assert "leniencies" not in found.attributes


@pytest.mark.parametrize(
    ("kind", "value"), [("int32", 7), ("string", "dXNlcjE="), ("string", "no Base64")]
)
def test_a_schema_that_declares_row_decides(kind: str, value: Any) -> None:
    """A column ROW with a declared type other than bytes is one of a table of SQL, as it is."""
    row = {"ROW": value, "name": "bHVja3k="}
    schema = declared(ROW=kind, name="string")
    found = change("u", schema, before=row, after=row, record_key=b'{"name":"bHVja3k="}')
    assert (found.before, found.after, found.key) == (row, row, {"name": "bHVja3k="})
    assert "leniencies" not in found.attributes
    wire = {"schema": schema, "payload": {**PAYLOAD, "after": row}}
    assert cw.validate(msgspec.json.encode(wire), format="lindorm-json") == []


def test_text_by_its_schema_beside_bytes_stays_text() -> None:
    """Where ROW is declared as bytes, other columns have their declared types too."""
    found = change("c", declared(ROW="bytes", name="string"), after={**ROW, "name": "text"})
    assert found.after == {"ROW": b"user1", "f_name": b"lucky", "name": "text"}


def test_families_say_that_all_text_is_base64() -> None:
    """With families a row with ROW is one of HBase, though its schema declares text."""
    found = change("c", declared(ROW="string", f_name="string"), after=ROW, column_families=["f"])
    assert found.after == {"ROW": b"user1", "f:name": b"lucky"}
    assert "leniencies" not in found.attributes


def test_what_only_the_name_row_says_is_counted() -> None:
    """A row that is of HBase only by its column ROW is counted once for its message."""
    assert change("u", before=ROW, after=ROW).attributes["leniencies"] == ["assumed-hbase"]
    found = change("c", declared(name="string"), after={**ROW, "name": "text"})
    assert found.attributes["leniencies"] == [*["undeclared-field"] * 2, "assumed-hbase"]
    assert found.after == {"ROW": b"user1", "f_name": b"lucky", "name": "text"}


def test_the_schema_of_a_record_key_decides_for_it() -> None:
    """A record key is read by its own schema, in a delete without value too."""
    key = msgspec.json.encode(
        {
            "schema": {"type": "struct", "fields": [{"field": "ROW", "type": "string"}]},
            "payload": {"ROW": "dXNlcjE="},
        }
    )
    assert change("d", record_key=key).key == {"ROW": "dXNlcjE="}
    assert cw.delete_by_key(key, format="lindorm-json").key == {"ROW": "dXNlcjE="}
    plain = b'{"ROW":"dXNlcjE="}'
    deleted = cw.delete_by_key(plain, format="lindorm-json")
    assert (deleted.key, deleted.attributes["leniencies"]) == ({"ROW": b"user1"}, ["assumed-hbase"])
    deleted = cw.delete_by_key(plain, format="lindorm-json", key_columns=["ROW"])
    assert deleted.key == {"ROW": "dXNlcjE="}


def test_keys_let_validators_and_writers_accept_row() -> None:
    """Without a schema, keys say that text in a row with ROW is no Base64 text."""
    data = msgspec.json.encode({"payload": {**PAYLOAD, "after": {"ROW": "user1", "id": 1}}})
    (issue,) = cw.validate(data, format="lindorm-json")
    assert (issue.code, issue.pointer) == ("invalid-base64", "/payload/after/ROW")
    assert cw.validate(data, format="lindorm-json", key_columns=["id"]) == []
    model = cw.decode(data, format="lindorm-json")
    with pytest.raises(cw.EncodeError, match="invalid-base64"):
        cw.encode(model, declared=True)
    assert (
        cw.decode(cw.encode(model, declared=True, key_columns=["id"]), format="lindorm-json")
        == model
    )
    with pytest.raises(ValueError, match="key_columns does not apply to aerospike-json"):
        cw.validate(b"{}", format="aerospike-json", key_columns=["id"])


def test_the_longest_family_that_fits_is_taken() -> None:
    """Families may hold underscores themselves; the row key has none."""
    row = {"ROW": "", "f_a": "", "f_g_a_b": "", "f_": "", "ROW_a": ""}
    found = change("c", after=row, column_families=["f", "f_g", "ROW"])
    assert list(found.after or ()) == ["ROW", "f:a", "f_g:a_b", "f:", "ROW:a"]
    assert "leniencies" not in found.attributes


def test_a_column_of_no_known_family_keeps_its_name() -> None:
    """A column whose family is not known is counted; without families all names stay."""
    row = {"ROW": "", "g_a": "", "f": "", "fa": ""}
    found = change("c", after=row, column_families=["f"])
    assert list(found.after or ()) == list(row)
    assert found.attributes["leniencies"] == ["unknown-family"] * 3
    assert change("c", after=row).attributes["leniencies"] == ["assumed-hbase"]


def test_columns_that_come_to_have_one_name_are_refused() -> None:
    """Of two columns with the same name one would be lost."""
    with pytest.raises(cw.DecodeError) as caught:
        change("c", after={"ROW": "", "f:a": "", "f_a": ""}, column_families=["f"])
    assert (caught.value.code, caught.value.pointer) == ("duplicate-column", "/payload/after/f_a")


@pytest.mark.parametrize("text", ["user1", "AAE", "A A=", "\u00e9\u00e9\u00e9\u00e9", "=", "__8="])
def test_bad_base64_is_refused(text: str) -> None:
    """A cell that is no Base64 text is refused, with its place."""
    with pytest.raises(cw.DecodeError) as caught:
        change("d", before={"ROW": "", "f/a": text})
    assert (caught.value.code, caught.value.pointer) == ("invalid-base64", "/payload/before/f~1a")
    assert caught.value.actual == text


def test_keys_say_that_a_table_is_not_of_hbase() -> None:
    """A table with keys has rows, not cells, though a column is called ROW; families say it has."""
    found = change("c", after={"ROW": "text", "f_a": "b"}, key_columns=["ROW"])
    assert (found.after, found.key) == ({"ROW": "text", "f_a": "b"}, {"ROW": "text"})
    found = change("c", after=ROW, key_columns=["f:name"], column_families=["f"])
    assert found.key == {"f:name": b"lucky"}
    assert change("c", after={"f_name": "text"}, column_families=["f"]).after == {"f_name": "text"}


@given(
    families=st.sets(st.from_regex(r"[a-c_]{1,3}", fullmatch=True), min_size=1),
    qualifiers=st.lists(st.text(max_size=3), max_size=4),
)
def test_no_column_is_lost(families: set[str], qualifiers: list[str]) -> None:
    """Every column of a known family gets a name of its own, from which its own can be told."""
    row = {f"{family}_{name}": "" for family in families for name in qualifiers}
    used: list[str] = []
    found = cells(row, "", sorted(families), used) or {}
    assert [name.replace(":", "_", 1) for name in found] == list(row)
    assert used == []
