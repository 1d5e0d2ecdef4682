"""Every version of the rows of a table, and what it has now, from a log without Spark."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.changes import lindorm
from tests.runtime.engines.version_rows import (
    LINES,
    declared,
    log_of,
    typed_versions_in,
    versions_in,
)
from tests.runtime.tables.histories import (
    change,
    deliveries,
    eventful,
    halves,
    histories,
    placed,
    steady,
    truncates,
)
from tests.runtime.tables.model import key_of, tables_of, versions_of

import changewire as cw
import changewire.arrow as cwa
from changewire.engines.errors import OutputError

IMAGES = ("full", "full", "patch", "keys")
SPANS = ("valid_from", "valid_to", "is_current", "op", "_changewire")
TYPED = pa.schema([("id", pa.int64()), ("a", pa.decimal128(38, 6)), ("b", pa.decimal128(38, 6))])


@steady
@given(st.data())
def test_versions_are_those_of_the_model(data: st.DataObject) -> None:
    """In whatever order the log has its changes, and whatever stands in it twice."""
    history = [*data.draw(histories(IMAGES)), *data.draw(truncates()), *data.draw(halves())]
    order = [one for batch in data.draw(deliveries(history)) for one in batch]
    log = log_of(order)
    found = cwa.history(log, table="d.t", apply_truncates=True)
    assert versions_in(found.to_pylist(maps_as_pydicts="strict")) == versions_of(
        history, befores_wait=True
    )


@steady
@given(st.data())
def test_versions_of_a_type_are_those_of_the_model(data: st.DataObject) -> None:
    """What the type lacks begins no version, and text is the decimal that it says."""
    history = [*data.draw(histories(IMAGES)), *data.draw(truncates()), *data.draw(halves())]
    order = [one for batch in data.draw(deliveries(history)) for one in batch]
    log = log_of(order)
    found = cwa.history(
        log, table="d.t", apply_truncates=True, row_schema=TYPED, key_columns=["id"]
    )
    assert found.schema.names == ["id", "a", "b", *SPANS]
    rows = typed_versions_in(found.to_pylist(maps_as_pydicts="strict"))
    assert rows == versions_of(declared(history, ["a", "b"]), befores_wait=True)


def naive(changes: pa.Table) -> int:
    """Return how many rows of a table are current by what readers write first, in SQLite."""
    rows = [
        (row["key"], row["sequence"]["major"], row["sequence"]["minor"])
        for row in changes.to_pylist()
        if row["source"]["table"] == "t"
    ]
    with closing(sqlite3.connect(":memory:")) as sql:
        sql.execute("create table log (key, major, minor)")
        sql.executemany("insert into log values (?, ?, ?)", rows)
        following = "lead(major) over (partition by key order by major, minor)"
        query = f"select count(*) from (select {following} as ended from log) where ended is null"  # noqa: S608
        (found,) = sql.execute(query).fetchone()
    return int(found)


@steady
@given(st.data())
def test_current_versions_are_the_rows_of_the_table(data: st.DataObject) -> None:
    """So `current` says too; a `lead()` over the log takes deletes and old keys for rows."""
    history = [*data.draw(histories(IMAGES)), *data.draw(halves())]
    changes = log_of([one for batch in data.draw(deliveries(history)) for one in batch])
    versions = versions_in(cwa.history(changes, table="d.t").to_pylist())
    current = {
        key: one.row for key, of_key in versions.items() for one in of_key if one.ended is None
    }
    assert current == tables_of(history, befores_wait=True).get("t", {})
    rows = cwa.current(changes, table="d.t").to_pylist()
    assert {key_of(json.loads(row["key"])): json.loads(row["row"]) for row in rows} == current
    assert not any(row["_changewire"]["deleted"] for row in rows)
    assert naive(changes) >= len(current)


def test_lead_has_rows_that_are_gone() -> None:
    """With a delete, a moved row, a late change and a double it has four rows of two."""
    first, second, late = eventful()
    log = [*first, *second, *late, *second]
    changes = log_of(log)
    found = cwa.history(changes, table="d.t").to_pylist()
    assert [row["key"] for row in found if row["is_current"]] == ['{"id":3}', '{"id":4}']
    assert naive(changes) == 4


@steady
@given(histories(IMAGES, is_distinct=False))
def test_trace_agrees(tmp_path_factory: pytest.TempPathFactory, history: list[Any]) -> None:
    """The current version of each row is what `trace` says that the row is now."""
    folder = tmp_path_factory.mktemp("log")
    changes = log_of(history)
    pq.write_table(changes, folder / "a.parquet")
    versions = versions_in(cwa.history(folder, table="d.t").to_pylist(maps_as_pydicts="strict"))
    for key, of_key in versions.items():
        state = cwa.trace(folder, dict(key), table="d.t").state
        assert state is not None
        current = [one.row for one in of_key if one.ended is None]
        assert current == ([] if state.values is None else [{**dict(key), **state.values}])
        assert of_key[-1].began[0] <= state.order.sequence


def test_times_and_places() -> None:
    """A version says when its first and its next change were made, and where the first was read."""
    decoded = cwa.decode(LINES, format="aerospike-json")
    first, second = cwa.history(decoded.changes, table="shop.users").to_pylist()
    assert first["row"] == '{"aerospike_digest":"YWJjZGVmZ2hpamtsbW5vcHFyc3Q=","age":41}'
    assert first["valid_to"] == second["valid_from"]
    assert first["valid_from"].isoformat() == "2021-03-31T05:05:59.548000+00:00"
    assert (first["is_current"], second["is_current"]) == (False, True)
    assert (second["op"], second["valid_to"]) == ("upsert", None)
    assert second["_changewire"]["sequence"] == {"major": 1617167160000, "minor": 5}
    assert (first["_changewire"]["offset"], second["_changewire"]["offset"]) == (0, 1)


def test_names_of_auto_cdc() -> None:
    """With them the columns hold sequences, and NULL is the end of a current version."""
    decoded = cwa.decode(LINES, format="aerospike-json")
    found = cwa.history(decoded.changes, table="shop.users", names="auto_cdc")
    assert found.schema.names == ["key", "row", "__START_AT", "__END_AT", "_changewire"]
    first, second = found.to_pylist()
    assert first["__END_AT"] == second["__START_AT"] == {"major": 1617167160000, "minor": 5}
    assert second["__END_AT"] is None


def test_what_ended_without_a_sequence_is_not_current() -> None:
    """Then its end is a sequence without numbers, and not NULL."""
    changes = log_of(placed(change(sequence=None, a=1), change(sequence=None, a=2)))
    found = cwa.history(changes, table="d.t", names="auto_cdc")
    ends = [row["__END_AT"] for row in found.to_pylist()]
    assert ends == [{"major": None, "minor": None}, None]
    plain = cwa.history(changes, table="d.t").to_pylist()
    assert [row["is_current"] for row in plain] == [False, True]


def before(key: Any, sequence: int, **columns: Any) -> cw.Change:
    """Return the before image of an update, which came alone."""
    row = {"id": key, **columns}
    return change("update", key, (sequence, 0), before=row, is_lone=True)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_images_in_two_messages(order: tuple[int, ...]) -> None:
    """A before image ends its row if the row after it has another key; alone it ends nothing."""
    images = placed(change(a=1), before(1, 2, a=1), change("update", 9, 2, a=2))
    log = log_of([images[i] for i in order])
    rows = cwa.history(log, table="d.t").to_pylist()
    assert [(row["key"], row["is_current"]) for row in rows] == [
        ('{"id":1}', False),
        ('{"id":9}', True),
    ]
    assert rows[0]["_changewire"]["ended"]["sequence"] == {"major": 2, "minor": 0}
    (waiting,) = cwa.history(log_of(images[:2]), table="d.t").to_pylist()
    assert waiting["is_current"]
    step = cwa.trace(log_of(images[:2]), {"id": 1}).steps[-1]
    assert step.refused is not None
    assert step.refused.reason == "before-image-waits"
    assert cwa.trace(log, {"id": 1}).state.values is None  # type: ignore[union-attr]


def test_an_update_that_keeps_its_key_has_no_gap() -> None:
    """Its before image does nothing, and `trace` says why."""
    log = log_of(placed(change(a=1), before(1, 2, a=1), change("update", 1, 2, a=2)))
    rows = cwa.history(log, table="d.t").to_pylist()
    assert [row["row"] for row in rows] == ['{"id":1,"a":1}', '{"id":1,"a":2}']
    assert rows[0]["_changewire"]["ended"]["sequence"] == {"major": 2, "minor": 1}
    reasons = [step.refused and step.refused.reason for step in cwa.trace(log, {"id": 1}).steps]
    assert reasons == [None, "before-image", None]


def test_a_delete_without_a_table_is_of_all_tables() -> None:
    """It ends rows of every table of its database, and of no other database."""
    gone = change("delete", 1, 2, table=None)
    changes = log_of(placed(change(a=1), change(a=1, table="u"), change(a=1, database="e"), gone))
    for table, is_current in (("d.t", False), ("d.u", False), ("e.t", True)):
        (row,) = cwa.history(changes, table=table).to_pylist()
        assert row["is_current"] is is_current, table


def test_tables_with_one_name_are_told_apart() -> None:
    """Rows of two are never given as those of one, not even those of different keys."""
    first = change(table="a.b")
    several = r"several tables have this name, .*'a\.b'.*'d\.a'"
    for key in (1, 2):
        log = log_of(placed(first, change(key=key, table="b", database="d.a")))
        for query in (cwa.history, cwa.current):
            with pytest.raises(ValueError, match=several):
                query(log, table="d.a.b")
    log = log_of(placed(first, change(table="b", database="d.a")))
    for table in ("d.a.b", None):
        with pytest.raises(ValueError, match=several):
            cwa.trace(log, {"id": 1}, table=table)


@pytest.mark.parametrize("wrong", [None, 5, "text"])
def test_what_is_no_key_or_no_name_is_said_to_be_so(wrong: Any) -> None:
    """Wrong usage is a TypeError that names the argument, and shows no value."""
    log = log_of(placed(change()))
    with pytest.raises(TypeError, match=f"a key is a mapping .*, not {type(wrong).__name__}"):
        cwa.trace(log, wrong)
    table: Any = None if wrong == "text" else wrong
    for query in (cwa.history, cwa.current):
        with pytest.raises(TypeError, match="table is the name of a table, not "):
            query(log, table=table)
        with pytest.raises(ValueError, match=r"table: expected UTF-8 without zero bytes"):
            query(log, table="a\udcff")


def test_keys_that_name_one_row_have_one_history() -> None:
    """Numbers are what they are worth, however they are written."""
    changes = log_of(placed(change(key=1, a=1), change(key=1.0, sequence=2, a=2)))
    rows = cwa.history(changes, table="d.t").to_pylist()
    assert [row["key"] for row in rows] == ['{"id":1}', '{"id":1}']


PRICES: list[Any] = [
    change(a="9.90", c="x"),
    change(sequence=12, a="9.95"),
    change("delete", sequence=20),
    change(sequence=11, a="9.90", c="declared nowhere"),
    change(sequence=30, a=None, b=2),
]


def test_columns_of_a_type() -> None:
    """Columns of the key that the type lacks are text; a large string is a string."""
    changes = log_of(placed(*PRICES))
    kind = pa.schema([("a", pa.decimal128(10, 2)), ("c", pa.large_string())])
    found = cwa.history(changes, table="d.t", row_schema=kind, names="auto_cdc")
    assert found.schema.names == ["a", "c", "id", "__START_AT", "__END_AT", "_changewire"]
    assert found.schema.field("c").type == pa.string()
    rows = [(one["id"], one["a"] and str(one["a"]), one["c"]) for one in found.to_pylist()]
    assert rows == [
        ("1", "9.90", "x"),
        ("1", "9.90", "declared nowhere"),
        ("1", "9.95", None),
        ("1", None, None),
    ]


def test_a_change_that_does_not_fit_is_named() -> None:
    """By its place and its column, and without its value."""
    changes = log_of(placed(*PRICES, change(key=2, a="secret")))
    with pytest.raises(OutputError, match="the change at topic/0/5: /after/a: ") as raised:
        cwa.history(changes, table="d.t", row_schema=TYPED)
    assert "secret" not in str(raised.value)


def test_schemas_of_rows() -> None:
    """The schema of a message needs the name of its format, and gives the columns that it names."""
    changes = log_of(placed(*PRICES))
    schema = '{"dataColumn": [{"name": "id", "type": "LONG"}, {"name": "a", "type": "DOUBLE"}]}'
    found = cwa.history(changes, table="d.t", row_schema=schema, format="dataworks-json")
    assert [(one["id"], one["a"]) for one in found.to_pylist()] == [(1, 9.9), (1, 9.95), (1, None)]
    with pytest.raises(ValueError, match="needs `format`"):
        cwa.history(changes, table="d.t", row_schema=schema)
    with pytest.raises(ValueError, match="needs `format`"):
        cwa.history(changes, table="d.t", row_schema=schema, column_families=["f"])
    with pytest.raises(ValueError, match="column_families does not apply to dataworks-json"):
        cwa.history(
            changes, table="d.t", row_schema=schema, format="dataworks-json", column_families=["f"]
        )


def test_the_schema_of_an_hbase_table() -> None:
    """Its columns are bytes, under the names that their families give them."""
    schema = lindorm.declared(ROW="string", f_a="string")
    messages = [
        {
            "payload": {
                "op": "c",
                "ts_ms": 1,
                "after": {"ROW": "cm93", "f_a": value},
                "source": {"namespace": "n", "table": "t", "ts_ms": at},
            }
        }
        for at, value in [(1, "QUJD"), (2, "REVG")]
    ]
    options: dict[str, Any] = {"format": "lindorm-json", "column_families": ["f"]}
    decoded = cwa.decode([json.dumps(one).encode() for one in messages], **options)
    found = cwa.history(decoded.changes, table="n.t", row_schema=schema, **options)
    assert found.select(["ROW", "f:a", "is_current"]).to_pylist() == [
        {"ROW": b"row", "f:a": b"ABC", "is_current": False},
        {"ROW": b"row", "f:a": b"DEF", "is_current": True},
    ]


def test_rows_that_versions_cannot_have() -> None:
    """The error says what they are, or which columns versions have too."""
    changes = log_of(placed(change(Op="x")))
    with pytest.raises(OutputError, match="the names Op"):
        cwa.history(changes, table="d.t", row_schema=pa.schema([("Op", pa.string())]))
    keyless = log_of(placed(change(key=None)))
    with pytest.raises(OutputError, match="no change of the table has a key"):
        cwa.history(keyless, table="d.t", row_schema=TYPED)
    assert len(cwa.history(changes, table="d.other", row_schema=TYPED)) == 0
    with pytest.raises(ValueError, match="'variant' is for Spark"):
        cwa.history(changes, table="d.t", row_schema="variant")
    with pytest.raises(ValueError, match="the file 'embedded' is missing"):
        cwa.history(changes, table="d.t", row_schema="embedded")
