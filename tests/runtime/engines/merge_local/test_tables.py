"""Tables without Spark: names, owners, images in two messages, types, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from tests.runtime.engines.merge.messages import EXACT, TYPES, message, records
from tests.runtime.engines.merge_local.lake import Lake
from tests.runtime.tables.histories import applied, change, content, eventful, placed, truncate

import changewire.delta as cwd
from changewire.engines.applied import SOURCE
from changewire.engines.errors import (
    KeysMissingError,
    OutputError,
    OwnerError,
    TooManyDeadLettersError,
)


def reasons(lake: Lake) -> list[tuple[str, int]]:
    """Return code and offset of each refusal in the log."""
    return sorted((row["code"], row["offset"]) for row in lake.log("refused"))


def test_a_before_image_alone_deletes_nothing(tmp_path: Path) -> None:
    """Its key is deleted once the after image is known and has another key, in either order."""
    lake = Lake(tmp_path)
    old, moved = {"id": 1, "name": "a"}, {"id": 2, "name": "a"}
    batches = [
        [
            message("INSERT", 10, old),
            message("UPDATE_BEFOR", 11, None, before=old),
            message("UPDATE_AFTER", 11, {"id": "no number"}),
            message("INSERT", 10, {"id": 5, "name": "e"}),
            message("UPDATE_AFTER", 13, {"id": 6, "name": "e"}),
        ],
        [message("UPDATE_BEFOR", 12, None, before=old)],
        [
            message("UPDATE_AFTER", 12, moved),
            message("UPDATE_BEFOR", 13, None, before={"id": 5, "name": "e"}),
        ],
    ]
    found, waiting = [], []
    for number, batch in enumerate(batches):
        outcome = lake.apply_records(records(*batch, start=10 * number))
        assert outcome.tables is not None
        found.append(sorted(lake.json_rows()))
        waiting.append(outcome.tables.get("waiting_before_images"))
    assert found == [[1, 5, 6], [1, 5, 6], [2, 6]]
    assert waiting == [1, 1, None]


def test_a_late_write_finds_the_delete_of_a_decimal(tmp_path: Path) -> None:
    """A key is the same number in the messages of a batch and in the log."""
    lake = Lake(tmp_path)
    one, two = ({"id": f"1234567890123456789.{number}", "name": "a"} for number in (1, 2))
    for number, batch in enumerate(
        [
            [("INSERT", 1, one), ("DELETE", 5, one), ("INSERT", 1, two)],
            [("UPDATE_AFTER", 3, one)],
        ]
    ):
        sent = [message(*change, types=EXACT) for change in batch]
        lake.apply_records(records(*sent, start=10 * number))
    assert [*lake.json_rows()] == [two["id"]]
    keys = {row["key"] for row in lake.log("change")}
    assert keys == {f'{{"id":{row["id"]}}}' for row in (one, two)}


def test_a_move_that_does_not_fit_leaves_the_row(tmp_path: Path) -> None:
    """A change is applied as a whole or not at all: its old key stays."""
    lake = Lake(tmp_path)
    rows = {"t": pa.schema([("id", pa.int64()), ("a", pa.float64())])}
    move = change("update", 2, 5, old=1, before={"id": 1}, a="bad")
    for number, one in enumerate([change(a=1), move]):
        lake.apply(placed(one, start=number), row_schema=rows)
    assert reasons(lake) == [("wrong-type", 1)]
    assert [(row["id"], row["a"]) for row in lake.rows()] == [(1, 1.0)]


def test_a_target_without_table_takes_one_source(tmp_path: Path) -> None:
    """Another table is refused run by run, and its deletes hold nothing back, unless it may."""
    lake, target = Lake(tmp_path), f"{tmp_path}/tables/one"
    late = message("UPDATE_AFTER", 5, {"id": 2, "name": "late"})
    sent = [
        message("INSERT", 1, {"id": 1, "name": "t"}),
        message("DELETE", 9, {"id": 2}, table="a"),
        message("INSERT", 3, {"id": 1, "name": "a"}, table="a"),
        message("INSERT", 3, {"id": 1, "name": "z"}, database="z"),
    ]
    for number, one in enumerate([*sent, late]):
        lake.apply_records(records(one, start=number), target=target)
    assert reasons(lake) == [("second-source", number) for number in (1, 2, 3)]
    assert {key: row["name"] for key, row in lake.json_rows("one").items()} == {1: "t", 2: "late"}
    more = message("INSERT", 4, {"id": 3, "name": "z"}, database="z")
    lake.apply_records(records(more, start=10), target=target, one_table=True)
    assert sorted(lake.json_rows("one")) == [1, 2, 3]


def test_a_table_that_remembers_no_source(tmp_path: Path) -> None:
    """One of an older version, or that several may feed, takes the first one of its log."""
    lake, target = Lake(tmp_path), f"{tmp_path}/tables/one"
    names = ["t", "u"]
    for number, one in enumerate(names):
        sent = records(message("INSERT", 1, {"id": number}, table=one), start=number)
        lake.apply_records(sent, target=target, one_table=True)
    assert sorted(lake.json_rows("one")) == [0, 1]
    for number, one in enumerate(reversed(names)):
        sent = records(message("INSERT", 2, {"id": 5}, table=one), start=10 + number)
        lake.apply_records(sent, target=target)
    assert reasons(lake) == [("second-source", 10)]
    assert SOURCE in DeltaTable(target).metadata().configuration


def test_names_lead_to_no_place_of_the_log(tmp_path: Path) -> None:
    """A table named as the log, or as one that is there but for case, is refused, run by run."""
    lake = Lake(tmp_path)
    names = [("log", "a"), ("LOG", "a"), ("d", "t"), ("D", "t"), ("d", "T")]
    recorded = [message("INSERT", 10, {"id": 1}, database=one, table=other) for one, other in names]
    suffixed = message("INSERT", 10, {"id": 1}, table="t__tombstones")
    target = f"{tmp_path}/{{database}}/{{table}}"
    lake.apply_records(records(*recorded, suffixed), target=target)
    assert reasons(lake) == [("name-collision", number) for number in (0, 1, 2, 4)]
    assert len(lake.log("change")) == len(names) + 1
    lake.apply_records(records(recorded[2], recorded[3], start=10), target=target)
    assert reasons(lake)[4:] == [("name-collision", 10)]


def test_a_batch_brings_so_many_tables(tmp_path: Path) -> None:
    """Changes of further tables are refused; a later run may bring as many again."""
    lake = Lake(tmp_path)
    names = [f"t{number:03}" for number in range(30)]
    recorded = [message("INSERT", 1, {"id": 1}, table=name) for name in names]
    lake.apply_records(records(*recorded), max_new_tables=2)
    assert reasons(lake) == [("too-many-tables", number) for number in range(2, 30)]
    lake.apply_records(records(*recorded, start=100), max_new_tables=2)
    assert lake.names() == names[:4]


def test_a_table_belongs_to_one_log(tmp_path: Path) -> None:
    """Another log is refused with a sentence that says how to take the table over."""
    lake = Lake(tmp_path)
    lake.apply_records(records(message("INSERT", 1, {"id": 1})))
    other = {"log": f"{tmp_path}/other"}
    newer = records(message("INSERT", 2, {"id": 2}))
    with pytest.raises(OwnerError, match=r"belongs to .* take it over by .*adopt_table"):
        lake.apply_records(newer, **other)
    lake.apply_records(newer, **other, adopt_table=True)
    assert sorted(lake.json_rows()) == [1, 2]
    with pytest.raises(OwnerError):
        lake.apply_records(records(message("INSERT", 3, {"id": 3}), start=9))


def test_types_are_given_by_table(tmp_path: Path) -> None:
    """Money is exact where its table says so; other tables have what messages declare, or text."""
    lake = Lake(tmp_path)
    money = pa.schema([("id", pa.int64()), ("price", pa.decimal128(20, 2))])
    exact = {"id": 1, "price": "12345678901234567.89"}
    recorded = [message("INSERT", 1, exact, table=name) for name in ("orders", "items", "notes")]
    wrong = message("INSERT", 2, {"id": 2, "price": "1.999"}, table="orders")
    types = {"orders": money, "notes": "json", "*": "embedded"}
    lake.apply_records(records(*recorded, wrong), row_schema=types)
    (order,) = lake.rows("orders")
    assert order["price"] == Decimal("12345678901234567.89")
    items = DeltaTable(f"{tmp_path}/tables/items").to_pyarrow_table()
    assert items.schema.field("price").type == pa.float64()
    assert [*lake.rows("notes")[0]] == ["key", "row", "_changewire"]
    (why,) = lake.log("refused")
    assert (why["code"], why["pointer"], why["offset"]) == ("wrong-type", "/after/price", 3)
    assert why["message"].startswith("wrong-type: /after/price: ")


def test_tables_get_the_columns_that_schemas_declare(tmp_path: Path) -> None:
    """A column that a table lacks is added, but not by ``strict``; other values are rescued."""
    lake = Lake(tmp_path)
    more = {**TYPES, "size": "LONG"}
    wider = {**TYPES, "id": "STRING"}
    recorded = [
        message("INSERT", 1, {"id": 1, "name": "a", "price": 1.5}),
        message("INSERT", 2, {"id": 2, "name": "b", "price": 2.5, "size": 7}, types=more),
        message("INSERT", 3, {"id": "3", "name": "c", "price": 3.5}, types=wider),
        message(
            "INSERT", 4, {"id": 4, "name": "d", "price": 4.5, "x": 1}, types={**more, "x": "LONG"}
        ),
    ]
    for number, one in enumerate(recorded[:3]):
        lake.apply_records(records(one, start=number), row_schema="embedded")
    lake.apply_records(
        records(recorded[3], start=3), row_schema="embedded", schema_evolution="strict"
    )
    found = {row["id"]: (row["name"], row["price"], row["size"]) for row in lake.rows()}
    assert found == {1: ("a", 1.5, None), 2: ("b", 2.5, 7), 4: ("d", 4.5, None)}
    rescued = {row["id"]: row["_changewire"]["rescued"] for row in lake.rows()}
    assert rescued == {1: None, 2: None, 4: '{"x":1}'}
    assert reasons(lake) == [("schema-mismatch", 2)]


def test_a_row_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """Its change stays whole in the log; columns of text take any value; patches set columns."""
    lake = Lake(tmp_path)
    row = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.float64())])
    recorded = [
        message("INSERT", 1, {"id": 1, "name": "a", "price": 1.5}),
        message("INSERT", 1, {"id": 2, "price": "x"}, types={"id": "LONG", "price": "STRING"}),
        message("INSERT", 1, {"id": 3, "name": 3}, types={"id": "LONG", "name": "LONG"}),
    ]
    outcome = lake.apply_records(records(*recorded), row_schema=row)
    lake.apply_records(
        records(message("UPDATE_AFTER", 2, {"id": 1, "price": 2.5}), start=9),
        row_schema=row,
        row_image="patch",
    )
    assert (outcome.counts.dead_letters, outcome.tables) == (0, {"inserted": 2, "refused": 1})
    (why,) = lake.log("refused")
    assert (why["code"], why["pointer"], why["offset"]) == ("wrong-type", "/after/price", 1)
    rows = sorted((one["id"], one["name"], one["price"]) for one in lake.rows())
    assert rows == [(1, "a", 2.5), (3, "3", None)]


def test_a_key_that_delta_rs_cannot_have_is_refused_by_name(tmp_path: Path) -> None:
    """As JSON text any key works; as a column one with a space is refused with a reason."""
    lake = Lake(tmp_path)
    recorded = message("INSERT", 1, {"e mail": "x"}, types={"e mail": "STRING"})
    recorded = recorded.replace(b'["id"]', b'["e mail"]')
    lake.apply_records(records(recorded))
    assert [row["row"] for row in lake.rows()] == ['{"e mail":"x"}']
    typed = {"target": f"{tmp_path}/typed/{{table}}", "log": f"{tmp_path}/typed-log"}
    lake.apply_records(records(recorded), row_schema="embedded", **typed)
    (why,) = (
        row
        for row in DeltaTable(typed["log"]).to_pyarrow_table().to_pylist()
        if row["kind"] == "refused"
    )
    assert "column 'e mail' needs column mapping, which delta-rs does not write" in why["message"]
    with pytest.raises(OutputError, match=r"more/t: column 'e mail' needs column mapping"):
        lake.apply_records(
            records(recorded),
            row_schema=pa.schema([("e mail", pa.string())]),
            target=f"{tmp_path}/more/{{table}}",
            log=f"{tmp_path}/more-log",
        )


def test_a_column_whose_name_delta_rs_cuts_off_is_rescued(tmp_path: Path) -> None:
    """Arrow hands names on to delta-rs up to their first NUL."""
    lake = Lake(tmp_path)
    recorded = message("INSERT", 1, {"id": 1, "a\0b": "x"}, types={"id": "LONG", "a\0b": "STRING"})
    lake.apply_records(records(recorded, message("INSERT", 1, {"id": 2})), row_schema="embedded")
    assert lake.log("refused") == []
    rescued = {row["id"]: row["_changewire"]["rescued"] for row in lake.rows()}
    assert rescued == {1: '{"a\\u0000b":"x"}', 2: None}


def test_deleted_rows_are_flagged(tmp_path: Path) -> None:
    """They keep their key and nothing else; late changes find them."""
    lake = Lake(tmp_path)
    row = pa.schema([("id", pa.int64()), ("name", pa.string())])
    one, two = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}
    batches = [
        [message("INSERT", 1, one), message("INSERT", 1, two)],
        [message("DELETE", 3, one), message("DELETE", 3, {"id": 3, "name": "c"})],
        [message("UPDATE_AFTER", 2, one), message("INSERT", 2, {"id": 3, "name": "c"})],
    ]
    for number, batch in enumerate(batches):
        lake.apply_records(records(*batch, start=10 * number), row_schema=row, deletes="flag")
    found = sorted((one["id"], one["name"], one["_changewire"]["deleted"]) for one in lake.rows())
    assert found == [(1, None, True), (2, "b", False), (3, None, True)]


@pytest.mark.parametrize("rows", ["json", pa.schema([("id", pa.int64()), ("name", pa.string())])])
def test_a_late_write_does_not_bring_a_row_back(tmp_path: Path, rows: Any) -> None:
    """The delete is found in the log by a later run, and by a later batch of the same run."""
    lake = Lake(tmp_path)
    one = {"id": 1, "name": "a"}
    batches = [
        [message("INSERT", 1, one), message("DELETE", 5, one)],
        [message("UPDATE_AFTER", 3, one), message("INSERT", 6, {"id": 2, "name": "b"})],
        [message("UPDATE_AFTER", 7, one)],
    ]
    found = []
    for number, batch in enumerate(batches):
        lake.apply_records(records(*batch, start=10 * number), row_schema=rows, batch_size=1)
        found.append(sorted(row["_changewire"]["offset"] for row in lake.rows()))
    assert found == [[], [11], [11, 20]]


def test_a_write_at_an_earlier_position_is_late(tmp_path: Path) -> None:
    """Of a delete and a write with one sequence the position decides, in later runs too."""
    lake = Lake(tmp_path)
    lake.apply(placed(change("delete", 1, 5), change("delete", 2, 5), start=9))
    lake.apply(placed(change(key=1, sequence=5, a=1), start=1))
    lake.apply(placed(change(key=2, sequence=5, a=2), start=19))
    assert lake.content() == {"t": {(("id", 2),): {"id": 2, "a": 2}}}


def test_late_changes_find_deletes_and_moves(tmp_path: Path) -> None:
    """Of several deletes the newest counts, in whatever order they came."""
    lake = Lake(tmp_path)
    for batch in eventful():
        lake.apply(batch)
    assert lake.json_rows() == {3: {"id": 3, "a": 1, "b": 2}, 4: {"id": 4, "a": 2}}
    lake.apply(placed(change("delete", 5, 9), change("delete", 5, 6), start=30))
    lake.apply(placed(change(key=5, sequence=7, a=7), change(key=6, sequence=1, a=1), start=40))
    assert sorted(lake.json_rows()) == [3, 4, 6]


def test_a_row_that_moves_to_its_own_key_is_as_the_rule_says(tmp_path: Path) -> None:
    """Its delete and its write have one order, and then the delete is newer."""
    lake = Lake(tmp_path)
    moved = change("update", 1, (5, 0), old=1, before={"id": 1}, a=2)
    batch = placed(change(key=1, sequence=1, a=1), moved)
    lake.apply(batch)
    assert lake.content() == content(applied(batch)[0]) == {"t": {}}


@pytest.mark.parametrize("deletes", ["remove", "flag"])
def test_a_delete_that_names_no_table_reaches_later_tables(tmp_path: Path, deletes: str) -> None:
    """A table that comes later does not get rows that such a delete removed."""
    lake = Lake(tmp_path)
    lake.apply(placed(change("delete", 1, 5, table=None)), deletes=deletes)
    writes = placed(change(key=1, sequence=4, a=1), change(key=2, sequence=4, a=1), start=9)
    lake.apply(writes, deletes=deletes)
    lake.apply(placed(change("delete", 2, 5, table=None), start=19), deletes=deletes)
    assert lake.content() == {"t": {}}


def test_truncates_remove_what_is_older(tmp_path: Path) -> None:
    """Older changes bring no row back in later runs, patched rows keep what is newer."""
    lake = Lake(tmp_path)
    patch = change("update", 1, 6, row_image="patch", b=1)
    lake.apply(placed(change(key=1, sequence=1, a=1), change(key=2, sequence=1, a=1), patch))
    lake.apply(placed(truncate(5), truncate(None), start=10), apply_truncates=True)
    assert lake.json_rows() == {1: {"id": 1, "b": 1}}
    late = placed(change(key=2, sequence=4, a=2), change(key=3, sequence=7, a=3), start=20)
    lake.apply(late, apply_truncates=True)
    assert lake.json_rows() == {1: {"id": 1, "b": 1}, 3: {"id": 3, "a": 3}}
    assert reasons(lake) == [("truncate-without-sequence", 11)]


def test_changes_without_keys_stop_a_first_run(tmp_path: Path) -> None:
    """If no change has a key, nothing is written; beside others they are counted."""
    lake = Lake(tmp_path)
    no_key = message("INSERT", 1, {"id": 1}).replace(b'["id"]', b"null")
    with pytest.raises(KeysMissingError, match="none of 1 changes has a key"):
        lake.apply_records(records(no_key))
    assert not (tmp_path / "log").exists()
    outcome = lake.apply_records(records(message("INSERT", 1, {"id": 1}), no_key))
    assert outcome.tables == {"inserted": 1, "key_missing": 1}


def test_a_batch_with_too_many_dead_letters_is_not_written(tmp_path: Path) -> None:
    """The error says how many there are and why, and the batches before it stay."""
    lake = Lake(tmp_path)
    rows = [message("INSERT", 1, {"id": number}) for number in range(3)]
    reason = r"batch 1: 1 of 2 elements are dead letters \(.+ 1\), and max_dead_letters is 30%"
    with pytest.raises(TooManyDeadLettersError, match=reason):
        lake.apply_records(records(*rows, b"{"), batch_size=2, max_dead_letters="30%")
    assert [row["kind"] for row in lake.log()] == ["change", "change"]


KEYS = [
    (pa.decimal128(10, 2), ["1.50", "2.00"]),
    (pa.date32(), ["2024-01-01", "2024-01-02"]),
    (pa.timestamp("us", "UTC"), ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z"]),
    (pa.float64(), [1.5, 2.5]),
    (pa.float32(), [1.5, 2.25]),
    (pa.bool_(), [True, False]),
    (pa.binary(), ["YWJj", "YWJk"]),
    (pa.int64(), [1, 2]),
    (pa.string(), ["a", "b"]),
]


@pytest.mark.parametrize(("kind", "keys"), KEYS, ids=[str(kind) for kind, _ in KEYS])
def test_rows_are_found_by_keys_of_any_type(tmp_path: Path, kind: Any, keys: list[Any]) -> None:
    """Patches find their rows, and late writes find the deletes."""
    lake = Lake(tmp_path)
    rows = pa.schema([("id", kind), ("a", pa.int64()), ("b", pa.int64())])
    two = keys[1]
    batches = [
        placed(*(change(key=key, sequence=1, a=1, b=1) for key in keys)),
        placed(*(change("update", key, 3, row_image="patch", a=3) for key in keys), start=10),
        placed(
            *(change("update", key, 2, row_image="patch", a=2, b=2) for key in keys),
            change("delete", two, 4),
            start=20,
        ),
        placed(change(key=two, sequence=3, a=9), start=30),
    ]
    lake.apply(*batches, row_schema=rows)
    assert [(row["a"], row["b"]) for row in lake.rows()] == [(3, 2)]
    assert lake.rows()[0]["id"] is not None
    assert not lake.log("refused")


def test_a_key_of_another_case_is_called_that(tmp_path: Path) -> None:
    """The change is refused, and the text says that names of another case are another key."""
    first = message("INSERT", 1, {"id": 1}, types={"id": "LONG"})
    other = message("INSERT", 2, {"ID": 2}, types={"ID": "LONG"}).replace(b'["id"]', b'["ID"]')
    for number, one in enumerate((first, other)):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(one + b"\n")
        cwd.apply_changes(
            str(file),
            format="dataworks-json",
            row_schema="embedded",
            target=f"{tmp_path}/tables/{{table}}",
            log=f"{tmp_path}/log",
        )
    log = DeltaTable(f"{tmp_path}/log").to_pyarrow_table().to_pylist()
    (refused,) = (one for one in log if one["kind"] == "refused")
    assert refused["code"] == "key-mismatch"
    assert "columns id, and a key with names of another case is another one" in refused["message"]
