"""Rows of Lindorm's HBase tables, whose cells are bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes.lindorm import change, declared

import changewire as cw
from changewire.changes.lindorm_rows import cells

ROW = {"ROW": "dXNlcjE=", "f_name": "bHVja3k="}


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
    """Bytes by their schema are not decoded twice; text by its schema is Base64 nevertheless."""
    for kind in ("bytes", "string"):
        found = change("c", declared(ROW=kind, f_name=kind), after=ROW)
        assert found.after == {"ROW": b"user1", "f_name": b"lucky"}


def test_the_longest_family_that_fits_is_taken() -> None:
    """Families may hold underscores themselves; the row key has none."""
    row = {"ROW": "", "f_a": "", "f_g_a_b": "", "f_": "", "ROW_a": ""}
    found = change("c", after=row, families=["f", "f_g", "ROW"])
    assert list(found.after or ()) == ["ROW", "f:a", "f_g:a_b", "f:", "ROW:a"]
    assert "leniencies" not in found.attributes


def test_a_column_of_no_known_family_keeps_its_name() -> None:
    """A column whose family is not known is counted; without families all names stay."""
    row = {"ROW": "", "g_a": "", "f": "", "fa": ""}
    found = change("c", after=row, families=["f"])
    assert list(found.after or ()) == list(row)
    assert found.attributes["leniencies"] == ["unknown-family"] * 3
    assert "leniencies" not in change("c", after=row).attributes


def test_columns_that_come_to_have_one_name_are_refused() -> None:
    """Of two columns with the same name one would be lost."""
    with pytest.raises(cw.DecodeError) as caught:
        change("c", after={"ROW": "", "f:a": "", "f_a": ""}, families=["f"])
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
    found = change("c", after={"ROW": "text", "f_a": "b"}, keys=["ROW"])
    assert (found.after, found.key) == ({"ROW": "text", "f_a": "b"}, {"ROW": "text"})
    found = change("c", after=ROW, keys=["f:name"], families=["f"])
    assert found.key == {"f:name": b"lucky"}
    assert change("c", after={"f_name": "text"}, families=["f"]).after == {"f_name": "text"}


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
