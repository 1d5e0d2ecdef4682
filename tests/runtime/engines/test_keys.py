"""Changes that are in a log without a key, whose columns are named later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.engines.merge.lake import Lake
from tests.runtime.engines.merge.messages import message, records
from tests.runtime.engines.merge_local.lake import Lake as LocalLake
from tests.runtime.tables.histories import steady

import changewire.arrow as cwa
import changewire.delta as cwd
from changewire.changes.decode_options import DecodeOptions
from changewire.engines.effects import with_keys

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from changewire.engines.applied import Replayed

FORMAT = "dataworks-json"
VALUES = {
    "LONG": st.integers(-(2**63), 2**63 - 1),
    "STRING": st.text(max_size=4),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "DATE": st.integers(0, 2**41),
}
KEY = ("id", "k'\"")
BARE: dict[str, Any] = {"table": "bare", "key": ()}

TEXTS = {"id": "STRING", "name": "STRING"}

FIRST = records(
    message("INSERT", 1, {"id": 1, "name": "first"}, **BARE),
    message("INSERT", 2, {"id": 2, "name": "moves"}, **BARE),
    message("UPDATE_AFTER", 3, {"id": 3, "name": "moved"}, before={"id": 2}, **BARE),
    message("INSERT", 4, {"id": None, "name": "never"}, **BARE),
    message("DELETE", 9, {"id": 1}, **BARE),
    message("INSERT", 5, {"id": 4, "name": "doubled"}, **BARE),
    message("INSERT", 5, {"id": 4, "name": "doubled"}, **BARE),
    message("INSERT", 1, {"id": 1}, table="other", key=()),
    message("INSERT", 1, {"id": 9, "name": "has a key"}, table="typed"),
    b"{",
    message("INSERT", 1, {"id": 1, "name": "a"}, table="typed"),
    message("INSERT", 2, {"id": "x", "name": "b"}, types=TEXTS, table="typed", key=()),
)
"""What lands without keys, but for two changes."""

ROWS: dict[str, Any] = {
    "typed": pa.schema([("id", pa.int64()), ("name", pa.string())]),
    "*": "json",
}

LATER = records(message("INSERT", 8, {"id": 3, "name": "newer"}, **BARE), start=100)
"""What lands with keys, before the others get theirs."""

KEYS = {"d.bare": ["id"], "d.typed": ["id"]}
LEFT = [(3, None), (7, None), (8, 0), (10, 0)]
"""Offsets of changes whose newest attempt has no key, and of those that always had one."""


def attempts(log: str) -> list[tuple[int, int | None]]:
    """Return the offset of each change of a log, and which of its attempts has a key."""
    rows = (
        DeltaTable(log).to_pyarrow_table(columns=["kind", "offset", "attempt", "key"]).to_pylist()
    )
    found: dict[int, int | None] = {}
    for row in sorted(rows, key=lambda row: (row["offset"], row["attempt"])):
        if row["kind"] == "change":
            found[row["offset"]] = None if row["key"] is None else row["attempt"]
    return sorted(found.items())


def check_scene(
    replay: Callable[..., Replayed],
    rows: Callable[[], dict[Any, str]],
    log: str,
    again: Sequence[dict[str, Any]] = ({"key_columns": KEYS}, {}),
) -> None:
    """Check what replays make of the changes: first of one of them, then of all, then `again`."""
    assert rows() == {3: "newer"}
    done = replay(key_columns=KEYS, where="partition = 0 AND sequence.major = 5")
    assert (done.dead_letters, done.key_missing, done.closed, done.left) == (0, 2, 2, 0)
    assert rows() == {3: "newer", 4: "doubled"}
    done = replay(key_columns=KEYS)
    assert (done.dead_letters, done.key_missing, done.closed, done.left) == (1, 5, 5, 2)
    assert rows() == {3: "newer", 4: "doubled"}
    assert cwa.refused(log).select(["offset", "attempt"]).to_pylist() == [
        {"offset": 11, "attempt": 1}
    ]
    for keys in again:
        done = replay(**keys)
        assert (done.dead_letters, done.key_missing, done.closed, done.left) == (1, 0, 0, 2)
        assert done.refused == 1
    mended = [(offset, 1) for offset in (0, 1, 2, 4, 5, 6)]
    tried = (11, 1 + len(again))
    assert attempts(log) == sorted([*mended, *LEFT, tried, (100, 0)])
    assert cwa.unapplied(log).to_pylist() == [
        {"table": "d.bare", "refused": 0, "key_missing": 1},
        {"table": "d.other", "refused": 0, "key_missing": 1},
        {"table": "d.typed", "refused": 1, "key_missing": 0},
    ]


def test_keys_that_are_named_later(tmp_path: Path) -> None:
    """A replay brings the changes into their table, in their order, once.

    One that the table refuses is in the log with its key, and stays open.
    """
    lake = LocalLake(tmp_path)
    lake.apply_records(FIRST, row_schema=ROWS)
    lake.apply_records(LATER, row_schema=ROWS, key_columns=KEYS)

    def local(**options: Any) -> Replayed:
        return cwd.replay(**lake.places, format=FORMAT, row_schema=ROWS, **options)

    def rows() -> dict[Any, str]:
        return {number: row["name"] for number, row in lake.json_rows("bare").items()}

    check_scene(local, rows, lake.places["log"])
    assert len(cwd.verify(**lake.places)) == 0


def test_keys_that_are_named_later_in_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The same as without Spark, which lands the changes first and makes tables of its own."""
    elsewhere = f"{tmp_path}/elsewhere/{{table}}"
    LocalLake(tmp_path).apply_records(FIRST, row_schema=ROWS, target=elsewhere)
    lake = Lake(tmp_path)
    lake.send_records(LATER)
    lake.apply_messages(spark, format=FORMAT, row_schema=ROWS, key_columns=KEYS)

    def replay(**options: Any) -> Replayed:
        return lake.replay(spark, format=FORMAT, row_schema=ROWS, **options)

    def rows() -> dict[Any, str]:
        return {row["id"]: row["name"] for row in lake.json_rows(spark, "bare")}

    check_scene(replay, rows, lake.places["log"], again=[])
    assert lake.faults(spark) == []


def test_a_key_that_python_calls_equal_is_another() -> None:
    """A change of a log has the key before that it would have, had its key been known."""
    images: dict[str, Any] = {"before": {"id": True}, "types": {"name": "STRING"}, "key": ()}
    bare = cwa.decode(message("UPDATE_AFTER", 1, {"id": 1}, **images), format=FORMAT)
    found = with_keys(bare.rows.read_all(), DecodeOptions(FORMAT, key_columns=["id"]))
    assert found.select(["key", "before_key"]).to_pylist() == [
        {"key": '{"id":1}', "before_key": '{"id":true}'}
    ]


@pytest.mark.parametrize("image", ["full", "patch"])
@steady
@given(data=st.data(), op=st.sampled_from(["INSERT", "UPDATE_AFTER", "DELETE"]))
def test_keys_are_those_of_decoding(image: Any, data: st.DataObject, op: str) -> None:
    """A change gets the key and the effect that it would have, had its key been known."""
    kinds = {name: data.draw(st.sampled_from([*VALUES])) for name in KEY}
    each = {name: st.none() | VALUES[kind] for name, kind in kinds.items()}
    values = (
        st.fixed_dictionaries(each) if image == "full" else st.fixed_dictionaries({}, optional=each)
    )
    value = message(op, 1, data.draw(values), before=data.draw(values), types=kinds, key=())
    bare, known = (
        cwa.decode(value, format=FORMAT, row_image=image, key_columns=keys).rows.read_all()
        for keys in (None, [*KEY])
    )
    bare = bare.filter(pc.equal(bare["kind"], "change"))
    keyed = with_keys(bare, DecodeOptions(FORMAT, image, key_columns=[*KEY]))
    names = ["key", "before_key", "effect"]
    expected = known.filter(pc.is_valid(known["key"]))
    assert keyed.select(names).to_pylist() == expected.select(names).to_pylist()
